#include "core/storage/training_folder.h"

#include "core/storage/atomic_file.h"
#include "core/storage/session_paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace ulpscope::storage {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;

constexpr mode_t kFileMode = 0644, kWrittenOnce = 0444;
constexpr const char* kComparison = ".comparison.json";  // beside its checkpoint

Status writeJson(const std::string& path, const json& document, mode_t mode) {
  return writeWhole(path, document.dump(2, ' ', false, json::error_handler_t::replace) + "\n", mode);
}

// A path of a recipe that was read, as one in the folder writes it.
std::string seenFrom(const std::string& folder, const std::string& path) {
  std::error_code none;
  const fs::path relative = fs::relative(path, folder, none);
  return none || relative.empty() ? path : relative.string();
}

Result<json> recipeSeenFrom(const std::string& folder, const std::string& recipe) {
  json document = json::parse(recipe, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Error{ErrorKind::internal, "is no recipe", folder, ""};
  for (const char* key : {"model", "inputs", "labels"})
    if (const std::string path = document.value(key, ""); !path.empty()) document[key] = seenFrom(folder, path);
  if (document.contains("loss") && document["loss"].is_object())
    if (const std::string path = document["loss"].value("path", ""); !path.empty()) document["loss"]["path"] = seenFrom(folder, path);
  return document;
}

}  // namespace

TrainingFolder TrainingFolder::of(const std::string& masterPath, int number) { return TrainingFolder(checkpointFolderPath(resolvedMaster(masterPath), number)); }

TrainingFolder TrainingFolder::around(const std::string& filePath) {
  const fs::path folder = fs::path(filePath).parent_path();
  return TrainingFolder(folder.empty() ? "." : folder.string());
}

std::string TrainingFolder::recipeFile() const { return file(kRecipeFile); }

std::string TrainingFolder::beside(const std::string& name, const std::string& ending) const { return file(fs::path(name).stem().string() + ending); }

Status TrainingFolder::writeRecipes(const std::string& recipe, const std::string& fp32) const {
  for (const auto& [name, text] : {std::pair(kFp32File, &fp32), std::pair(kRecipeFile, &recipe)}) {
    const auto document = recipeSeenFrom(m_path, *text);
    if (!document) return document.error();
    if (auto written = writeJson(file(name), document.value(), kFileMode); !written) return written;
  }
  return base::success();
}

Result<session::CheckpointEntry> TrainingFolder::write(const TrainingCheckpoint& checkpoint) const {
  const std::string name = checkpointFileName(checkpoint.step);
  const auto sha256 = writeCheckpoint(file(name), checkpoint);
  if (!sha256) return sha256.error();
  return session::CheckpointEntry{checkpoint.step, name, sha256.value(), true};
}

Result<std::string> TrainingFolder::write(const session::TrainingCase& item) const {
  const std::string name = caseFileName(item.step);
  if (auto written = writeJson(file(name), session::toJson(item), kWrittenOnce); !written) return written.error();
  return name;
}

Status TrainingFolder::write(const session::ComparisonRecord& record) const { return writeJson(beside(record.checkpoint, kComparison), session::toJson(record), kFileMode); }

std::vector<session::TrainingCase> TrainingFolder::casesOf(const std::string& checkpointFile) const {
  std::vector<session::TrainingCase> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(m_path, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("case-") || entry.path().extension() != ".json") continue;
    const auto item = session::readCase(entry.path().string());
    if (item && item->checkpoint == checkpointFile) found.push_back(item.value());
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return found;
}

std::optional<session::ComparisonRecord> TrainingFolder::comparisonOf(const std::string& checkpointFile, const std::string& sha256) const {
  const std::string path = beside(checkpointFile, kComparison);
  if (!exists(path)) return std::nullopt;
  const auto record = session::readComparison(path);
  if (!record || record->checkpointSha256 != sha256) return std::nullopt;
  return record.value();
}

}  // namespace ulpscope::storage
