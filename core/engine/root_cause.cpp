#include "core/engine/root_cause.h"

#include "core/base/float_formats.h"
#include "core/base/number_text.h"
#include "core/engine/interception.h"
#include "core/engine/output_rules.h"
#include "core/engine/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace ulpscope::engine {
namespace {

constexpr std::size_t kBudget = std::size_t{2} << 30;  // bytes kept of all ops; beyond it nothing is looked for
constexpr double kRoundings = 8;                       // a relative error below so many unit roundoffs is the ordinary one
constexpr double kCarries = 0.25;                      // an operand is the carrier where it is at least so wrong as what came of it
constexpr int kGuardsAbove = 8;                        // ops looked at for a lost bound before the place where the value was lost
constexpr double kInf = std::numeric_limits<double>::infinity();

double unitRoundoff(base::DType low) { return std::ldexp(1.0, -base::limits(low).mantissaBits - 1); }

struct Pair {
  at::Tensor reference, candidate;
};

struct Link {
  std::string name;
  Pair value;
  std::ptrdiff_t producer = -1;  // node; -1: an input, a parameter, a constant
  int output = 0;
};

struct Node {
  ExecutionIndex index;
  session::RootCause place;
  base::DType low = base::DType::float16;
  std::optional<c10::OperatorHandle> handle;
  std::vector<c10::IValue> arguments;  // the reference's
  std::vector<Link> operands = {};
  std::vector<Pair> outputs = {};
  std::vector<bool> isView = {};
};

at::Tensor wide(const at::Tensor& t, const at::Tensor& mask) { return t.masked_select(mask).to(at::kDouble); }

// Relative L2 over the masked elements that are finite in both; +inf where the candidate alone is not.
double wrongness(const Pair& pair, const at::Tensor& mask) {
  if (!mask.any().item<bool>()) return 0;
  const at::Tensor a = wide(pair.reference, mask), b = wide(pair.candidate, mask);
  const at::Tensor known = a.isfinite();
  if ((known & b.isfinite().logical_not()).any().item<bool>()) return kInf;
  const double size = a.masked_select(known).norm().item<double>();
  const double error = (b - a).masked_select(known).norm().item<double>();
  return size > 0 ? error / size : error > 0 ? kInf : 0;
}

bool comparable(const Pair& pair) {
  return isReadable(pair.reference) && isReadable(pair.candidate) && pair.reference.is_floating_point() && pair.candidate.is_floating_point() &&
         pair.reference.sizes() == pair.candidate.sizes();
}

bool isPointwise(const std::string& op) {
  const auto rule = outputRule(op);
  if (rule && rule->kind == OutputRule::Kind::promote && rule->special == OutputRule::Special::none) return true;
  for (const char* name : {"to", "_to_copy", "clone", "contiguous", "detach", "where", "masked_fill", "copy_", "nan_to_num", "lerp"})
    if (op == std::string("aten::") + name) return true;
  return false;
}

// Of a mask over a broadcast result, the elements of an operand of `shape`.
at::Tensor unbroadcast(at::Tensor mask, at::IntArrayRef shape) {
  while (mask.dim() > static_cast<std::int64_t>(shape.size())) mask = mask.any(0);
  for (std::int64_t d = 0; d < mask.dim(); ++d)
    if (shape[static_cast<std::size_t>(d)] == 1 && mask.size(d) != 1) mask = mask.any(d, /*keepdim=*/true);
  return mask;
}

// Runs a view on element numbers instead of elements: which of them lie under the mask.
at::Tensor throughView(const Node& node, std::size_t operand, const at::Tensor& mask) {
  const at::Tensor& from = node.operands[operand].value.reference;
  const at::Tensor numbers = at::arange(from.numel(), at::kLong).view(from.sizes());
  torch::jit::Stack stack;
  std::size_t at = 0;
  for (const c10::IValue& argument : node.arguments)
    stack.push_back(mapTensors(argument, [&](const at::Tensor& t) { return at++ == operand ? numbers : t; }));
  node.handle->callBoxed(&stack);
  const at::Tensor seen = stack.front().toTensor().masked_select(mask);
  return at::zeros({from.numel()}, at::kBool).index_fill_(0, seen, true).view(from.sizes());
}

// The elements of an operand that the masked ones of the result are made of; all where that cannot be told.
at::Tensor upstream(const Node& node, std::size_t operand, int output, const at::Tensor& mask) {
  const at::Tensor& from = node.operands[operand].value.reference;
  if (isPointwise(node.place.op)) {
    const at::Tensor narrowed = unbroadcast(mask, from.sizes());
    if (narrowed.sizes() == from.sizes()) return narrowed;
  }
  if (node.isView[static_cast<std::size_t>(output)] || node.place.op == "aten::reshape") try {
      return throughView(node, operand, mask);
    } catch (const std::exception&) {  // not a view of this operand
    }
  return at::ones(from.sizes(), at::kBool);
}

std::vector<double> scalarsOf(const Node& node) {
  std::vector<double> scalars;
  const auto& declared = node.handle->schema().arguments();
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const c10::IValue& value = node.arguments[i];
    if (declared[i].name() == "alpha" || declared[i].name() == "beta") continue;
    if (value.isScalar() && !value.isBool()) scalars.push_back(value.toScalar().toDouble());
  }
  for (const Link& link : node.operands)
    if (link.producer < 0 && link.value.reference.defined() && link.value.reference.dim() == 0 && link.value.reference.is_floating_point())
      scalars.push_back(link.value.reference.to(at::kDouble).item<double>());
  return scalars;
}

