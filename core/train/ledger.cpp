#include "core/train/ledger.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>

namespace ulpscope::train {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Ledger::Ledger(const TrainingModel& model, const std::vector<TrainedOptimizer>& optimizers, double tiny)
    : m_model(model), m_optimizers(optimizers), m_tiny(tiny), m_owners(model.parameters().size(), -1) {
  for (std::size_t o = 0; o < optimizers.size(); ++o)
    for (const std::size_t i : optimizers[o].parameters) m_owners[i] = static_cast<int>(o);
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    session::ParameterGradients gradients;
    gradients.name = model.parameters()[i].name;
    gradients.optimizer = m_owners[i] < 0 ? "" : optimizers[static_cast<std::size_t>(m_owners[i])].recipe.name;
    gradients.absent = true;
    m_parameters.push_back(std::move(gradients));
  }
}

std::vector<OptimizerTally> Ledger::lookAtGradients() {
  std::vector<OptimizerTally> tallies(m_optimizers.size());
  for (std::size_t i = 0; i < m_parameters.size(); ++i) {
    session::ParameterGradients& p = m_parameters[i];
    const at::Tensor& gradient = m_model.parameters()[i].tensor.grad();
    if (!gradient.defined()) {
      for (auto* column : {&p.zero, &p.subnormal, &p.nonfinite}) column->push_back(kNone);
      continue;
    }
    const GradientStatistics s = statisticsOf(gradient, m_tiny);
    p.absent = false;
    p.zero.push_back(static_cast<float>(s.share(s.zeros)));
    p.subnormal.push_back(static_cast<float>(s.share(s.subnormals)));
    p.nonfinite.push_back(static_cast<float>(s.share(s.nonfinite)));
    if (m_owners[i] >= 0) tallies[static_cast<std::size_t>(m_owners[i])].gradients += s;
  }
  return tallies;
}

void Ledger::lookAtNothing() {
  for (session::ParameterGradients& p : m_parameters)
    for (auto* column : {&p.zero, &p.subnormal, &p.nonfinite}) column->push_back(kNone);
}

double Ledger::gradientNorm(const TrainedOptimizer& optimizer) {
  double squares = 0;
  for (const at::Tensor& parameter : optimizer.tensors)
    if (parameter.grad().defined()) squares += statisticsOf(parameter.grad(), 0).squares;
  return std::sqrt(squares);
}

void UpdateMeter::before(const TrainedOptimizer& optimizer) {
  const at::NoGradGuard noGrad;
  m_before.resize(optimizer.tensors.size());
  for (std::size_t i = 0; i < m_before.size(); ++i) {
    const at::Tensor& now = optimizer.tensors[i];
    if (m_before[i].defined() && m_before[i].sizes() == now.sizes()) m_before[i].copy_(now);
    else m_before[i] = now.detach().clone();
  }
}

double UpdateMeter::norm(const TrainedOptimizer& optimizer) const {
  double squares = 0;
  for (std::size_t i = 0; i < m_before.size(); ++i) squares += squaredDistance(optimizer.tensors[i], m_before[i]);
  return std::sqrt(squares);
}

}  // namespace ulpscope::train
