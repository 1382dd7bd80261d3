#include "core/engine/scan_inputs.h"

#include "core/engine/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Status;

bool isOwn(const InputTensor& input) { return input.tensor.defined() && input.sampleAxis >= 0; }

std::string dtypeText(const InputTensor& input) { return input.tensor.defined() ? base::name(dtypeOf(input.tensor.scalar_type())) : std::string(); }

Error cannotMove(const std::string& name, const InputTensor& input, const std::string& what) {
  return {ErrorKind::input, fmt::format("input '{}' is {}, which cannot be interpolated, and {}", name, dtypeText(input), what), "the scan",
          "choose samples in which it is the same, or wrap the model so that forward takes what it is turned into (an embedding, say)"};
}

}  // namespace

at::Tensor ScanInputs::rowOf(const InputTensor& input, std::int64_t sample) const { return input.tensor.select(input.sampleAxis, sample).contiguous(); }

Status ScanInputs::addTowards(const std::vector<std::int64_t>& samples) {
  Way way{samples.front(), {}};
  for (const auto& [name, input] : m_set.inputs) {
    if (!isOwn(input)) continue;
    std::vector<HeldView> rows;
    std::vector<analysis::TensorView> ends;
    for (const std::int64_t sample : samples) rows.push_back(viewOf(rowOf(input, sample)));
    for (std::size_t i = 1; i < rows.size(); ++i) ends.push_back(rows[i].view);
    const analysis::TensorView& start = rows.front().view;
    if (std::all_of(ends.begin(), ends.end(), [&](const auto& end) { return analysis::sameElements(start, end); })) continue;
    if (!input.tensor.is_floating_point()) return cannotMove(name, input, "it differs between the samples");
    if (std::any_of(ends.begin(), ends.end(), [&](const auto& end) { return analysis::hasGap(start, end); }))
      return Error{ErrorKind::input, fmt::format("input '{}' is NaN or infinite in one of the samples and not in another, and nothing lies between those", name), "the scan", "choose other samples"};
    way.paths.emplace(name, analysis::InputPath::towards(start, ends));
  }
  if (way.paths.empty()) return Error{ErrorKind::usage, "the samples hold the same inputs, so nothing lies between them", "the scan", "choose different samples"};
  m_ways.push_back(std::move(way));
  return base::success();
}

void ScanInputs::addAlong(std::int64_t sample, const std::map<std::string, std::vector<double>>& directions) {
  Way way{sample, {}};
  for (const auto& [name, direction] : directions) way.paths.emplace(name, analysis::InputPath::along(viewOf(rowOf(m_set.inputs.at(name), sample)).view, direction));
  m_ways.push_back(std::move(way));
}

at::Tensor ScanInputs::stacked(const std::string& name, const InputTensor& input, const std::vector<PointOnWay>& points) const {
  const at::Tensor first = rowOf(input, m_ways.at(points.front().way).sample);
  std::vector<std::int64_t> shape = first.sizes().vec();
  shape.insert(shape.begin(), static_cast<std::int64_t>(points.size()));
  at::Tensor rows = at::empty(shape, first.options());
  auto* out = static_cast<std::byte*>(rows.data_ptr());
  for (const PointOnWay& point : points) {
    const std::vector<std::byte> bytes = m_ways.at(point.way).paths.at(name).at(point.coefficients);
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
    out += bytes.size();
  }
  return rows.movedim(0, input.sampleAxis).contiguous();
}

Arguments ScanInputs::argumentsFor(const std::vector<PointOnWay>& points) const {
  std::vector<std::int64_t> samples;
  for (const PointOnWay& point : points) samples.push_back(m_ways.at(point.way).sample);
  Arguments arguments = engine::argumentsFor(m_set, samples);
  for (const auto& [name, path] : m_ways.at(points.front().way).paths) arguments[name] = stacked(name, m_set.inputs.at(name), points);
  return arguments;
}

double ScanInputs::innerProduct(std::size_t a, std::size_t b) const {
  double sum = 0;
  for (const auto& [name, path] : m_ways.front().paths) {
    const std::vector<double>&x = path.directions().at(a), &y = path.directions().at(b);
    sum = std::inner_product(x.begin(), x.end(), y.begin(), sum);
  }
  return sum;
}

std::vector<session::ScannedInput> ScanInputs::described() const {
  std::vector<session::ScannedInput> all;
  for (const auto& [name, input] : m_set.inputs) all.push_back({name, dtypeText(input), !m_ways.empty() && m_ways.front().paths.count(name) > 0});
  return all;
}

std::vector<std::string> ScanInputs::floatingInputs() const {
  std::vector<std::string> names;
  for (const auto& [name, input] : m_set.inputs)
    if (isOwn(input) && input.tensor.is_floating_point()) names.push_back(name);
  return names;
}

double ScanInputs::norm(std::int64_t sample) const {
  double sum = 0;
  for (const std::string& name : floatingInputs()) {
    const HeldView row = viewOf(rowOf(m_set.inputs.at(name), sample));
    for (std::int64_t i = 0, n = row.view.elementCount(); i < n; ++i)
      if (const double x = analysis::elementAt(row.view, i); std::isfinite(x)) sum += x * x;
  }
  return std::sqrt(sum);
}

}  // namespace ulpscope::engine