bool opIs(const Node& node, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return node.place.op == std::string("aten::") + n || node.place.op == std::string("aten::") + n + "_"; });
}

bool allEqual(const at::Tensor& values, double to) { return values.numel() > 0 && values.eq(to).all().item<bool>(); }

// FP32 stands at the bound there, the candidate at what rounding made of it.
std::string lostBound(const Node& node, const Pair& out, const at::Tensor& mask) {
  if (!opIs(node, {"clamp", "clamp_min", "clamp_max", "hardtanh", "maximum", "minimum", "threshold"})) return "";
  const at::Tensor a = wide(out.reference, mask), b = wide(out.candidate, mask);
  for (const double bound : scalarsOf(node)) {
    const double rounded = base::roundTo(node.low, bound);
    if (rounded != bound && allEqual(a, static_cast<double>(static_cast<float>(bound))) && allEqual(b, rounded))
      return fmt::format("its bound {} rounds to {} in {}", base::exactNumber(bound), base::exactNumber(rounded), base::name(node.low));
  }
  return "";
}

// FP32's result is another number than the operand there, the candidate's is the operand.
std::string lostAddend(const Node& node, const Pair& out, const at::Tensor& mask) {
  const std::vector<double> scalars = scalarsOf(node);
  if (!opIs(node, {"add", "sub"}) || scalars.size() != 1 || scalars.front() == 0 || node.operands.empty()) return "";
  const Pair& in = node.operands.front().value;
  if (!comparable(in) || in.reference.sizes() != out.reference.sizes()) return "";
  if (wide(in.reference, mask).eq(wide(out.reference, mask)).any().item<bool>() || wide(in.candidate, mask).ne(wide(out.candidate, mask)).any().item<bool>()) return "";
  const std::string addend = base::exactNumber(scalars.front());
  if (base::roundTo(node.low, scalars.front()) == 0) return fmt::format("its {} rounds to 0 in {}", addend, base::name(node.low));
  return fmt::format("its {} is lost beside {} in {}", addend, base::shortNumber(wide(in.candidate, mask).abs().max().item<double>()), base::name(node.low));
}

std::string lostGuard(const Node& node, int output, const at::Tensor& mask) {
  const Pair& out = node.outputs[static_cast<std::size_t>(output)];
  if (!node.handle || !comparable(out)) return "";
  const std::string bound = lostBound(node, out, mask);
  return bound.empty() ? lostAddend(node, out, mask) : bound;
}

