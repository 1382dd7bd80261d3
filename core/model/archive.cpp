#include "core/model/archive.h"

#include "core/base/hashing.h"
#include "core/model/archive_records.h"
#include "core/model/code_scan.h"
#include "core/model/pickle_scan.h"

#include <fmt/format.h>

namespace ulpscope::model {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr const char* kExport = "export the model with torch.jit.script or torch.jit.trace, see ulpscope snippet";
bool isCode(const std::string& name) { return name.starts_with("code/"); }
bool isSource(const std::string& name) { return isCode(name) && name.ends_with(".py"); }
bool isSourceMap(const std::string& name) { return isCode(name) && name.ends_with(".debug_pkl"); }
bool isWeights(const std::string& name) {
  return name == "data.pkl" || name == "constants.pkl" || name.starts_with("data/") || name.starts_with("constants/");
}

bool looksLikeExport(const ZipArchive& archive) {
  for (const ZipRecord& record : archive.records())
    if (record.name == "serialized_exported_program.json" || record.name.ends_with("/archive_format") || record.name.ends_with("/models/model.json")) return true;
  return false;
}

Status checkRoot(const std::string& path, const ZipArchive& archive) {
  if (looksLikeExport(archive)) return Error{ErrorKind::input, "is a torch.export archive (.pt2), not a TorchScript model", path, kExport};
  if (archive.records().empty()) return Error{ErrorKind::input, "is an empty zip archive", path, kExport};
  return base::success();
}

Status checkKind(const std::string& path, const Records& records) {
  bool hasCode = false;
  for (const auto& [name, record] : records) hasCode = hasCode || isSource(name);
  const bool hasData = records.contains("data.pkl"), hasConstants = records.contains("constants.pkl");
  if (hasData && !hasCode && !hasConstants)
    return Error{ErrorKind::input, "holds weights or a pickled object without code (a torch.save archive, for instance a state dict)", path, kExport};
  if (records.contains("model.json")) return Error{ErrorKind::input, "is a TorchScript model older than PyTorch 1.2", path, "load and save it again with a newer PyTorch"};
  if (hasData && hasConstants && hasCode) return base::success();
  const std::string missing = !hasData ? "data.pkl" : !hasConstants ? "constants.pkl" : "code/";
  return Error{ErrorKind::input, "is a zip archive but no TorchScript model (it has no " + missing + ")", path, kExport};
}

// Every storage that data.pkl declares must have its bytes in data/, and constants.pkl's in constants/.
Status checkStorages(const std::string& path, const std::string& name, const PickleContents& contents, const Records& records) {
  const std::string folder = name.substr(0, name.find('.'));
  for (const DeclaredStorage& storage : contents.storages) {
    if (storage.sizeBytes == 0) continue;
    const auto record = records.find(folder + "/" + storage.key);
    if (record == records.end())
      return Error{ErrorKind::input, fmt::format("declares the storage '{}', which the archive does not have", storage.key), path + ", " + name, "copy the file again, or export the model again"};
    if (record->second.sizeBytes < storage.sizeBytes)
      return Error{ErrorKind::input, fmt::format("holds {} bytes where {} are declared; LibTorch would read beyond it", record->second.sizeBytes, storage.sizeBytes),
                   path + ", " + folder + "/" + storage.key, "do not load this file; export the model again"};
  }
  return base::success();
}

Status checkPickle(const std::string& path, const std::string& name, const std::string& text, const Records& records) {
  const auto contents = scanPickle(text);
  if (!contents) return contents.error().within(path + ", " + name);
  return checkStorages(path, name, contents.value(), records);
}

Status checkText(const std::string& path, const std::string& name, const std::string& text, const Records& records) {
  if (isSource(name)) {
    const auto status = scanCode(text);
    return status ? base::success() : Status(status.error().within(path + ", " + name));
  }
  if (isSourceMap(name)) {
    const auto contents = scanPickle(text);
    return contents ? base::success() : Status(contents.error().within(path + ", " + name));
  }
  if (name == "byteorder" && text != "little")
    return Error{ErrorKind::input, "was saved on a big-endian machine, its weights would be misread", path, "export the model on a little-endian machine"};
  return name == "data.pkl" || name == "constants.pkl" ? checkPickle(path, name, text, records) : base::success();
}

bool isText(const std::string& name) {
  return isSource(name) || isSourceMap(name) || name == "data.pkl" || name == "constants.pkl" || name == "byteorder";
}

// One pass over every record: its CRC, its own check, its share of the fingerprint.
class Pass {
 public:
  Pass(const std::string& path, const ZipArchive& archive, const Records& records) : m_path(path), m_archive(archive), m_records(records) {}

  Result<Fingerprint> run() {
    for (const auto& [name, record] : m_records)
      if (auto status = visit(name, record); !status) return status.error();
    return Fingerprint{m_code.hexDigest(), m_weights.hexDigest()};
  }

 private:
  // Source maps hold paths of the machine that exported: they are no part of what the model computes.
  base::Sha256* hashFor(const std::string& name) {
    if (isCode(name) && !isSourceMap(name)) return &m_code;
    return isWeights(name) ? &m_weights : nullptr;
  }

  Status visit(const std::string& name, const ZipRecord& record) {
    base::Sha256* hash = hashFor(name);
    // Name and length first, so that no two sets of records give the same stream.
    if (hash) hash->update(fmt::format("{}\n{}\n", name, record.sizeBytes));
    if (!isText(name))
      return m_archive.read(record, [&](std::string_view piece) {
        if (hash) hash->update(piece);
      });
    const auto text = readText(m_archive, record);
    if (!text) return text.error();
    if (hash) hash->update(text.value());
    return checkText(m_path, name, text.value(), m_records);
  }

  const std::string& m_path;
  const ZipArchive& m_archive;
  const Records& m_records;
  base::Sha256 m_code;
  base::Sha256 m_weights;
};

}  // namespace

Result<Fingerprint> checkArchive(const std::string& path) {
  const auto archive = ZipArchive::open(path);
  if (!archive) return archive.error();
  if (auto root = checkRoot(path, archive.value()); !root) return root.error();
  const Records records = recordsBelowRoot(archive.value());
  if (auto kind = checkKind(path, records); !kind) return kind.error();
  return Pass(path, archive.value(), records).run();
}

}  // namespace ulpscope::model
