#include "widgets/plots/training_ticks.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::qt;
using render::AxisScale;
using render::ValueAxis;

constexpr int kMostTries = 4;  // with room for one tick more each time

std::vector<double> enoughTicks(const ValueAxis& axis, int most, int base) {
  std::vector<double> ticks;
  for (int more = 0; more < kMostTries && ticks.size() < 2; ++more) ticks = render::valueTicks(axis, most + more, base);
  return ticks;
}

// Of a logarithmic axis that spans less than a decade or two octaves.
std::vector<double> roundNumbers(const ValueAxis& axis, int most) {
  ValueAxis linear;
  linear.low = std::pow(10.0, axis.low);
  linear.high = std::pow(10.0, axis.high);
  std::vector<double> ticks = enoughTicks(linear, most, 10);
  std::erase_if(ticks, [](double value) { return value <= 0; });
  return ticks;
}

// In as many digits as tell them apart.
QStringList numberTexts(const std::vector<double>& values) {
  QStringList few, all;
  for (const double value : values) {
    few << qt(base::shortNumber(value));
    all << qt(base::exactNumber(value));
  }
  return QStringList(few).removeDuplicates() > 0 ? all : few;
}

}  // namespace

std::vector<AxisTick> axisTicks(const ValueAxis& axis, int most, int base) {
  const bool isLogarithmic = axis.scale == AxisScale::logarithmic;
  std::vector<double> values = enoughTicks(axis, most, base);
  QStringList texts;
  if (isLogarithmic && values.size() >= 2) {
    for (const double value : values) texts << (base == 2 ? models::powerOfTwoText(static_cast<int>(std::lround(std::log2(value)))) : models::decadeText(value));
  } else {
    if (isLogarithmic) values = roundNumbers(axis, most);
    for (double& value : values)
      if (std::fabs(value) < 1e-12 * (axis.high - axis.low)) value = 0;  // what is left of 0.1 + 0.2 - 0.3
    texts = numberTexts(values);
  }
  std::vector<AxisTick> ticks;
  for (std::size_t i = 0; i < values.size(); ++i) ticks.push_back({render::valuePoint(values[i], axis).at, texts[static_cast<qsizetype>(i)]});
  return ticks;
}

}  // namespace ulpscope::plots
