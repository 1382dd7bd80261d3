// What an op itself adds: run once more on the reference's inputs, in the candidate's precision and in FP32. Private to
// core/engine.
#pragma once

#include "core/engine/executors.h"
#include "core/engine/op_event.h"

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

namespace ulpscope::engine {

// The outputs of one op on x = the reference's inputs rounded to the dtype that each had on arrival in the candidate. Casts that
// the policy adds are the op's own.
struct IntroducedOutputs {
  std::vector<at::Tensor> policy;  // op_policy(x); empty: the op cannot be run again alone (random, in place of a view, failed)
  std::vector<at::Tensor> fp32;    // op_fp32(x)
};

class IntroducedError {
 public:
  // executor: the candidate's way of running ops, for this use alone. device: the policy's.
  IntroducedError(std::unique_ptr<OpExecutor> executor, std::string device) : m_executor(std::move(executor)), m_device(std::move(device)) {}
  // Call it where the two runs have met, on either thread.
  IntroducedOutputs replay(const OpEvent& reference, const OpEvent& candidate) const;

 private:
  std::unique_ptr<OpExecutor> m_executor;  // meetings come one at a time; keeps the cast parameters
  std::string m_device;
};

}  // namespace ulpscope::engine
