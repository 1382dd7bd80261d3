#include "core/model/archive_records.h"

#include <fmt/format.h>

namespace ulpscope::model {

Records recordsBelowRoot(const ZipArchive& archive) {
  Records records;
  if (archive.records().empty()) return records;
  const std::string& first = archive.records().front().name;
  const std::string root = first.substr(0, first.find('/') + 1);
  for (const ZipRecord& record : archive.records())
    if (!root.empty() && record.name.starts_with(root)) records.emplace(record.name.substr(root.size()), record);
  return records;
}

base::Result<std::string> readText(const ZipArchive& archive, const ZipRecord& record) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 28;  // real ones have at most a few megabytes
  if (record.sizeBytes > kLargest)
    return base::Error{base::ErrorKind::input, fmt::format("is {} bytes long, more than any real code or pickle", record.sizeBytes), record.name, "do not load this file"};
  std::string text;
  if (auto status = archive.read(record, [&](std::string_view piece) { text += piece; }); !status) return status.error();
  return text;
}

}  // namespace ulpscope::model
