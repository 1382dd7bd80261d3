#include "core/engine/operand_trace.h"

#include "core/engine/tensor_visit.h"
#include "core/engine/values.h"

#include <algorithm>

namespace ulpscope::engine {
namespace {

using From = session::SiteOperand::From;

std::int64_t versionOf(const at::Tensor& t) { return t.is_inference() ? 0 : t._version(); }

std::optional<base::DType> dtypeIfKnown(at::ScalarType type) { return isKnown(type) ? std::optional(dtypeOf(type)) : std::nullopt; }

bool gives(const OpEvent& event, const at::Tensor& output) {
  return std::any_of(event.operands.begin(), event.operands.end(), [&](const Operand& o) { return o.given().is_same(output); });
}

}  // namespace

void Origins::put(const at::Tensor& tensor, std::vector<Origin> origins) {
  m_entries.insert_or_assign(tensor.unsafeGetTensorImpl(),
                             Entry{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), versionOf(tensor), std::move(origins)});
}

// A tensor that has two names keeps the first one.
void Origins::parameters(const torch::jit::Module& module) {
  const auto add = [&](const std::string& name, const at::Tensor& tensor) {
    if (tensor.defined() && !find(tensor, versionOf(tensor))) put(tensor, {{From::parameter, name, {}}});
  };
  for (const auto& parameter : module.named_parameters()) add(parameter.name, parameter.value);
  for (const auto& buffer : module.named_buffers()) add(buffer.name, buffer.value);
}

void Origins::input(const std::string& name, const c10::IValue& value) {
  std::size_t at = 0;
  visitTensors(value, [&](const at::Tensor& t) { put(t, {{From::input, value.isTensor() ? name : name + "[" + std::to_string(at++) + "]", {}}}); });
}

void Origins::made(const at::Tensor& tensor, const SiteKey& site) { put(tensor, {{From::site, {}, site}}); }

void Origins::handedOn(const at::Tensor& tensor, const SiteKey& site) {
  if (find(tensor, versionOf(tensor))) m_entries.at(tensor.unsafeGetTensorImpl()).origins.push_back({From::site, {}, site});
}

void Origins::same(const at::Tensor& from, const at::Tensor& cast) {
  if (const auto* origins = find(from, versionOf(from))) put(cast, std::vector<Origin>(*origins));
}

void Origins::forget(const at::Tensor& tensor) { m_entries.erase(tensor.unsafeGetTensorImpl()); }

const std::vector<Origin>* Origins::find(const at::Tensor& tensor, std::int64_t version) const {
  const auto found = m_entries.find(tensor.unsafeGetTensorImpl());
  const bool counts = found != m_entries.end() && !found->second.alive.expired() && found->second.version == version;
  return counts ? &found->second.origins : nullptr;
}

void OperandTrace::begin(const torch::jit::Module& reference, const torch::jit::Module& candidate) {
  end();
  m_isOn = true;
  of(Side::reference).parameters(reference);
  of(Side::candidate).parameters(candidate);
}

void OperandTrace::end() {
  m_isOn = false;
  for (Origins& origins : m_origins) origins.clear();
}

// Where a conversion is none in one run, the other's still is an op of its own: what both name is what the op was given.
Origin OperandTrace::commonOrigin(const Operand& reference, const Operand& candidate) const {
  const auto* a = m_origins[0].find(reference.given(), reference.version);
  const auto* b = m_origins[1].find(candidate.given(), candidate.version);
  if (!a || !b) return {};
  for (const Origin& origin : *a)
    if (std::find(b->begin(), b->end(), origin) != b->end()) return origin;
  return {};
}

OperandTrace::Op OperandTrace::operandsOf(const OpEvent& reference, const OpEvent& candidate) const {
  Op op;
  op.count = static_cast<std::int64_t>(reference.operands.size());
  const std::size_t listed = std::min(reference.operands.size(), session::kMostOperands);
  op.listed.reserve(listed);
  for (std::size_t i = 0; i < listed; ++i) {
    const Operand& a = reference.operands[i];
    Traced& traced = op.listed.emplace_back();
    traced.operand.name = a.name;
    traced.operand.referenceDtype = dtypeIfKnown(a.tensor.scalar_type());
    if (i >= candidate.operands.size() || candidate.operands[i].name != a.name) continue;
    const Operand& b = candidate.operands[i];
    traced.operand.candidateDtype = dtypeIfKnown(b.tensor.scalar_type());
    if (b.castTo) traced.operand.castTo = dtypeIfKnown(*b.castTo);
    Origin origin = commonOrigin(a, b);
    traced.operand.from = origin.from;
    traced.operand.origin = std::move(origin.name);
    traced.site = std::move(origin.site);
  }
  return op;
}

void OperandTrace::noteOutputs(Origins& origins, const OpEvent& event) {
  for (std::size_t i = 0; i < event.outputs.size(); ++i) {
    const OpOutput& output = event.outputs[i];
    if (!output.tensor.defined()) continue;
    const SiteKey site{event.index, static_cast<int>(i)};
    if (output.isView && gives(event, output.tensor))
      origins.handedOn(output.tensor, site);
    else
      origins.made(output.tensor, site);
  }
}

void OperandTrace::meet(const OpEvent& reference, const OpEvent& candidate) {
  if (!m_isOn) return;
  if (reference.op != candidate.op || reference.outputs.size() != candidate.outputs.size()) {
    alone(Side::reference, reference);
    alone(Side::candidate, candidate);
    return;
  }
  m_ops.try_emplace(reference.index, operandsOf(reference, candidate));
  noteOutputs(of(Side::reference), reference);
  noteOutputs(of(Side::candidate), candidate);
}

// What the other run does not have.
void OperandTrace::alone(Side side, const OpEvent& event) {
  if (!m_isOn) return;
  for (const OpOutput& output : event.outputs)
    if (output.tensor.defined()) of(side).forget(output.tensor);
}

std::optional<session::SiteOperands> OperandTrace::describe(const ExecutionIndex& index, const std::map<SiteKey, std::int64_t>& numbers) const {
  const auto op = m_ops.find(index);
  if (op == m_ops.end()) return std::nullopt;
  session::SiteOperands operands;
  operands.count = op->second.count;
  for (const Traced& traced : op->second.listed) {
    session::SiteOperand& operand = operands.listed.emplace_back(traced.operand);
    if (operand.from != From::site) continue;
    const auto number = numbers.find(traced.site);
    if (number == numbers.end())
      operand.from = From::unknown;
    else
      operand.site = number->second;
  }
  return operands;
}

}  // namespace ulpscope::engine
