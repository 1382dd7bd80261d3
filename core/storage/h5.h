// Private: the checked, owning side of HDF5's C API. Nothing outside core/storage includes this.
//
// Inside the folder a failed call throws Failure; every public function runs its body in guarded() of h5_guard.h,
// which turns it into an Error.
#pragma once

#include "core/base/error.h"

#include <hdf5.h>
#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ulpscope::storage::h5 {

struct Failure {
  base::Error error;
};

[[noreturn]] void fail(const std::string& what, const std::string& which = "", const std::string& remedy = "");
// Throws with HDF5's innermost message appended ("cannot be opened: truncated file: eof = 96, ...").
[[noreturn]] void failFromHdf5(const std::string& what, const std::string& which);

// Passes non-negative results of HDF5 calls through; `what` completes "cannot be ...".
template <typename T>
T check(T result, const std::string& what, const std::string& which = "") {
  if (result < 0) failFromHdf5(what, which);
  return result;
}

// Switches HDF5's printing off while it lives.
class Silence {
 public:
  Silence();
  ~Silence();
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t m_print = nullptr;
  void* m_data = nullptr;
};

// Owns one id. Close errors are looked at only where they matter: by close().
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : m_id(id) {}
  Handle(Handle&& other) noexcept : m_id(std::exchange(other.m_id, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(m_id, other.m_id);
    return *this;
  }
  ~Handle() {
    if (m_id >= 0) Close(m_id);
  }
  operator hid_t() const { return m_id; }

 private:
  hid_t m_id = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Plist = Handle<H5Pclose>;
using Attribute = Handle<H5Aclose>;

// A text of a file. Throws nlohmann::json::exception, and Failure where it is nested deeper than what recurses may meet.
nlohmann::json parsedJson(const std::string& text);

// What a Result holds, or its Error thrown as Failure.
template <typename T>
T valueOrFail(base::Result<T> result) {
  if (!result) throw Failure{result.error()};
  return std::move(result).value();
}

// A file built in memory: the bytes are written by atomic_file.h, so that a full disk never meets HDF5.
File createInMemory();
// Its bytes, with the digest of integrity.h.
std::vector<std::byte> imageOf(const File& file);

enum class Locking { none, asConfigured };
// Read-only, of a file that checkFile (h5_guard.h) has passed.
File openForReading(const std::string& path, Locking locking);

struct LinkName {
  std::string name;
  H5L_type_t type;
};
// By name.
std::vector<LinkName> links(hid_t group);

// Only hard links are followed: HDF5 never looks anything up for us.
Group openGroup(hid_t parent, const std::string& name);
bool hasLink(hid_t parent, const std::string& name);
// Refuses links, external storage, virtual layout, a dataset that was never written, and sizes no file holds.
Dataset openDataset(hid_t parent, const std::string& name);

// Dimensions; a scalar gives none. A null dataspace (h5py.Empty) is refused.
std::vector<std::int64_t> shapeOf(const Dataset& dataset, const std::string& name);
// Product of the dimensions times elementSize; refuses what does not fit into memory's address range.
std::size_t byteCount(const std::vector<std::int64_t>& shape, std::size_t elementSize, const std::string& name);

}  // namespace ulpscope::storage::h5
