// aten::scaled_dot_product_attention for LibTorch 1.13, which has not got it: models saved by PyTorch 2.x then load. Private to
// core/engine.
#pragma once

namespace ulpscope::engine {

// softmax(q k^T scale + mask) v, as torch.nn.functional.scaled_dot_product_attention of 2.6 documents it. q: [..., H, L, E],
// k: [..., H, S, E], v: [..., H, S, Ev]; scale: 1 / sqrt(E) unless given. A row in which every key is masked gives 0, as from 2.5 on.
// Call it before a model is loaded; more than once does no harm. From LibTorch 2.0 on there is nothing to do.
void provideAttentionOp();

}  // namespace ulpscope::engine
