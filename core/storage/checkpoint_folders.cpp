#include "core/storage/checkpoint_folders.h"

#include "core/base/hashing.h"
#include "core/base/number_text.h"
#include "core/base/size_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/session_folder.h"
#include "core/storage/session_paths.h"
#include "core/storage/record_files.h"
#include "core/storage/training_store.h"

#include <algorithm>
#include <filesystem>

namespace ulpscope::storage {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

CheckpointFolder lookInto(const std::string& path, int number) {
  CheckpointFolder folder{number, path, {}, 0};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path, none)) {
    if (entry.symlink_status(none).type() != fs::file_type::regular) continue;
    const std::uintmax_t size = entry.file_size(none);
    folder.sizeBytes += none ? 0 : size;
    if (const auto step = stepOfCheckpointFile(entry.path().filename().string())) folder.steps.push_back(*step);
  }
  std::sort(folder.steps.begin(), folder.steps.end());
  return folder;
}

std::string faultOf(const std::string& path, const session::CheckpointEntry& entry, int number) {
  if (!exists(path)) return path + ": is missing; training " + std::to_string(number) + " names it";
  if (const auto plain = checkPlainFileNoLink(path); !plain) return plain.error().message();
  const auto sum = base::sha256OfFile(path);
  if (!sum) return sum.error().message();
  if (sum.value() == entry.sha256) return "";
  return path + ": is damaged: its SHA-256 is not the one that training " + std::to_string(number) + " names; restore it from a copy, or go on from another checkpoint";
}

Lines faultsOf(const std::string& master, const session::Training& training) {
  const std::string folder = checkpointFolderPath(master, training.number);
  if (training.checkpoints.empty()) return {};
  if (!isFolder(folder)) return {folder + ": is missing; it holds " + base::counted(static_cast<std::int64_t>(training.checkpoints.size()), "checkpoint") + " (`ulpscope pack` leaves them out)"};
  Lines lines;
  for (const session::CheckpointEntry& entry : training.checkpoints) {
    const std::string name = fs::path(entry.file).filename().string();  // no record names a file elsewhere
    if (const std::string fault = faultOf(folder + "/" + name, entry, training.number); !fault.empty()) lines.push_back(fault);
  }
  return lines;
}

}  // namespace

std::string CheckpointFolder::text() const { return base::counted(static_cast<std::int64_t>(steps.size()), "checkpoint") + ", " + base::sizeText(sizeBytes); }

std::vector<CheckpointFolder> checkpointFolders(const std::string& masterPath) {
  const std::string folder = folderOfSession(resolvedMaster(masterPath));
  std::vector<CheckpointFolder> folders;
  std::error_code none;
  if (!isFolder(folder)) return folders;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (const auto number = trainingNumberOfCheckpoints(entry.path().filename().string()); number && isFolder(entry.path().string()))
      folders.push_back(lookInto(entry.path().string(), *number));
  std::sort(folders.begin(), folders.end(), [](const CheckpointFolder& a, const CheckpointFolder& b) { return a.number < b.number; });
  return folders;
}

Lines unnamedCheckpoints(const std::string& masterPath, const session::Session& session) {
  Lines lines;
  for (const CheckpointFolder& folder : checkpointFolders(masterPath)) {
    if (std::any_of(session.trainings.begin(), session.trainings.end(), [&](const session::TrainingEntry& t) { return t.number == folder.number; })) continue;
    const std::string resume = folder.steps.empty() ? "remove the folder once nothing trains" : "go on from the last with `ulpscope train --resume " + folder.path + "/" + checkpointFileName(folder.steps.back()) + "`, or remove the folder";
    lines.push_back(folder.path + ": holds " + folder.text() + ", of a training that is at work or did not come to its end; " + resume);
  }
  return lines;
}

Lines checkpointFaults(const std::string& masterPath, const session::Session& session) {
  Lines lines;
  const std::string master = resolvedMaster(masterPath);
  for (const session::TrainingEntry& entry : session.trainings) {
    if (!checkRecord(trainingRecords(), master, entry)) continue;  // named elsewhere
    const auto training = readTraining(master, session, entry.number);
    const Lines faults = training ? faultsOf(master, training.value()) : Lines{training.error().message()};
    lines.insert(lines.end(), faults.begin(), faults.end());
  }
  return lines;
}

}  // namespace ulpscope::storage
