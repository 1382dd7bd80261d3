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

// What the file is to be: decides the words of the errors, and what deflate may claim. models: at most 1 GiB a record and 1000 times the
// bytes. arrays: 1100 times the bytes, which is more than deflate can do, so that a set of zeros is no bomb.
enum class ZipUse { models, arrays };

class ZipArchive {
 public:
  // Refuses, naming file and fault: what is no plain file or no zip, a directory that contradicts the file, encrypted
  // records, two of one name, compression that claims more than `use` allows, records that claim more bytes than the file has.
  static base::Result<ZipArchive> open(const std::string& path, ZipUse use = ZipUse::models);
  ZipArchive(ZipArchive&&) noexcept;
  ~ZipArchive();

  const std::vector<ZipRecord>& records() const { return m_records; }  // in the file's order
  // Reads the record whole, piece by piece, and checks its length and CRC.
  base::Status read(const ZipRecord& record, const std::function<void(std::string_view)>& sink) const;
  // Its first bytes, at most `count`; neither length nor CRC is checked.
  base::Result<std::string> head(const ZipRecord& record, std::size_t count) const;

 private:
  struct Closer {
    void operator()(::zip* archive) const;
  };
  ZipArchive();
  std::unique_ptr<::zip, Closer> m_zip;
  base::Error damaged(const std::string& which, const std::string& what) const;
  base::Status addRecord(std::uint64_t index, std::uint64_t fileBytes, std::uint64_t& storedBytes);

  std::string m_path;
  ZipUse m_use = ZipUse::models;
  std::vector<ZipRecord> m_records;
};

}  // namespace ulpscope::model
