// Which dtype an emulated op's result has, and how the op is emulated. Data only, no Torch.
#pragma once

#include <optional>
#include <string>

namespace ulpscope::engine {

struct OutputRule {
  enum class Kind {
    native,    // moves, selects or compares elements: run by the CPU's own kernel in the true dtypes, its checks included
    promote,   // at::result_type of the true inputs
    follow,    // dtype of argument `argument`
    dtypeArg,  // an explicit dtype= wins, and the input is cast to it first; else as follow
    same,      // all floating inputs must have one dtype, else PyTorch's error; the result has it
    unimplemented,  // CUDA has no 16-bit kernel: PyTorch's error, with the name in `kernel`
    fusedRnn,  // cuDNN's fused RNN: inputs and weights to float16 (also under bfloat16 autocast), all results float16
  } kind = Kind::native;
  int argument = 0;            // follow, dtypeArg
  bool firstOutputOnly = false;  // further floating outputs stay float32 (saved statistics)
  bool roundScalars = false;   // the kernel reads its scalar in the tensor's dtype (remainder, fmod)
  bool checkScalars = false;   // and raises where that cannot hold it (threshold)
  bool convolution = false;    // the bias is added after the first rounding, except in the native depthwise kernels
  enum class Special { none, batchSum, outerProduct, spaced, randomSlopes } special = Special::none;  // rounds in between: addbmm, addr, linspace and logspace, rrelu
  std::string kernel = {};     // unimplemented: "cdist_cuda"
  bool fused = false;          // a composite op that CUDA runs as one kernel: emulated whole, also where no list names it
};

// op: "aten::relu_" (an in-place op has the rule of its plain form). Empty: no rule. A composite op is entered unless it is fused or
// autocast lists it; any other op without a rule cannot be emulated and is an error that names it.
// device and series: of the policy table. On the CPU oneDNN adds a convolution's bias before it rounds and RNNs are not fused; its
// layer and group norms take mixed dtypes from PyTorch 2.0 on.
std::optional<OutputRule> outputRule(const std::string& op, const std::string& device = "cuda", const std::string& series = "1.13");

}  // namespace ulpscope::engine
