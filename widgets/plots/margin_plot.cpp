#include "widgets/plots/margin_plot.h"

#include "core/render/viewport.h"
#include "widgets/plots/plot_style.h"

#include <QVBoxLayout>

#include <cmath>
#include <limits>
#include <set>

namespace ulpscope::plots {
namespace {

constexpr double kPickWithin = 12;  // px
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Extent {
  double margin = 1e-3;     // largest reference margin
  double smallest = 1;      // smallest non-zero difference
  double difference = 1e-6;
};

Extent extentOf(const std::vector<session::SampleDecision>& decisions) {
  Extent e;
  for (const session::SampleDecision& d : decisions) {
    if (!std::isnan(d.referenceMargin)) e.margin = std::max(e.margin, d.referenceMargin);
    const double difference = std::fabs(d.candidateMargin - d.referenceMargin);
    if (!std::isfinite(difference)) continue;
    e.difference = std::max(e.difference, difference);
    if (difference > 0) e.smallest = std::min(e.smallest, difference);
  }
  return e;
}

}  // namespace

MarginPlot::MarginPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_plot);
  m_plot->setFocusPolicy(Qt::NoFocus);
  setMinimumSize(220, 120);
  setAccessibleName(tr("Margin plot"));
  setAccessibleDescription(tr("AMP margin minus FP32 margin against the FP32 margin; \"All samples\" shows the same numbers in the table."));
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) { pick(event->position()); });
  rebuild();
}

void MarginPlot::setRun(const session::RunRecord* run) {
  m_run = run;
  m_selected = -1;
  rebuild();
}

void MarginPlot::setSelectedSample(std::int64_t sample) {
  if (m_selected == sample) return;
  m_selected = sample;
  rebuild();
}

void MarginPlot::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) rebuild();
  QWidget::changeEvent(event);
}

void MarginPlot::pick(QPointF position) {
  std::int64_t nearest = -1;
  double best = kPickWithin;
  for (std::size_t i = 0; i < m_points.size(); ++i) {
    if (std::isnan(m_points[i].x())) continue;
    const double distance = std::hypot(m_plot->xAxis->coordToPixel(m_points[i].x()) - position.x(), m_plot->yAxis->coordToPixel(m_points[i].y()) - position.y());
    if (distance < best) {
      best = distance;
      nearest = static_cast<std::int64_t>(i);
    }
  }
  if (nearest >= 0) emit sampleClicked(nearest);
}

void MarginPlot::rebuild() {
  const Theme& theme = themeOf(this);
  m_plot->clearPlottables();
  m_plot->clearItems();
  m_points.clear();
  m_plot->setBackground(theme.base);
  m_plot->setBufferDevicePixelRatio(devicePixelRatioF());
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) styleAxis(axis, theme, font());
  m_plot->xAxis->setLabel(tr("FP32 margin"));
  m_plot->yAxis->setLabel(tr("AMP − FP32 margin"));
  const std::vector<session::SampleDecision> none;
  const auto& decisions = m_run != nullptr ? m_run->decisions : none;
  const Extent extent = extentOf(decisions);
  const double low = std::pow(10, std::floor(std::log10(std::clamp(extent.smallest, extent.difference / 1e4, extent.difference))));
  const double high = std::max(low * 10, std::pow(10, std::ceil(std::log10(extent.difference))));
  const double top = render::symlog(high, low);
  const double rug = -top * 1.25;
  m_plot->xAxis->setRange(-0.03 * extent.margin, 1.04 * extent.margin);
  m_plot->yAxis->setRange(rug * 1.12, top * 1.1);
  const QSharedPointer<QCPAxisTicker> ticker = symlogTicker(low, high);
  static_cast<QCPAxisTickerText*>(ticker.data())->addTick(rug, QStringLiteral("NaN"));
  m_plot->yAxis->setTicker(ticker);
  const auto series = [&](const QColor& color, QCPScatterStyle::ScatterShape shape, double size) {
    QCPGraph* graph = m_plot->addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(QCPScatterStyle(shape, QPen(color, 1.2), QBrush(color), size));
    return graph;
  };
  QColor faint = theme.series;
  faint.setAlpha(150);
  QCPGraph* same = series(faint, QCPScatterStyle::ssDisc, 4);
  QCPGraph* flipped = series(theme.bad, QCPScatterStyle::ssSquare, 6);
  QCPGraph* undecided = series(theme.origin.background, QCPScatterStyle::ssDiamond, 7);
  QCPGraph* selected = series(theme.text, QCPScatterStyle::ssCircle, 11);
  selected->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.text, 1.6), Qt::NoBrush, 11));
  std::set<std::int64_t> flips;
  if (m_run != nullptr)
    for (const session::Flip& flip : m_run->flips) flips.insert(flip.sample);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const session::SampleDecision& d = decisions[i];
    const bool drawn = std::isfinite(d.referenceMargin);
    const bool decided = drawn && std::isfinite(d.candidateMargin);
    const QPointF at(drawn ? d.referenceMargin : kNan, decided ? render::symlog(d.candidateMargin - d.referenceMargin, low) : rug);
    m_points.push_back(at);
    if (!drawn) continue;
    (!decided ? undecided : flips.contains(static_cast<std::int64_t>(i)) ? flipped : same)->addData(at.x(), at.y());
    if (static_cast<std::int64_t>(i) == m_selected) selected->addData(at.x(), at.y());
  }
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace ulpscope::plots
