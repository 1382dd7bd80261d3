// What a run holds besides the numbers of its op sites: module outputs, FP32's own noise, and what was stored in full.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

// What a module returned: the op site that made it, not a copy of its numbers.
struct ModuleOutput {
  std::string modulePath;
  int call = 1;           // n-th call of the module in one forward
  std::string name;       // "output", "output.0", "output.key"
  std::int64_t site = -1;  // index into RunRecord::sites
  bool part = false;       // it is a part of what the site made (a slice), or all of it in another order (transposed)
};

// How far FP32 is from itself: the same samples in another order and with another number of threads.
struct OutputFloor {
  std::string name;
  double maxAbs = 0, relL2 = 0;  // NaN: nothing compared
};
struct NoiseFloor {
  std::string skipped;  // why there is none; then all else is empty
  int threads = 0;
  std::vector<OutputFloor> outputs;
  std::vector<std::string> flips;  // sample ids that FP32 itself decides otherwise
};

// Both ends of what a GPU may make of long sums: of the run itself, and of the candidate added up in the other way.
struct AccumulationOutput {
  std::string name;
  double relL2 = 0, relL2Otherwise = 0;  // NaN: not evaluated
  double maxAbs = 0, maxAbsOtherwise = 0;
};
struct Accumulation {
  std::vector<AccumulationOutput> outputs;
  std::int64_t flips = -1, flipsOtherwise = -1;  // -1: no decision
  std::vector<std::string> depends;              // sample ids that flip in one of the two only
};

// What of the activations was stored in full.
struct CapturedSite {
  std::int64_t site = -1;  // index into RunRecord::sites
  std::int64_t bytes = 0;  // of both runs
};
struct LeftOutSite {
  std::int64_t site = -1;
  std::int64_t bytes = 0;  // it would have taken
  std::string why;         // "budget"
};
struct Capture {
  std::int64_t budget = 0;  // bytes
  std::vector<CapturedSite> sites;  // capture number = index
  std::vector<LeftOutSite> leftOut;
};

// All read back what toJson wrote and throw nlohmann::json::exception on anything else.
nlohmann::json toJson(const std::vector<ModuleOutput>& outputs);
std::vector<ModuleOutput> moduleOutputsFromJson(const nlohmann::json& json);
nlohmann::json toJson(const std::optional<NoiseFloor>& floor);  // null: none
std::optional<NoiseFloor> noiseFloorFromJson(const nlohmann::json& json);
nlohmann::json toJson(const std::optional<Accumulation>& accumulation);  // null: not asked for
std::optional<Accumulation> accumulationFromJson(const nlohmann::json& json);
nlohmann::json toJson(const std::optional<Capture>& capture);  // null: none
std::optional<Capture> captureFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
