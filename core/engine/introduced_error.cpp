#include "core/engine/introduced_error.h"

#include "core/engine/interception.h"
#include "core/engine/values.h"

namespace ulpscope::engine {
namespace {

// Runs one op and what it calls inside in the way of one run; nobody watches.
class ReplayHook : public OpHook {
 public:
  ReplayHook(OpExecutor& executor, const std::string& device, bool autocastOn, at::ScalarType low)
      : m_place(kNoRegions, kNoAliases, device), m_executor(executor) {
    m_place.enterOwnAutocast(device, autocastOn, low);
    m_executor.beginForward();
  }
  ~ReplayHook() override { m_executor.endForward(); }
  ReplayHook(const ReplayHook&) = delete;
  ReplayHook& operator=(const ReplayHook&) = delete;
  ExecutionPlace& place() { return m_place; }
  void call(const OpCall& call) override { m_executor.execute(call, m_place, nullptr); }

 private:
  static const RegionSet kNoRegions;
  static const PathAliases kNoAliases;
  ExecutionPlace m_place;
  OpExecutor& m_executor;
};
const RegionSet ReplayHook::kNoRegions;
const PathAliases ReplayHook::kNoAliases;

std::vector<at::Tensor> run(torch::jit::Stack stack, OpExecutor& executor, const std::string& device, const OpEvent& candidate, bool autocastOn) {
  ReplayHook hook(executor, device, autocastOn, candidate.low);
  std::size_t at = 0;
  for (const c10::IValue& value : stack)
    forEachTensor(value, [&](const at::Tensor& t) {
      if (candidate.operands[at++].onHost) hook.place().markOnHost(t);
    });
  const HookSwap swap(hook);
  candidate.handle->callBoxed(&stack);
  std::vector<at::Tensor> outputs;
  for (const c10::IValue& value : stack) forEachTensor(value, [&](const at::Tensor& t) { outputs.push_back(t); });
  return outputs;
}

// Normalisations in train mode update running_mean and running_var, which their schemas do not say.
bool writes(const OpEvent& event, std::size_t argument) {
  const auto& declared = event.handle->schema().arguments()[argument];
  return (declared.alias_info() && declared.alias_info()->isWrite()) || declared.name().rfind("running_", 0) == 0;
}

// The reference's arguments with each tensor in the dtype that the candidate's has; what the op writes is copied.
torch::jit::Stack argumentsOnArrival(const OpEvent& reference, const OpEvent& candidate) {
  const OwnCalls own;
  torch::jit::Stack stack;
  std::size_t at = 0;
  for (std::size_t i = 0; i < reference.arguments.size(); ++i)
    stack.push_back(mapTensors(reference.arguments[i], [&](const at::Tensor& t) {
      const at::Tensor& arrived = candidate.operands[at++].tensor;
      const bool rounds = t.is_floating_point() && arrived.is_floating_point();
      return t.to(rounds ? arrived.scalar_type() : t.scalar_type(), /*non_blocking=*/false, /*copy=*/writes(reference, i));
    }));
  return stack;
}

torch::jit::Stack widened(const OpEvent& reference, const torch::jit::Stack& stack) {
  const OwnCalls own;
  torch::jit::Stack wide;
  for (std::size_t i = 0; i < stack.size(); ++i)
    wide.push_back(mapTensors(stack[i], [&](const at::Tensor& t) {
      return t.to(isLow(t.scalar_type()) ? at::kFloat : t.scalar_type(), /*non_blocking=*/false, /*copy=*/writes(reference, i));
    }));
  return wide;
}

// x is the reference's own inputs: op_fp32(x) is what the reference has computed already.
bool arrivesAsInReference(const OpEvent& reference, const OpEvent& candidate) {
  for (std::size_t i = 0; i < reference.operands.size(); ++i) {
    const at::ScalarType type = reference.operands[i].tensor.scalar_type();
    if (isLow(type) || candidate.operands[i].tensor.scalar_type() != type) return false;
  }
  return true;
}

// Autocast may make something else of float32 inputs: of the op itself, or of those that a composite op calls inside.
bool policyMayLower(const OpEvent& candidate) {
  const bool composite = candidate.handle->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  return candidate.autocastOn && (candidate.policyClass == "lower_precision_fp" || composite);
}

std::vector<at::Tensor> outputsOf(const OpEvent& event) {
  std::vector<at::Tensor> outputs;
  for (const OpOutput& output : event.outputs) outputs.push_back(output.tensor);
  return outputs;
}

}  // namespace

IntroducedOutputs IntroducedError::replay(const OpEvent& reference, const OpEvent& candidate) const {
  IntroducedOutputs outputs;
  if (!reference.handle || !candidate.handle || reference.random || reference.operands.size() != candidate.operands.size()) return outputs;
  const bool asInReference = arrivesAsInReference(reference, candidate);
  if (asInReference) outputs.fp32 = outputsOf(reference);
  if (asInReference && !policyMayLower(candidate)) {
    outputs.policy = outputs.fp32;
    return outputs;
  }
  try {
    torch::jit::Stack stack = argumentsOnArrival(reference, candidate);
    torch::jit::Stack wide = asInReference ? torch::jit::Stack() : widened(reference, stack);
    ReferenceExecutor plain;
    outputs.policy = run(std::move(stack), *m_executor, m_device, candidate, candidate.autocastOn);
    if (!asInReference) outputs.fp32 = run(std::move(wide), plain, m_device, candidate, /*autocastOn=*/false);
  } catch (const std::exception&) {
    outputs.policy.clear();  // the op raises on such inputs: it has no error of its own to state
  }
  return outputs;
}

}  // namespace ulpscope::engine
