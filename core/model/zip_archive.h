// Private: reading a zip file that nobody vouches for.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;  // libzip's

namespace ulpscope::model {

struct ZipRecord {
  std::string name;
  std::uint64_t index = 0;
  std::uint64_t sizeBytes = 0;
};

class ZipArchive {
 public:
  // Refuses, naming file and fault: what is no plain file or no zip, a directory that contradicts the file, encrypted
  // records, two of one name, compression that claims more than 1 GiB or 1000 times the bytes, records that claim
  // more bytes than the file has.
  static base::Result<ZipArchive> open(const std::string& path);
  ZipArchive(ZipArchive&&) noexcept;
  ~ZipArchive();

  const std::vector<ZipRecord>& records() const { return m_records; }  // in the file's order
  // Reads the record whole, piece by piece, and checks its length and CRC.
  base::Status read(const ZipRecord& record, const std::function<void(std::string_view)>& sink) const;

 private:
  struct Closer {
    void operator()(::zip* archive) const;
  };
  ZipArchive();
  std::unique_ptr<::zip, Closer> m_zip;
  std::string m_path;
  std::vector<ZipRecord> m_records;
};

}  // namespace ulpscope::model
