#include "core/engine/native_executor.h"

#include "core/engine/values.h"

#include <algorithm>

namespace ulpscope::engine {
namespace {

constexpr c10::DispatchKey kCpuAutocast = c10::DispatchKey::AutocastCPU;
const std::string kOff = "off";

// CPU autocast of this thread is off while it lives.
class AutocastOff {
 public:
  AutocastOff() : m_exclude(kCpuAutocast) {}

 private:
  c10::impl::ExcludeDispatchKeyGuard m_exclude;
};

void castToFloat(const OpCall& call) {
  const OwnCalls own;
  const AutocastOff off;
  for (std::size_t i = 0; i < call.argumentCount(); ++i)
    call.argument(i) = mapTensors(call.argument(i), [](const at::Tensor& t) { return isEligible(t) ? t.to(at::kFloat) : t; });
}

void redispatch(const OpCall& call, bool on) {
  if (on) {
    call.redispatch();
  } else {
    const AutocastOff off;
    OpCall plain = call;
    plain.keys = call.keys - c10::DispatchKeySet(kCpuAutocast);
    plain.redispatch();
  }
}

}  // namespace

void NativeExecutor::beginForward() { m_autocast.emplace(m_options.castCache); }

void NativeExecutor::endForward() { m_autocast.reset(); }

const NativeExecutor::Op& NativeExecutor::opOf(const OpCall& call) {
  const auto [found, isNew] = m_ops.try_emplace(&call.op.schema());
  if (isNew) {
    const PolicyClass policyClass = cpu113().classOf(call.overload().empty() ? call.name() : call.name() + "." + call.overload());
    const bool composite = call.op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
    found->second = {policyClass, name(policyClass), composite && policyClass == PolicyClass::none};
  }
  return found->second;
}

// What the dispatcher's kernels will do. That of cat casts nothing in 1.13: it does not know its list of tensors.
void NativeExecutor::noteCasts(PolicyClass policyClass, OpEvent& event) {
  const auto isFloat = [](const Operand& o) { return o.tensor.scalar_type() == at::kFloat; };
  if (policyClass == PolicyClass::lowerPrecision) engine::noteCasts(event, at::kBFloat16);
  if (policyClass == PolicyClass::fp32) engine::noteCasts(event, at::kFloat);
  if (policyClass == PolicyClass::promote && event.op != "aten::cat" && std::any_of(event.operands.begin(), event.operands.end(), isFloat))
    engine::noteCasts(event, at::kFloat);
}

bool NativeExecutor::autocastOn(const OpCall& call, const ExecutionPlace& place, OpEvent* event) const {
  if (!place.autocastOn() || m_suspended > 0) return false;
  if (!event || !m_options.regions->hasOpPatterns()) return true;
  const auto region = m_options.regions->matchesOp({event->modulePath, event->op, event->overload, event->source, event->occurrence});
  if (region == RegionKind::fp32) {
    castToFloat(call);
    engine::noteCasts(*event, at::kFloat);
  }
  return !region;
}

void NativeExecutor::run(const OpCall& call, bool on, bool entered) {
  if (!entered) {
    const OwnCalls own;
    redispatch(call, on);
    return;
  }
  m_suspended += !on;
  struct Resume {
    int& count;
    bool on;
    ~Resume() { count -= !on; }
  } resume{m_suspended, on};
  redispatch(call, on);
}

void NativeExecutor::execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) {
  const Op& op = opOf(call);
  const bool on = autocastOn(call, place, event);
  const bool lowers = on && op.policyClass == PolicyClass::lowerPrecision;
  m_loweredOps += lowers;
  if (event) {
    event->policyClass = on ? op.className : kOff;
    event->autocastOn = on;
    event->low = at::kBFloat16;
    event->castsDown = lowers;
    event->castTo = lowers ? at::kBFloat16 : event->castTo;
    if (on) noteCasts(op.policyClass, *event);
  }
  run(call, on, op.entered);
}

}  // namespace ulpscope::engine
