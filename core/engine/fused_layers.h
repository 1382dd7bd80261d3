// PyTorch's fused fast paths of nn.TransformerEncoderLayer and nn.MultiheadAttention, which a trace without gradients holds, opened up: their
// ops run one by one, as PyTorch runs them in eager mode under autocast. Private to core/engine.
#pragma once

#include "core/engine/interception.h"

namespace ulpscope::engine {

// aten::_transformer_encoder_layer_fwd: torch/nn/modules/transformer.py, TransformerEncoderLayer.forward without its fast path. The ops
// inside go to the hook; the result lies on the stack. Nested tensors are refused (std::runtime_error that says what to do).
void openEncoderLayer(const OpCall& call);
// aten::_native_multi_head_attention: torch/nn/functional.py, multi_head_attention_forward.
void openMultiheadAttention(const OpCall& call);

// Whether `op` ("aten::...") is one of the two above.
bool isOpened(const std::string& op);

// Throws std::runtime_error: samples of a nested tensor have shapes of their own, which no site can compare, and its ops are fused ones.
[[noreturn]] void refuseNested(const std::string& op);

}  // namespace ulpscope::engine
