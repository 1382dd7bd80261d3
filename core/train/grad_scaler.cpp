#include "core/train/grad_scaler.h"

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <type_traits>

namespace ulpscope::train {
namespace {

using Kind = ScalerError::Kind;

void require(bool condition, Kind kind, const std::string& words) {
  if (!condition) throw ScalerError(kind, words);
}

// PyTorch's inv_scale: the reciprocal in float64, then float32.
float inverseOf(float scale) { return static_cast<float>(1.0 / static_cast<double>(scale)); }

template <typename T>
bool unscaleElements(T* values, std::int64_t count, float inverse) {
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) finite &= std::isfinite(static_cast<Compute>(values[i]));
  if (inverse != 1.0F)
    for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<Compute>(values[i]) * inverse);
  return !finite;
}

// The elements of a sparse gradient are its values.
at::Tensor elementsOf(const at::Tensor& gradient) { return gradient.is_sparse() ? gradient._values() : gradient; }

template <typename F>
void forEachGradient(const torch::optim::Optimizer& optimizer, F&& visit) {
  for (const auto& group : optimizer.param_groups())
    for (const at::Tensor& parameter : group.params())
      if (parameter.grad().defined()) visit(parameter.grad());
}

double entry(const std::map<std::string, double>& state, const std::string& key) {
  const auto found = state.find(key);
  require(found != state.end(), Kind::key, "'" + key + "'");
  return found->second;
}

}  // namespace

bool checkFiniteAndUnscale(at::Tensor gradient, float inverse) {
  const at::NoGradGuard noGrad;
  const at::Tensor elements = elementsOf(gradient);
  const at::Tensor dense = elements.contiguous();
  bool found = false;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dense.scalar_type(), "_amp_foreach_non_finite_check_and_unscale_",
                                  [&] { found = unscaleElements(dense.data_ptr<scalar_t>(), dense.numel(), inverse); });
  if (!dense.is_same(elements)) elements.detach().copy_(dense);
  return found;
}

GradScaler::GradScaler(const Options& options) : m_options(options), m_initScale(options.initScale) {
  if (!options.enabled) return;
  require(options.growthFactor > 1, Kind::assertion, "The growth factor must be > 1.0.");
  require(options.backoffFactor < 1, Kind::assertion, "The backoff factor must be < 1.0.");
}

void GradScaler::requireScale(const std::string& function) const {
  require(m_scale.has_value(), Kind::assertion,
          "Attempted " + function + " but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.");
}

void GradScaler::makeScale() {
  if (m_scale) return;
  m_scale = static_cast<float>(m_initScale);
  m_tracker = static_cast<std::int32_t>(m_initTracker);
}

at::Tensor GradScaler::scale(const at::Tensor& output) {
  if (!m_options.enabled) return output;
  makeScale();
  return output * at::scalar_tensor(*m_scale, at::kFloat);
}

