// A TorchScript model in memory, marked and described. Private to core/engine.
#pragma once

#include "core/base/error.h"
#include "core/engine/execution_place.h"
#include "core/engine/policy_table.h"
#include "core/model/model_info.h"

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace ulpscope::engine {

struct LoadedModel {
  torch::jit::Module module;  // marked; runs work on copies (copyForRun)
  model::ModelInfo info;
  PathAliases aliases;
  std::vector<model::StaticOp> ops;  // policyClass not filled
  std::vector<std::string> unresolvedCalls;
  bool ownAutocast = false;  // it has autocast regions of its own
};

// Checks the archive, loads, marks and describes. Errors of kind input name file and fault.
base::Result<LoadedModel> loadModel(const std::string& path);

// Own buffers and attributes, parameters shared. Modules of one class share their (marked) code.
torch::jit::Module copyForRun(const torch::jit::Module& module, bool trainMode);

// First line of a LibTorch exception without its C++ backtrace.
std::string plainMessage(const std::exception& error);

}  // namespace ulpscope::engine
