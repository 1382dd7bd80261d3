#include "core/train/watched_step.h"

#include "core/train/gradient_probe.h"
#include "core/train/gradient_statistics.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace ulpscope::train {

at::Tensor scaledBy(const at::Tensor& loss, double scale) { return scale == 1 ? loss : loss * at::scalar_tensor(static_cast<float>(scale), at::kFloat); }

void backward(const std::vector<at::Tensor>& losses, const std::vector<std::vector<at::Tensor>>& inputs) {
  const at::AutoGradMode gradients(true);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const bool last = i + 1 == losses.size();
    torch::autograd::backward({losses[i]}, {at::ones_like(losses[i])}, /*retain_graph=*/!last, /*create_graph=*/false, inputs[i]);
  }
}

namespace {

using session::FirstNonfinite;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename F>
void backwardAgain(const DoneBatch& batch, const Losses& losses, F&& before) {
  const at::AutoGradMode gradients(true);
  for (const DoneBackward& done : batch.backwards)
    for (std::size_t i = 0; i < done.losses.size(); ++i) {
      before(done.losses[i]);
      const at::Tensor loss = scaledBy(losses.backward.at(done.losses[i]), done.scales[i]);
      torch::autograd::backward({loss}, {at::ones_like(loss)}, /*retain_graph=*/true, /*create_graph=*/false, done.inputs[i]);
    }
}

// Ops that write numbers the code gives: a mask's -inf is no result.
bool writesConstants(const std::string& op) {
  for (const char* name : {"aten::masked_fill", "aten::masked_fill_", "aten::full", "aten::full_like", "aten::fill", "aten::fill_", "aten::new_full", "aten::where", "aten::scalar_tensor", "aten::constant_pad_nd"})
    if (op == name) return true;
  return false;
}

struct Kind {
  bool nonfinite = false, nan = false;
  std::string text() const { return nan ? "NaN" : "inf"; }
};

Kind kindOf(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_floating_point() || tensor.layout() == at::kMkldnn) return {};
  const GradientStatistics s = statisticsOf(tensor, 0);
  return {s.nonfinite > 0, s.hasNan};
}

// What is not finite in forward: the op that made it of finite operands, and whether an output or a loss is.
class ForwardSearch {
 public:
  void take(const engine::OpEvent& event, bool inLoss) {
    if (!event.judged || m_origin) return;
    for (const engine::OpOutput& output : event.outputs) {
      const Kind kind = output.isView ? Kind{} : kindOf(output.tensor);
      if (!kind.nonfinite || writesConstants(event.op)) continue;
      Found found{siteOf(event), kind.text(), inLoss, output.tensor};
      bool clean = true, cleanOfNan = true;
      for (const engine::Operand& operand : event.operands) {
        const Kind before = kindOf(operand.tensor);
        clean = clean && !before.nonfinite;
        cleanOfNan = cleanOfNan && !before.nan;
      }
      if (clean || (kind.nan && cleanOfNan)) m_origin = found;
      if (!m_any) m_any = found;
      if (m_origin) return;
    }
  }

  // output and losses are what the step computed. Empty: both are finite.
  std::optional<FirstNonfinite> result(const c10::IValue& output, const std::vector<at::Tensor>& losses) const {
    bool badOutput = false, badLoss = false, made = false;
    const std::optional<Found>& found = m_origin ? m_origin : m_any;
    engine::forEachTensor(output, [&](const at::Tensor& t) {
      badOutput = badOutput || kindOf(t).nonfinite;
      made = made || (found && found->tensor.is_same(t));
    });
    Kind lossKind;
    for (const at::Tensor& loss : losses)
      if (const Kind kind = kindOf(loss); kind.nonfinite) badLoss = true, lossKind = kind;
    if (!badOutput && !badLoss) return std::nullopt;
    FirstNonfinite first;
    first.stage = !found ? (badOutput ? "output" : "loss") : found->inLoss ? "loss" : made ? "output" : "intermediate";
    first.kind = found ? found->kind : badLoss ? lossKind.text() : "inf";
    if (found) first.op = found->site.op, first.modulePath = found->site.modulePath, first.source = found->site.source, first.occurrence = found->site.occurrence;
    return first;
  }

 private:
  struct Found {
    ProbedSite site;
    std::string kind;
    bool inLoss;
    at::Tensor tensor;
  };
  std::optional<Found> m_origin, m_any;

  static ProbedSite siteOf(const engine::OpEvent& e) { return {false, e.index, 0, e.op, e.modulePath, e.source, e.occurrence}; }
};

// What is not finite in backward, in its order.
struct BackwardSearch {
  struct OfSite {
    ProbedSite site;
    std::string kind;
    int turn;
    std::optional<ProbedSite> maker;
  };
  struct OfParameter {
    std::size_t parameter;
    std::string kind;
    std::optional<ProbedSite> reader;
    int turn;
  };
  int turns = 0;  // non-finite gradients met so far
  std::map<std::size_t, OfSite> firstSite;  // by loss
  std::vector<OfParameter> parameters;
};

