#include "core/storage/session_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

namespace ulpscope::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 4;
constexpr const char* kCheckpoints = ".checkpoints";

std::optional<int> numberBetween(const std::string& text, const std::string& before, const std::string& after) {
  if (text.size() != before.size() + kDigits + after.size() || !text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  int number = 0;
  const char* first = text.data() + before.size();
  const auto parsed = std::from_chars(first, first + kDigits, number);
  if (parsed.ec != std::errc() || parsed.ptr != first + kDigits || number < 1) return std::nullopt;
  return number;
}

std::string withoutParts(std::string name) {
  while (name.ends_with(kPart)) name.resize(name.size() - std::string_view(kPart).size());
  return name;
}

using NumberOf = std::optional<int> (*)(const std::string&);

// 1 + the largest that a name there or among what was set aside has.
int nextNumber(const std::string& folder, int taken, const std::vector<NumberOf>& numbersOf) {
  std::error_code none;
  for (const std::string& place : {folder, folder + "/set-aside"})
    for (const auto& entry : fs::directory_iterator(place, none))
      for (const NumberOf numberOf : numbersOf)
        if (const auto number = numberOf(entry.path().filename().string())) taken = std::max(taken, *number);
  return taken + 1;
}

}  // namespace

std::string resolvedMaster(const std::string& path) {
  std::error_code none;
  if (!fs::is_symlink(fs::symlink_status(path, none))) return path;  // messages name it as the user does
  const fs::path real = fs::canonical(path, none);
  return none ? path : real.string();
}

std::string folderOfSession(const std::string& master) { return master + ".d"; }

std::string runFileName(int number, RunFileKind kind) {
  return fmt::format("run-{:04}.{}.h5", number, kind == RunFileKind::metrics ? "metrics" : "tensors");
}

std::string runFilePath(const std::string& master, int number, RunFileKind kind) {
  return folderOfSession(master) + "/" + runFileName(number, kind);
}

std::optional<int> runNumberOfFile(const std::string& name) {
  const auto number = numberBetween(name, "run-", ".metrics.h5");
  return number ? number : numberBetween(name, "run-", ".tensors.h5");
}

std::optional<int> runNumberOfPart(const std::string& name) {
  const std::string stem = withoutParts(name);
  return stem == name ? std::nullopt : runNumberOfFile(stem);
}

std::string metricsFileOf(const std::string& folder, int number) {
  const std::string file = folder + "/" + runFileName(number, RunFileKind::metrics);
  std::error_code none;
  const bool onlyPart = !fs::exists(fs::symlink_status(file, none)) && fs::exists(fs::symlink_status(file + kPart, none));
  return onlyPart ? file + kPart : file;
}

std::optional<int> runNumberOfId(const std::string& id) { return numberBetween(id, "run_", ""); }

std::string runIdOf(int number) { return fmt::format("run_{:04}", number); }

std::string trainingFileName(int number) { return fmt::format("train-{:04}.json", number); }

std::string trainingFilePath(const std::string& master, int number) { return folderOfSession(master) + "/" + trainingFileName(number); }

std::optional<int> trainingNumberOfFile(const std::string& name) { return numberBetween(name, "train-", ".json"); }

std::string scanFileName(int number) { return fmt::format("scan-{:04}.json", number); }

std::optional<int> scanNumberOfFile(const std::string& name) { return numberBetween(name, "scan-", ".json"); }

std::string nameOfPart(const std::string& name) {
  std::string stem = withoutParts(name);
  return stem == name ? std::string() : stem;
}

std::string checkpointFolderName(int number) { return fmt::format("train-{:04}{}", number, kCheckpoints); }

std::string checkpointFolderPath(const std::string& master, int number) { return folderOfSession(master) + "/" + checkpointFolderName(number); }

std::string checkpointFileName(std::int64_t step) { return fmt::format("step-{:08}.h5", step); }

std::string caseFileName(std::int64_t step) { return fmt::format("case-{:08}.json", step); }

std::optional<int> trainingNumberOfCheckpoints(const std::string& name) { return numberBetween(name, "train-", kCheckpoints); }

std::optional<std::int64_t> stepOfCheckpointFile(const std::string& name) {
  constexpr std::string_view kBefore = "step-", kAfter = ".h5";
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter) || name.size() < kBefore.size() + kAfter.size()) return std::nullopt;
  std::int64_t step = 0;
  const char* last = name.data() + name.size() - kAfter.size();
  const auto parsed = std::from_chars(name.data() + kBefore.size(), last, step);
  if (parsed.ec != std::errc() || parsed.ptr != last || checkpointFileName(step) != name) return std::nullopt;
  return step;
}

int nextTrainingNumber(const std::string& folder, int taken) { return nextNumber(folder, taken, {trainingNumberOfFile, trainingNumberOfCheckpoints}); }
int nextScanNumber(const std::string& folder, int taken) { return nextNumber(folder, taken, {scanNumberOfFile}); }
int nextRunNumber(const std::string& folder, int taken) { return nextNumber(folder, taken, {runNumberOfFile, runNumberOfPart}); }

bool isOwnLinkTarget(const std::string& target) {
  const auto slash = target.find('/');
  if (slash == std::string::npos) return false;
  const std::string folder = target.substr(0, slash);
  return folder.size() > 2 && folder.ends_with(".d") && runNumberOfFile(target.substr(slash + 1)).has_value();
}

}  // namespace ulpscope::storage
