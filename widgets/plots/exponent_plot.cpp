#include "widgets/plots/exponent_plot.h"

#include "core/base/float_formats.h"
#include "widgets/models/tensor_tables.h"
#include "widgets/models/text.h"
#include "widgets/plots/plot_style.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

constexpr double kFloor = 0.7;      // of the logarithmic axis: one element is seen above it
constexpr double kHeadRoom = 12;    // times the largest count, for the labels of the limits
constexpr double kBarWidth = 0.9;   // exponents
constexpr float kFilled = 0.45F;    // opacity of the reference's bars
constexpr int kAround = 2;          // exponents left free at both ends
constexpr int kNearLimit = 24;      // a limit farther than that from all values is not drawn, or the bars would be threads

struct Limit {
  QString label;
  double at;
};

// At the lower edge of the exponent's bar; the largest value at the upper one.
std::vector<Limit> limitsOf(const models::LoadedRun& run) {
  const base::FormatLimits limits = base::limits(run.run->settings.autocast);
  const QString low = models::lowFormat(*run.run);
  return {{QObject::tr("%1 subnormal from %2").arg(low, models::powerOfTwoText(std::ilogb(limits.minSubnormal))), std::ilogb(limits.minSubnormal) - 0.5},
          {QObject::tr("%1 normal from %2").arg(low, models::powerOfTwoText(std::ilogb(limits.minNormal))), std::ilogb(limits.minNormal) - 0.5},
          {QObject::tr("%1 max").arg(low), std::ilogb(limits.maxFinite) + 0.5}};
}

}  // namespace

ExponentPlot::ExponentPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_plot);
  m_plot->setFocusPolicy(Qt::NoFocus);
  setMinimumHeight(200);
  setAccessibleName(tr("Histogram of binary exponents"));
  setAccessibleDescription(tr("The same counts stand in the table of exponents."));
  rebuild();
}

void ExponentPlot::setLook(const models::TensorLookPointer& look) {
  m_look = look;
  rebuild();
}

void ExponentPlot::setMarked(double value) {
  m_marked = value;
  rebuild();
}

void ExponentPlot::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) rebuild();
  QWidget::changeEvent(event);
}

void ExponentPlot::showEvent(QShowEvent* event) {
  rebuild();  // the screen's pixel ratio is known only now
  QWidget::showEvent(event);
}

void ExponentPlot::addLimits() {
  const Theme& theme = themeOf(this);
  m_limitLabels.clear();
  const auto draw = [this](double x, double from, double to, const QPen& pen) {
    auto* line = new QCPItemLine(m_plot);
    line->start->setCoords(x, from);
    line->end->setCoords(x, to);
    line->setPen(pen);
  };
  for (const Limit& limit : limitsOf(*m_look->run)) {
    if (limit.at < m_first - 1 || limit.at > m_last + 1) continue;
    draw(limit.at, kFloor, m_top, QPen(theme.bad, 1.2, Qt::DashLine));
    auto* label = new QCPItemText(m_plot);
    label->setText(limit.label);
    label->setColor(theme.bad);
    label->setFont(m_plot->xAxis->tickLabelFont());
    label->setRotation(-90);
    label->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
    label->position->setCoords(limit.at, m_top);
    label->setPadding(QMargins(2, 1, 2, 1));
    m_limitLabels << limit.label;
  }
  // Above the bars, or it would hide the one it is of.
  if (std::isfinite(m_marked) && m_marked != 0) draw(std::ilogb(m_marked), m_top / kHeadRoom * 1.3, m_top / kHeadRoom * 3, QPen(theme.accent, 2));
}

void ExponentPlot::styleAxes() {
  const Theme& theme = themeOf(this);
  m_plot->setBackground(theme.base);
  m_plot->setBufferDevicePixelRatio(devicePixelRatioF());
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) styleAxis(axis, theme, font());
  m_plot->xAxis->setLabel(tr("binary exponent of |x|"));
  m_plot->yAxis->setLabel(tr("elements"));
  m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
  m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
  m_plot->yAxis->setNumberFormat(QStringLiteral("eb"));
  m_plot->yAxis->setNumberPrecision(0);
}

// All exponents that occur, and the limits that are not far away.
void ExponentPlot::fitAxes() {
  const auto [first, end] = models::exponentSpan(*m_look);
  m_first = first - kAround;
  m_last = end - 1 + kAround;
  for (const Limit& limit : limitsOf(*m_look->run)) {
    const int at = static_cast<int>(std::floor(limit.at));
    if (at < first && first - at <= kNearLimit) m_first = std::min(m_first, at - 1);
    if (at >= end && at - end <= kNearLimit) m_last = std::max(m_last, at + 2);
  }
  std::int64_t most = 1;
  for (int e = first; e < end; ++e) most = std::max({most, m_look->referenceExponents.at(e), m_look->candidateExponents.at(e)});
  m_top = static_cast<double>(most) * kHeadRoom;
  m_plot->xAxis->setRange(m_first - 0.5, m_last + 0.5);
  m_plot->yAxis->setRange(kFloor, m_top);
}

void ExponentPlot::addBars(const analysis::ExponentHistogram& counts, const QPen& pen, const QBrush& brush) {
  auto* bars = new QCPBars(m_plot->xAxis, m_plot->yAxis);
  bars->setBaseValue(kFloor / 2);  // below the axis: a logarithm has no 0
  bars->setWidth(kBarWidth);
  bars->setPen(pen);
  bars->setBrush(brush);
  for (int e = counts.firstExponent; e < counts.endExponent(); ++e)
    if (counts.at(e) > 0) bars->addData(e, static_cast<double>(counts.at(e)));
}

void ExponentPlot::rebuild() {
  m_plot->clearItems();
  m_plot->clearPlottables();
  m_limitLabels.clear();
  styleAxes();
  if (m_look) {
    const Theme& theme = themeOf(this);
    QColor fill = theme.series;
    fill.setAlphaF(kFilled);
    fitAxes();
    addBars(m_look->referenceExponents, Qt::NoPen, fill);
    addBars(m_look->candidateExponents, QPen(theme.text, 1.4), Qt::NoBrush);
    addLimits();
  }
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace ulpscope::plots
