// What a run would work on: the answer to "open" (PROTOCOL.md).
#pragma once

#include "core/base/error.h"
#include "core/model/model_info.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::protocol {

struct OpenedInput {
  std::string name;
  std::string dtype;  // "float32"; empty: no tensor
  std::vector<std::int64_t> shape;
  int sampleAxis = 0;  // -1: shared by all samples
};

struct OpenedExperiment {
  model::ModelInfo model;
  std::vector<OpenedInput> inputs;
  std::vector<std::string> sampleIds;
  std::map<std::string, std::int64_t> kinds;  // "edge": how many samples; empty: not said
  std::int64_t labels = 0, targets = 0, classNames = 0;
  std::string preprocessing;
  std::vector<std::string> expected;  // names of the saved eager outputs
};

nlohmann::json toJson(const OpenedExperiment& opened);
base::Result<OpenedExperiment> openedFromJson(const nlohmann::json& json);  // error kind internal

}  // namespace ulpscope::protocol