void fill(FirstNonfinite& first, const ProbedSite& site) {
  first.op = site.op;
  first.modulePath = site.modulePath;
  first.source = site.source;
  first.occurrence = site.occurrence;
}

class Explanation {
 public:
  explicit Explanation(const StepSubject& subject) : m_subject(subject) {}

  std::vector<std::optional<FirstNonfinite>> run() {
    std::vector<std::optional<FirstNonfinite>> found(m_subject.optimizers.size());
    noteGradients();
    std::optional<FirstNonfinite> common = ofInputs();
    if (!common) common = ofParameters();
    if (!common) {
      const AsideScope aside(m_subject.model);
      m_subject.start.restore(m_subject.model);
      for (const DoneBatch& batch : m_subject.batches)
        if (!common) common = again(batch);
    }
    for (std::size_t o = 0; o < found.size(); ++o) {
      if (common) found[o] = common;
      else found[o] = ofBackward(o);
      if (!found[o]) continue;
      found[o]->step = m_subject.step;
      if (found[o]->stage == "gradient") found[o]->parameter = firstParameter(o);
    }
    return found;
  }

 private:
  const StepSubject& m_subject;
  std::vector<Kind> m_gradients;  // one a parameter, as backward left them
  BackwardSearch m_backward;

  void noteGradients() {
    for (const NamedParameter& parameter : m_subject.model.parameters()) m_gradients.push_back(kindOf(parameter.tensor.grad()));
  }

  std::optional<FirstNonfinite> ofInputs() const {
    for (const DoneBatch& batch : m_subject.batches)
      for (const auto& [name, value] : engine::argumentsFor(m_subject.frame.set, batch.batch.rows)) {
        if (!value.isTensor()) continue;
        const Kind kind = kindOf(value.toTensor());
        if (!kind.nonfinite) continue;
        FirstNonfinite first;
        first.stage = "input";
        first.source = "input " + name;
        first.kind = kind.text();
        return first;
      }
    return std::nullopt;
  }

  std::optional<FirstNonfinite> ofParameters() const {
    for (const NamedParameter& parameter : m_subject.model.parameters()) {
      const Kind kind = kindOf(parameter.tensor);
      if (!kind.nonfinite) continue;
      FirstNonfinite first;
      first.stage = "parameter";
      first.parameter = parameter.name;
      first.kind = kind.text();
      return first;
    }
    return std::nullopt;
  }

  // Empty: the forward is finite, and what backward gave is noted.
  std::optional<FirstNonfinite> again(const DoneBatch& batch) {
    GradientProbe probe(m_subject.model);
    ForwardSearch forward;
    std::size_t loss = 0;
    probe.onForward = [&](const engine::OpEvent& event, std::size_t) { forward.take(event, event.modulePath == kLossModule || event.modulePath.rfind(std::string(kLossModule) + ".", 0) == 0); };
    const c10::IValue output = m_subject.pass.forward(batch.batch, batch.forward, probe.forwardSink());
    const Losses losses = m_subject.pass.loss(output, batch.batch, batch.loss, probe.lossSink());
    m_subject.pass.endAutocast();
    if (auto found = forward.result(output, losses.whole)) return found;
    probe.onForward = {};
    probe.onSite = [&](std::size_t site, const at::Tensor& gradient) {
      const Kind kind = kindOf(gradient);
      if (!kind.nonfinite) return;
      const ProbedSite* maker = probe.consumerOf(site);
      m_backward.firstSite.try_emplace(loss, BackwardSearch::OfSite{probe.sites()[site], kind.text(), m_backward.turns++, maker ? std::optional(*maker) : std::nullopt});
    };
    probe.onParameter = [&](std::size_t parameter, const at::Tensor& gradient) {
      const Kind kind = kindOf(gradient);
      if (!kind.nonfinite) return;
      const ProbedSite* reader = probe.readerOf(parameter);
      m_backward.parameters.push_back({parameter, kind.text(), reader ? std::optional(*reader) : std::nullopt, m_backward.turns++});
    };
    backwardAgain(batch, losses, [&](std::size_t number) { loss = number; });
    return std::nullopt;
  }

  bool takes(std::size_t optimizer, std::size_t parameter) const {
    for (const std::size_t p : m_subject.optimizers[optimizer].parameters)
      if (p == parameter) return true;
    return false;
  }

  const BackwardSearch::OfParameter* firstInBackward(std::size_t optimizer) const {
    for (const auto& found : m_backward.parameters)
      if (takes(optimizer, found.parameter)) return &found;
    return nullptr;
  }

  std::string firstParameter(std::size_t optimizer) const {
    if (const auto* found = firstInBackward(optimizer)) return m_subject.model.parameters()[found->parameter].name;
    for (const std::size_t p : m_subject.optimizers[optimizer].parameters)
      if (m_gradients[p].nonfinite) return m_subject.model.parameters()[p].name;
    return "";
  }