std::string whyLost(const Node& node, int output, const at::Tensor& mask) {
  const Pair& out = node.outputs[static_cast<std::size_t>(output)];
  const base::FormatLimits& limits = base::limits(node.low);
  const at::Tensor a = wide(out.reference, mask), b = wide(out.candidate, mask);
  const at::Tensor flushed = a.masked_select(b.eq(0) & a.ne(0)).abs();
  if (flushed.numel() > 0 && flushed.max().item<double>() <= limits.minSubnormal / 2)
    return fmt::format("its result underflows: |x| = {} in FP32, the smallest {} is {}", base::shortNumber(flushed.max().item<double>()), base::name(node.low),
                       base::shortNumber(limits.minSubnormal));
  const double roundoff = unitRoundoff(node.low);
  if (opIs(node, {"add", "sub", "rsub"}) && comparable(node.operands.front().value)) {
    const Pair& in = node.operands.front().value;
    const double size = wide(in.reference, upstream(node, 0, output, mask)).abs().max().item<double>();
    return fmt::format("its operands cancel: {} is left of {}, and {} rounds that by up to {}", base::shortNumber(a.abs().max().item<double>()), base::shortNumber(size),
                       base::name(node.low), base::shortNumber(size * roundoff));
  }
  return fmt::format("relative error {} there, where one rounding makes {}", base::shortNumber(wrongness(out, mask)), base::shortNumber(roundoff));
}

}  // namespace

struct RootCauseSearch::Trace {
  std::vector<Node> nodes;
  struct Made {
    at::Tensor alive;  // so that its address is no other tensor's
    std::ptrdiff_t node;
    int output;
  };
  std::unordered_map<const void*, Made> producers;  // of the reference's tensors
  std::size_t bytes = 0;

  // Step on the way back: a node, and which elements of its output are meant.
  struct Step {
    std::ptrdiff_t node;
    int output;
    at::Tensor mask;
  };

  bool full() const { return bytes > kBudget; }
  const Node& of(const Step& step) const { return nodes[static_cast<std::size_t>(step.node)]; }

  at::Tensor copied(const at::Tensor& t) {
    bytes += t.nbytes();
    return t.clone();
  }

  Link linkOf(const OpEvent& reference, const OpEvent& candidate, std::size_t i) const {
    Link link{reference.operands[i].name, {reference.operands[i].tensor, candidate.operands[i].tensor}};
    const auto made = producers.find(link.value.reference.unsafeGetTensorImpl());
    if (made == producers.end()) return link;
    link.producer = made->second.node;
    link.output = made->second.output;
    // As it was made: the tensor itself may be written later on.
    link.value = nodes[static_cast<std::size_t>(link.producer)].outputs[static_cast<std::size_t>(link.output)];
    return link;
  }

  // What the op wrote no longer is what made it, nor are its views.
  void forgetWritten(const OpEvent& reference) {
    const auto& declared = reference.handle->schema().arguments();
    for (std::size_t i = 0; i < declared.size() && i < reference.arguments.size(); ++i) {
      if (!declared[i].alias_info() || !declared[i].alias_info()->isWrite()) continue;
      for (const OpOutput& output : reference.outputs)
        std::erase_if(producers, [&](const auto& entry) { return output.tensor.defined() && output.tensor.has_storage() && entry.second.alive.has_storage() && entry.second.alive.storage().is_alias_of(output.tensor.storage()); });
    }
  }

