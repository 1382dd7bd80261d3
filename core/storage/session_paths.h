// Where a session's files lie and what their names may be. HDF5 never resolves a link of ours.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ulpscope::storage {

enum class RunFileKind { metrics, tensors };

inline constexpr int kLargestRunNumber = 9999;

// The master itself where `path` is a symbolic link to it, so that its folder is found beside the real file.
std::string resolvedMaster(const std::string& path);
std::string folderOfSession(const std::string& master);  // "x.ulps" -> "x.ulps.d"
std::string runFileName(int number, RunFileKind kind);   // "run-0003.metrics.h5"
std::string runFilePath(const std::string& master, int number, RunFileKind kind);
inline constexpr const char* kPart = ".part";  // ending of a file that is being written
// Folder + name of the run's metrics file; of its last checkpoint while (or when a crash left) there is nothing else.
std::string metricsFileOf(const std::string& folder, int number);
// The number in "run-0003.metrics.h5" or "run-0003.tensors.h5"; nothing for any other name.
std::optional<int> runNumberOfFile(const std::string& name);
// The same for "run-0003.metrics.h5.part", "run-0003.metrics.h5.part.part" and so on.
std::optional<int> runNumberOfPart(const std::string& name);
std::optional<int> runNumberOfId(const std::string& id);  // "run_0003"
std::string runIdOf(int number);                          // the reverse
std::string trainingFileName(int number);                 // "train-0003.json"
std::string trainingFilePath(const std::string& master, int number);
std::optional<int> trainingNumberOfFile(const std::string& name);
std::string scanFileName(int number);                     // "scan-0003.json"
std::optional<int> scanNumberOfFile(const std::string& name);
// The name of a file without the endings of parts: "train-0003.json" of "train-0003.json.part"; empty where it has none.
std::string nameOfPart(const std::string& name);
// What lies in a training's folder of checkpoints, beside the checkpoints: the recipe that it goes by, and the configuration without
// autocast to go back to.
inline constexpr const char* kRecipeFile = "recipe.json";
inline constexpr const char* kFp32File = "fp32.json";
std::string checkpointFolderName(int number);             // "train-0001.checkpoints"
std::string checkpointFolderPath(const std::string& master, int number);
std::string checkpointFileName(std::int64_t step);        // "step-00000040.h5"; more digits where it needs them
std::string caseFileName(std::int64_t step);              // "case-00000047.json"
std::optional<int> trainingNumberOfCheckpoints(const std::string& name);  // of "train-0001.checkpoints"
std::optional<std::int64_t> stepOfCheckpointFile(const std::string& name);  // of "step-00000040.h5"
// 1 + the largest of `taken` and of every training's file and folder of checkpoints in the folder, named by a master or not, or set aside.
int nextTrainingNumber(const std::string& folder, int taken);
// 1 + the largest of `taken` and of every scan's file in the folder, named by a master or not, or set aside.
int nextScanNumber(const std::string& folder, int taken);
// 1 + the largest of `taken` and of every run file in the folder, named by a master or not, unfinished or set aside.
int nextRunNumber(const std::string& folder, int taken);

// True for the one kind of external link that a master holds for other readers: "<folder>.d/run-NNNN.metrics.h5".
bool isOwnLinkTarget(const std::string& target);

}  // namespace ulpscope::storage
