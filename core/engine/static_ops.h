// The ops of a model as its code has them, before anything ran. Private to core/engine.
#pragma once

#include "core/engine/execution_place.h"
#include "core/model/model_info.h"

#include <torch/csrc/jit/api/module.h>

#include <vector>

namespace ulpscope::engine {

// In order of the code, from forward of the root, calls followed; both branches of an if, a loop's body once.
// Must run before markPaths.
std::vector<model::StaticOp> staticOps(const torch::jit::Module& module, const PathAliases& aliases);

// "model.py:12"; empty where a node has no source (asking such a range for its text crashes).
std::string sourceText(const torch::jit::SourceRange& range);
// Not TorchScript's own ("<string>:11", of its builtin functions), nor empty.
bool isOfTheModel(const std::string& source);

}  // namespace ulpscope::engine