  // The operand that is most wrong under the step's elements, if it is wrong enough to have caused `error`.
  std::optional<Step> carrier(const Step& step, double error, double* found) const {
    const Node& node = of(step);
    const double roundoff = unitRoundoff(node.low);
    std::optional<Step> worst;
    *found = std::max(kRoundings * roundoff, std::isinf(error) ? 0 : kCarries * error);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Link& link = node.operands[i];
      if (link.producer < 0 || !comparable(link.value)) continue;
      const at::Tensor mask = upstream(node, i, step.output, step.mask);
      const double wrong = wrongness(link.value, mask);
      if (!(wrong >= *found)) continue;
      *found = wrong;
      worst = Step{link.producer, link.output, mask};
    }
    return worst;
  }

  // A bound that was lost in the ops before a step, along operands whose elements can be followed.
  std::optional<session::RootCause> guardBefore(const Step& step, int depth) const {
    const Node& node = of(step);
    if (const std::string why = lostGuard(node, step.output, step.mask); !why.empty()) {
      session::RootCause cause = node.place;
      cause.why = why;
      return cause;
    }
    if (depth == 0 || !isPointwise(node.place.op)) return std::nullopt;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Link& link = node.operands[i];
      if (link.producer < 0 || !comparable(link.value)) continue;
      if (auto guard = guardBefore({link.producer, link.output, upstream(node, i, step.output, step.mask)}, depth - 1)) return guard;
    }
    return std::nullopt;
  }
};

RootCauseSearch::RootCauseSearch(SiteKey origin) : m_origin(std::move(origin)), m_trace(std::make_unique<Trace>()) {}
RootCauseSearch::~RootCauseSearch() = default;

void RootCauseSearch::meet(OpEvent& reference, OpEvent& candidate) {
  const OwnCalls own;
  Trace& trace = *m_trace;
  if (trace.full() || !reference.handle || reference.op != candidate.op || reference.outputs.size() != candidate.outputs.size() ||
      reference.operands.size() != candidate.operands.size())
    return;
  Node node{reference.index, {reference.op, reference.modulePath, reference.source, reference.occurrence, ""}, dtypeOf(candidate.low), reference.handle, reference.arguments};
  for (std::size_t i = 0; i < reference.operands.size(); ++i) node.operands.push_back(trace.linkOf(reference, candidate, i));
  trace.forgetWritten(reference);
  for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
    const at::Tensor& a = reference.outputs[i].tensor;
    const at::Tensor& b = candidate.outputs[i].tensor;
    const bool kept = a.defined() && b.defined() && isReadable(a) && isReadable(b);
    node.outputs.push_back(kept ? Pair{trace.copied(a), trace.copied(b)} : Pair{});
    node.isView.push_back(reference.outputs[i].isView);
    if (kept) trace.producers.insert_or_assign(a.unsafeGetTensorImpl(), Trace::Made{a, static_cast<std::ptrdiff_t>(trace.nodes.size()), static_cast<int>(i)});
  }
  trace.nodes.push_back(std::move(node));
}

std::optional<session::RootCause> RootCauseSearch::found() const {
  const OwnCalls own;
  const Trace& trace = *m_trace;
  const auto origin = std::find_if(trace.nodes.begin(), trace.nodes.end(), [&](const Node& n) { return n.index == m_origin.index; });
  if (trace.full() || origin == trace.nodes.end() || static_cast<std::size_t>(m_origin.output) >= origin->outputs.size()) return std::nullopt;
  const Pair& out = origin->outputs[static_cast<std::size_t>(m_origin.output)];
  if (!comparable(out)) return std::nullopt;
  const at::Tensor mask = out.candidate.isfinite().logical_not() & out.reference.isfinite();
  if (!mask.any().item<bool>()) return std::nullopt;
  Trace::Step step{origin - trace.nodes.begin(), m_origin.output, mask};
  double error = kInf;
  for (bool first = true;; first = false) {
    if (auto guard = trace.guardBefore(step, 0); guard && !first) return guard;
    const auto next = trace.carrier(step, error, &error);
    if (!next) break;
    step = *next;
  }
  if (auto guard = trace.guardBefore(step, kGuardsAbove)) return guard;
  if (step.node == origin - trace.nodes.begin()) return std::nullopt;
  session::RootCause cause = trace.of(step).place;
  cause.why = whyLost(trace.of(step), step.output, step.mask);
  return cause;
}

}  // namespace ulpscope::engine
