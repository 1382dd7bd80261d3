// Layers that stay in eval mode however a model is trained: tracing writes the mode of that moment into the graph. Private to core/train.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace ulpscope::train {

// "norm (batch_norm)", "drop (dropout)", in the order of the modules.
std::vector<std::string> layersFrozenInEval(const torch::jit::Module& module);

}  // namespace ulpscope::train
