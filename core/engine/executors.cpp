#include "core/engine/executors.h"

#include "core/engine/tensor_visit.h"
#include "core/engine/values.h"

namespace ulpscope::engine {
namespace {

const std::string kOff = "off";
const RegionSet kNoRegions;

std::string qualified(const OpCall& call) { return call.overload().empty() ? call.name() : call.name() + "." + call.overload(); }

bool asksForLow(const OpCall& call, std::optional<std::size_t> dtypeArgument) {
  if (!dtypeArgument) return false;
  const c10::IValue& dtype = call.argument(*dtypeArgument);
  return dtype.isInt() && isLow(static_cast<at::ScalarType>(dtype.toInt()));
}

bool holdsLow(const OpCall& call) {
  bool low = false;
  for (std::size_t i = 0; i < call.argumentCount(); ++i)
    visitTensors(call.argument(i), [&](const at::Tensor& t) { low = low || isLow(t.scalar_type()); });
  return low;
}

// Returns an alias of an argument without writing it: a view.
bool isViewOp(const OpCall& call) {
  bool aliases = false;
  for (const auto& result : call.op.schema().returns()) aliases = aliases || result.alias_info();
  for (const auto& argument : call.op.schema().arguments())
    if (argument.alias_info() && argument.alias_info()->isWrite()) return false;
  return aliases;
}

bool isDropout(const OpCall& call) {
  const std::string& name = call.name();
  return name == "aten::dropout" || name == "aten::feature_dropout" || name == "aten::alpha_dropout";
}

// native/Linear.cpp of 2.x: any contiguous input with a bias of one dimension is flattened for addmm. 1.13 does so up to three.
bool takesBiasInOneKernel(const OpCall& call) {
  const c10::IValue& input = call.argument(0);
  const c10::IValue& bias = call.argument(2);
  return input.isTensor() && input.toTensor().dim() > 3 && input.toTensor().is_contiguous() && bias.isTensor() && bias.toTensor().defined() &&
         bias.toTensor().dim() == 1;
}

// The op in its true dtypes on the CPU's own kernel; one that the CPU lacks is no error of CUDA's.
void runNatively(const OpCall& call) {
  const OwnCalls own;
  try {
    call.op.callBoxed(call.stack);
  } catch (const c10::Error& e) {
    const std::string what = e.what_without_backtrace();
    const bool lacking = what.find("not implemented for 'Half'") != std::string::npos || what.find("not implemented for 'BFloat16'") != std::string::npos ||
                         what.find("INTERNAL ASSERT FAILED") != std::string::npos;
    if (lacking) throw UnsupportedOp(qualified(call) + " has no 16-bit kernel on the CPU and cannot be emulated");
    throw;
  }
}

OutputRule trainingDropout() {
  OutputRule dropout{OutputRule::Kind::follow};
  dropout.fused = true;
  return dropout;
}

// at::autocast::prioritize of autocast_mode.h, argument after argument.
at::ScalarType widest(const OpCall& call, at::ScalarType low) {
  at::ScalarType type = low;
  for (std::size_t i = 0; i < call.argumentCount(); ++i)
    visitTensors(call.argument(i), [&](const at::Tensor& t) {
      if (!isEligible(t)) return;
      if (t.scalar_type() == at::kFloat) type = at::kFloat;
      TORCH_CHECK(type == at::kFloat || t.scalar_type() == low, "Unexpected floating ScalarType in at::autocast::prioritize");
    });
  return type;
}

std::optional<std::size_t> argumentNamed(const OpCall& call, const std::string& name) {
  const auto index = call.op.schema().argumentIndexWithName(name);
  if (!index) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

// Ops on CPU scalars alone give CPU scalars.
bool allOnHost(const OpCall& call, const ExecutionPlace& place) {
  bool any = false, all = true;
  for (std::size_t i = 0; i < call.argumentCount(); ++i)
    visitTensors(call.argument(i), [&](const at::Tensor& t) {
      any = true;
      all = all && place.onHost(t);
    });
  return any && all;
}

void markResults(const OpCall& call, ExecutionPlace& place) {
  for (std::size_t r = 0; r < call.resultCount(); ++r)
    visitTensors(call.result(r), [&](const at::Tensor& t) { place.markOnHost(t); });
}

}  // namespace

ReferenceExecutor::ReferenceExecutor() : m_emulated({&cuda212(), at::kHalf, &kNoRegions, true}) {}

void ReferenceExecutor::execute(const OpCall& call, ExecutionPlace& place, OpEvent*) {
  if (!m_emulated.touchesLow(call)) {
    const OwnCalls own;
    call.redispatch();
    return;
  }
  if (m_firstLowOp.empty()) m_firstLowOp = call.name() + " in " + (place.modulePath().empty() ? "the root module" : place.modulePath());
  m_emulated.executeWithoutAutocast(call, place);
}

const EmulatedExecutor::OpFacts& EmulatedExecutor::factsOf(const OpCall& call) {
  const auto [found, isNew] = m_facts.try_emplace(&call.op.schema());
  OpFacts& facts = found->second;
  if (!isNew) return facts;
  // An overload that only reads its sizes in another way calls the op itself.
  const bool wraps = call.overload() == "vec";
  facts.policyClass = m_options.table->classOf(wraps ? call.name() : qualified(call));
  // CPU autocast of 1.13 lists cat, but neither prioritize() nor cached_cast() knows its list of tensors: it runs as it is.
  if (m_options.table->name() == "cpu@1.13" && call.name() == "aten::cat") facts.policyClass = PolicyClass::none;
  facts.className = name(facts.policyClass);
  facts.rule = outputRule(call.name(), m_options.table->device(), m_options.table->series());
  facts.composite = call.op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  facts.view = isViewOp(call);
  facts.fourier = call.name().rfind("aten::fft_", 0) == 0;
  facts.dtypeArgument = argumentNamed(call, "dtype");
  facts.dropout = isDropout(call);
  facts.fusedRnn = facts.rule && facts.rule->kind == OutputRule::Kind::fusedRnn;
  facts.fusedLinear = call.name() == "aten::linear" && m_options.table->series() != "1.13";
  return facts;
}

bool EmulatedExecutor::touchesLow(const OpCall& call) { return holdsLow(call) || asksForLow(call, factsOf(call).dtypeArgument); }

EmulatedExecutor::Policy EmulatedExecutor::policyFor(const OpCall& call, const OpFacts& facts, const ExecutionPlace& place, OpEvent* event) {
  bool on = place.autocastOn() && m_autocastSuspended == 0;
  if (on && event && m_options.regions->hasOpPatterns()) {
    const auto region = m_options.regions->matchesOp({event->modulePath, event->op, event->overload, event->source, event->occurrence});
    if (region == RegionKind::fp32) {
      castArguments(call, at::kFloat, call.argumentCount());
      engine::noteCasts(*event, at::kFloat);
    }
    on = !region;
  }
  const PolicyClass policyClass = on ? facts.policyClass : PolicyClass::none;
  if (event) {
    event->policyClass = on ? facts.className : kOff;
    event->autocastOn = on;
    event->low = m_low;
  }
  return {policyClass, on};
}

at::Tensor EmulatedExecutor::castCached(const at::Tensor& tensor, at::ScalarType type) {
  if (!isEligible(tensor) || tensor.scalar_type() == type) return tensor;
  const bool leaf = tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view() && tensor.scalar_type() == at::kFloat;
  if (!m_options.castCache || !leaf || !isLow(type)) return tensor.to(type);
  auto& [kept, cast] = m_castCache[tensor.unsafeGetTensorImpl()];
  if (!cast.defined() || cast.scalar_type() != type) {
    kept = tensor;
    cast = tensor.to(type);
  }
  return cast;
}

void EmulatedExecutor::castArguments(const OpCall& call, at::ScalarType type, std::size_t count) {
  const OwnCalls own;
  for (std::size_t i = 0; i < count; ++i)
    call.argument(i) = mapTensors(call.argument(i), [&](const at::Tensor& t) { return castCached(t, type); });
}

// A dtype argument that the policy sets is no cast of the operand.
void EmulatedExecutor::noteCasts(const OpCall& call, PolicyClass policyClass, OpEvent& event) const {
  switch (policyClass) {
    case PolicyClass::lowerPrecision: return engine::noteCasts(event, m_low);
    case PolicyClass::fp32: return engine::noteCasts(event, at::kFloat);
    case PolicyClass::promote: return engine::noteCasts(event, widest(call, m_low));
    case PolicyClass::none:
    case PolicyClass::refused:
    case PolicyClass::fp32AppendDtype:
    case PolicyClass::fp32SetOptDtype: return;
  }
}

void EmulatedExecutor::applyPolicy(const OpCall& call, PolicyClass policyClass) {
  switch (policyClass) {
    case PolicyClass::none: return;
    case PolicyClass::refused: TORCH_CHECK(false, refusalText());
    case PolicyClass::lowerPrecision: castArguments(call, m_low, call.argumentCount()); return;
    case PolicyClass::fp32: castArguments(call, at::kFloat, call.argumentCount()); return;
    case PolicyClass::promote: castArguments(call, widest(call, m_low), call.argumentCount()); return;
    case PolicyClass::fp32AppendDtype:
    case PolicyClass::fp32SetOptDtype: {
      // A dtype argument, not a cast of all inputs: float32 where the caller gave none. On the CPU the first argument is
      // widened beforehand, which is what the CUDA kernel does while it reads.
      const auto dtype = argumentNamed(call, "dtype");
      const c10::IValue first = call.argument(0);
      if (!first.isTensor() || !isEligible(first.toTensor())) return;
      if (policyClass == PolicyClass::fp32SetOptDtype) {
        if (!dtype || !call.argument(*dtype).isNone()) return;
        call.argument(*dtype) = static_cast<std::int64_t>(at::kFloat);
      }
      castArguments(call, at::kFloat, 1);
      return;
    }
  }
}

void EmulatedExecutor::enter(const OpCall& call, Policy policy) {
  const bool suspends = policy.policyClass != PolicyClass::none || !policy.on;
  m_autocastSuspended += suspends;
  struct Resume {
    int& count;
    bool suspends;
    ~Resume() { count -= suspends; }
  } resume{m_autocastSuspended, suspends};
  call.redispatch();
}

std::optional<OutputRule> EmulatedExecutor::ruleFor(const OpCall& call, const OpFacts& facts, Policy policy) const {
  if (facts.dropout && call.argument(2).isBool() && call.argument(2).toBool()) return trainingDropout();
  if (facts.fusedLinear && takesBiasInOneKernel(call)) return OutputRule{OutputRule::Kind::same};
  const bool unlisted = policy.policyClass == PolicyClass::none;
  if (facts.rule && facts.composite && !facts.rule->fused && unlisted && facts.rule->kind != OutputRule::Kind::native) return std::nullopt;
  return facts.rule;
}

void EmulatedExecutor::runWithPolicy(const OpCall& call, const OpFacts& facts, Policy policy, const ExecutionPlace& place) {
  applyPolicy(call, policy.policyClass);
  const bool unlisted = policy.policyClass == PolicyClass::none;
  const bool low = holdsLow(call);
  if (!low && !(asksForLow(call, facts.dtypeArgument) && (facts.rule || facts.composite))) {
    if (unlisted) {
      enter(call, policy);  // float32 so far, but ops inside may be on a list
    } else {
      const OwnCalls own;
      call.op.callBoxed(call.stack);
    }
    return;
  }
  const std::optional<OutputRule> rule = ruleFor(call, facts, policy);
  if (rule && rule->kind != OutputRule::Kind::native) {
    const bool cuda = m_options.table->device() == "cuda";
    emulate(call, *rule, [&, cuda](const at::Tensor& t) { return cuda && place.onHost(t); }, m_options.splitSums);
  } else if (rule || facts.view) {
    runNatively(call);
  } else if (facts.composite && !facts.fourier) {
    enter(call, policy);
  } else {
    throw UnsupportedOp(qualified(call) + " has no rule for 16-bit inputs and cannot be emulated");
  }
}

void EmulatedExecutor::execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) {
  m_low = place.ownLow().value_or(m_options.low);
  const OpFacts& facts = factsOf(call);
  const Policy policy = policyFor(call, facts, place, event);
  const bool onHost = allOnHost(call, place);
  if (policy.policyClass == PolicyClass::none && policy.on && facts.fusedRnn) {
    // cuDNN's RNN has a wrapper of its own under autocast: everything to float16.
    castArguments(call, at::kHalf, call.argumentCount());
    if (event) {
      event->policyClass = "lower_precision_fp";
      engine::noteCasts(*event, at::kHalf);
    }
    ++m_loweredOps;
  }
  if (policy.policyClass == PolicyClass::lowerPrecision) {
    ++m_loweredOps;
    if (event) {
      event->castsDown = true;
      event->castTo = m_low;
    }
  }
  if (event) noteCasts(call, policy.policyClass, *event);
  runWithPolicy(call, facts, policy, place);
  if (onHost) markResults(call, place);
}

}  // namespace ulpscope::engine