std::vector<at::Tensor> GradScaler::scale(const std::vector<at::Tensor>& outputs) {
  std::vector<at::Tensor> scaled;
  for (const at::Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

void GradScaler::unscale_(torch::optim::Optimizer& optimizer) {
  if (!m_options.enabled) return;
  requireScale("unscale_");
  OptimizerState& state = m_optimizers[&optimizer];
  require(state.stage != Stage::unscaled, Kind::runtime, "unscale_() has already been called on this optimizer since the last update().");
  require(state.stage != Stage::stepped, Kind::runtime, "unscale_() is being called after step().");
  forEachGradient(optimizer, [](const at::Tensor& g) { require(g.scalar_type() != at::kHalf, Kind::value, "Attempting to unscale FP16 gradients."); });
  const float inverse = inverseOf(*m_scale);
  std::optional<bool> found;
  forEachGradient(optimizer, [&](const at::Tensor& g) { found = checkFiniteAndUnscale(g, inverse) || found.value_or(false); });
  state = {Stage::unscaled, found};
}

GradScaler::Step GradScaler::step(torch::optim::Optimizer& optimizer) {
  if (!m_options.enabled) return {true, optimizer.step()};
  requireScale("step");
  require(m_optimizers[&optimizer].stage != Stage::stepped, Kind::runtime, "step() has already been called since the last update().");
  if (m_optimizers[&optimizer].stage == Stage::ready) unscale_(optimizer);
  OptimizerState& state = m_optimizers[&optimizer];
  require(state.foundInf.has_value(), Kind::assertion, "No inf checks were recorded for this optimizer.");
  Step result;
  result.applied = !*state.foundInf;
  if (result.applied) result.value = optimizer.step();
  state.stage = Stage::stepped;
  return result;
}

// _amp_update_scale_: the products are those of a float and a double, rounded to float.
void GradScaler::move(bool foundInf) {
  if (foundInf) {
    m_scale = static_cast<float>(*m_scale * m_options.backoffFactor);
    m_tracker = 0;
    return;
  }
  const std::int32_t successful = m_tracker + 1;
  if (successful != m_options.growthInterval) {
    m_tracker = successful;
    return;
  }
  const float grown = static_cast<float>(*m_scale * m_options.growthFactor);
  if (m_options.series == Series::v1_13 || std::isfinite(grown)) m_scale = grown;
  m_tracker = 0;
}

void GradScaler::update() {
  if (!m_options.enabled) return;
  requireScale("update");
  bool any = false, found = false;
  for (const auto& [optimizer, state] : m_optimizers) {
    any = any || state.foundInf.has_value();
    found = found || state.foundInf.value_or(false);
  }
  require(any, Kind::assertion, "No inf checks were recorded prior to update.");
  move(found);
  m_optimizers.clear();
}

void GradScaler::update(double newScale) {
  if (!m_options.enabled) return;
  requireScale("update");
  m_scale = static_cast<float>(newScale);
  m_optimizers.clear();
}

void GradScaler::update(const at::Tensor& newScale) {
  if (!m_options.enabled) return;
  requireScale("update");
  const bool fits = newScale.scalar_type() == at::kFloat && newScale.numel() == 1 && !newScale.requires_grad();
  require(fits, Kind::assertion, "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False.");
  update(static_cast<double>(newScale.item<float>()));
}

double GradScaler::getScale() const {
  if (!m_options.enabled) return 1;
  return m_scale ? static_cast<double>(*m_scale) : m_initScale;
}

std::int64_t GradScaler::growthTracker() const {
  if (!m_options.enabled) return 0;
  return m_scale ? m_tracker : m_initTracker;
}

std::map<std::string, double> GradScaler::stateDict() const {
  if (!m_options.enabled) return {};
  return {{"scale", getScale()},
          {"growth_factor", m_options.growthFactor},
          {"backoff_factor", m_options.backoffFactor},
          {"growth_interval", static_cast<double>(m_options.growthInterval)},
          {"_growth_tracker", static_cast<double>(growthTracker())}};
}

void GradScaler::loadStateDict(const std::map<std::string, double>& state) {
  if (!m_options.enabled) return;
  require(!state.empty(), Kind::runtime, "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.");
  const double scale = entry(state, "scale");
  const Options loaded{m_options.initScale, entry(state, "growth_factor"), entry(state, "backoff_factor"), static_cast<std::int64_t>(entry(state, "growth_interval")), true, m_options.series};
  m_initTracker = static_cast<std::int64_t>(entry(state, "_growth_tracker"));
  m_initScale = scale;
  m_options = loaded;
  if (!m_scale) return;
  m_scale = static_cast<float>(scale);
  m_tracker = static_cast<std::int32_t>(m_initTracker);
}

std::optional<bool> GradScaler::foundInf(const torch::optim::Optimizer& optimizer) const {
  const auto found = m_optimizers.find(&optimizer);
  return found == m_optimizers.end() ? std::nullopt : found->second.foundInf;
}

}  // namespace ulpscope::train