  std::optional<FirstNonfinite> ofBackward(std::size_t optimizer) const {
    Kind own;
    for (const std::size_t p : m_subject.optimizers[optimizer].parameters)
      if (m_gradients[p].nonfinite) own.nonfinite = true, own.nan = own.nan || m_gradients[p].nan;
    if (!own.nonfinite) return std::nullopt;
    FirstNonfinite first;
    first.stage = "gradient";
    first.kind = own.text();
    const auto site = m_backward.firstSite.find(static_cast<std::size_t>(m_subject.optimizers[optimizer].recipe.loss));
    const auto* parameter = firstInBackward(optimizer);
    const bool hasSite = site != m_backward.firstSite.end();
    // A weight's gradient comes before that of the op's input: where both overflow, the op that read the weight is the first.
    if (parameter && parameter->reader && (!hasSite || parameter->turn < site->second.turn)) {
      fill(first, *parameter->reader);
      first.kind = parameter->kind;
      first.ofParameter = true;
    } else if (hasSite) {
      fill(first, site->second.site);
      first.kind = site->second.kind;
      if (const auto& maker = site->second.maker) first.makerOp = maker->op, first.makerModule = maker->modulePath, first.makerSource = maker->source;
    }
    return first;
  }
};

}  // namespace

std::vector<std::optional<FirstNonfinite>> explainNonfinite(const StepSubject& subject) { return Explanation(subject).run(); }

namespace {

// Gradients of one pass by site, those of several losses added.
struct PassGradients {
  std::vector<ProbedSite> sites;
  std::map<std::size_t, at::Tensor> bySite;
  std::vector<double> zeroShares;  // one a parameter
};

PassGradients gradientsOf(const StepSubject& subject, ForwardPass& pass, const DoneBatch& batch) {
  const AsideScope aside(subject.model);
  subject.start.restore(subject.model);
  PassGradients found;
  GradientProbe probe(subject.model);
  probe.onSite = [&](std::size_t site, const at::Tensor& gradient) {
    const at::NoGradGuard noGrad;
    at::Tensor& kept = found.bySite[site];
    const at::Tensor wide = (gradient.is_sparse() ? gradient.to_dense() : gradient).detach().to(at::kDouble);
    kept = kept.defined() ? kept + wide : wide;
  };
  const c10::IValue output = pass.forward(batch.batch, batch.forward, probe.forwardSink());
  const Losses losses = pass.loss(output, batch.batch, batch.loss, probe.lossSink());
  pass.endAutocast();
  backwardAgain(batch, losses, [](std::size_t) {});
  found.sites = probe.sites();
  for (const NamedParameter& parameter : subject.model.parameters()) {
    const at::Tensor& gradient = parameter.tensor.grad();
    if (!gradient.defined()) {
      found.zeroShares.push_back(kNan);
      continue;
    }
    const GradientStatistics s = statisticsOf(gradient, 0);
    found.zeroShares.push_back(s.share(s.zeros));
  }
  return found;
}

session::GradientSite siteRecord(const ProbedSite& site, const at::Tensor& gradient, const at::Tensor& reference, double scale) {
  const at::NoGradGuard noGrad;
  session::GradientSite record{site.op, site.modulePath, site.source, site.occurrence};
  const GradientStatistics whole = statisticsOf(gradient, 0);
  const at::Tensor unscaled = gradient / scale;
  record.zeroShare = whole.share(whole.zeros);
  record.nonfiniteShare = whole.share(whole.nonfinite);
  record.norm = std::sqrt(statisticsOf(unscaled, 0).squares);
  record.referenceNorm = std::sqrt(statisticsOf(reference, 0).squares);
  const bool comparable = whole.nonfinite == 0 && record.referenceNorm > 0 && unscaled.sizes() == reference.sizes();
  record.relL2 = comparable ? std::sqrt(squaredDistance(unscaled, reference)) / record.referenceNorm : kNan;
  return record;
}

}  // namespace

FirstStepGradients compareGradients(const StepSubject& subject, ForwardPass& fp32, const DoneBatch& batch) {
  DoneBatch plain = batch;
  plain.forward = plain.loss = ForwardPass::Autocast::off;
  for (DoneBackward& done : plain.backwards) done.scales.assign(done.scales.size(), 1.0);
  const PassGradients reference = gradientsOf(subject, fp32, plain), own = gradientsOf(subject, subject.pass, batch);
  std::map<std::tuple<bool, engine::ExecutionIndex, int>, std::size_t> known;
  for (std::size_t i = 0; i < reference.sites.size(); ++i) known.emplace(std::tuple(reference.sites[i].inLoss, reference.sites[i].index, reference.sites[i].output), i);
  const double scale = batch.backwards.empty() || batch.backwards.front().scales.empty() ? 1 : batch.backwards.front().scales.front();
  FirstStepGradients found{{}, own.zeroShares, reference.zeroShares};
  for (std::size_t i = 0; i < own.sites.size(); ++i) {
    const ProbedSite& site = own.sites[i];
    const auto at = known.find({site.inLoss, site.index, site.output});
    const auto gradient = own.bySite.find(i);
    if (at == known.end() || gradient == own.bySite.end() || reference.sites[at->second].op != site.op) continue;
    const auto expected = reference.bySite.find(at->second);
    if (expected != reference.bySite.end()) found.sites.push_back(siteRecord(site, gradient->second, expected->second, scale));
  }
  return found;
}

}  // namespace ulpscope::train
