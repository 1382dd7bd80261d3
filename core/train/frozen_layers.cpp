#include "core/train/frozen_layers.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

namespace ulpscope::train {
namespace {

struct ModeArgument {
  const char* op;
  const char* name;     // as the warning says it
  std::size_t argument;  // that says whether it trains
};
// From their schemas in ATen/native/native_functions.yaml.
constexpr ModeArgument kModes[] = {{"aten::batch_norm", "batch_norm", 5}, {"aten::dropout", "dropout", 2}, {"aten::dropout_", "dropout", 2}, {"aten::instance_norm", "instance_norm", 5}};

void look(const torch::jit::Block* block, const std::string& path, std::vector<std::string>& found) {
  for (const torch::jit::Node* node : block->nodes()) {
    for (const torch::jit::Block* inner : node->blocks()) look(inner, path, found);
    for (const ModeArgument& mode : kModes) {
      if (node->kind().toQualString() != std::string(mode.op) || node->inputs().size() <= mode.argument) continue;
      const auto value = torch::jit::toIValue(node->input(mode.argument));
      if (value && value->isBool() && !value->toBool()) found.push_back((path.empty() ? "(root)" : path) + " (" + mode.name + ")");
    }
  }
}

}  // namespace

std::vector<std::string> layersFrozenInEval(const torch::jit::Module& module) {
  std::vector<std::string> found;
  for (const auto& named : module.named_modules())
    if (const auto forward = named.value.find_method("forward")) look(forward->graph()->block(), named.name, found);
  return found;
}

}  // namespace ulpscope::train
