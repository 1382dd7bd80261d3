// What a model consists of and what autocast does to it: the answer to "inspect" (PROTOCOL.md).
#pragma once

#include "core/base/error.h"
#include "core/model/operators.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace ulpscope::protocol {

// The device whose autocast is asked for, as the engine's LibTorch knows it.
struct TargetDevice {
  std::string name;            // "cuda" or "cpu"
  std::string libtorch;        // "1.13.0"
  bool hasKernels = false;     // this build registers kernels for it
  bool isPresent = false;      // and this machine has one
};

struct Inspection {
  model::ModelInfo model;
  std::vector<model::StaticOp> ops;  // policyClass by the table
  std::string policyTable;
  std::vector<std::string> warnings;
  TargetDevice target;
  std::vector<model::OpKernel> kernels;  // of this build for the target, one an op
};

nlohmann::json toJson(const Inspection& inspection);
base::Result<Inspection> inspectionFromJson(const nlohmann::json& json);  // error kind internal

// What can and what cannot be said of the device, a sentence each. Never empty.
std::vector<std::string> targetNotes(const TargetDevice& target);

}  // namespace ulpscope::protocol
