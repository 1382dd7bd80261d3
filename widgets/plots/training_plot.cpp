#include "widgets/plots/training_plot.h"

#include "core/base/number_text.h"
#include "core/render/viewport.h"
#include "widgets/models/text.h"
#include "widgets/plots/plot_legend.h"
#include "widgets/plots/plot_style.h"
#include "widgets/plots/training_ticks.h"

#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::qt;
using render::AxisScale;
using render::ValuePlace;
using session::LedgerLine;
using session::Trajectory;

constexpr const char* kOverlay = "overlay";  // QCustomPlot's own, with a buffer for itself
const render::ValueAxis kShareAxis{AxisScale::linear, -0.16, 1.16, -0.08, 1.08};

std::optional<double> recorded(const LedgerLine& line, const char* key, double value) { return line.has(key) ? std::optional(value) : std::nullopt; }
std::optional<double> lossOf(const LedgerLine& line) { return recorded(line, "loss", line.loss); }
std::optional<double> scaleOf(const LedgerLine& line) { return recorded(line, "scale_before", line.scaleBefore); }
std::optional<double> normOf(const LedgerLine& line) { return recorded(line, "grad_norm", line.gradNorm); }
std::optional<double> shareOf(const LedgerLine& line) { return recorded(line, "zero_share", line.zeroShare); }

std::vector<double> valuesOf(const Trajectory& run, std::optional<double> (*valueOf)(const LedgerLine&)) {
  std::vector<double> values;
  for (const LedgerLine& line : run.ledger)
    if (const auto value = valueOf(line)) values.push_back(*value);
  return values;
}

QString shownValue(std::optional<double> value, std::string (*text)(double)) { return value ? qt(text(*value)) : TrainingPlot::tr("not recorded"); }

// Of the tooltip.
QString gradientText(const LedgerLine& line) {
  const auto share = shareOf(line);
  return TrainingPlot::tr("gradient norm %1, %2").arg(shownValue(normOf(line), base::shortNumber), share ? TrainingPlot::tr("%1 % of it zero").arg(qt(base::shortNumber(100 * *share))) : TrainingPlot::tr("its share of zeros not recorded"));
}

QString outcomeText(const LedgerLine& line) {
  if (!line.has("applied")) return TrainingPlot::tr("not recorded whether it was applied");
  return line.skipped ? TrainingPlot::tr("skipped") : line.applied ? TrainingPlot::tr("applied") : TrainingPlot::tr("not stepped");
}

// By order of appearance; their lines differ in dashes.
QStringList optimizersOf(const Trajectory& run) {
  QStringList names;
  for (const LedgerLine& line : run.ledger)
    if (const QString name = qt(line.optimizer); !names.contains(name)) names << name;
  return names;
}

}  // namespace

TrainingPlot::TrainingPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)), m_legend(new PlotLegend(this)) {
  hostPlot(this, m_plot, m_legend);
  m_plot->setMinimumSize(160, 130);
  setMinimumSize(220, 150);
  makeRects();
  setAccessibleName(tr("Training plots"));
  connect(m_plot, &QCustomPlot::afterReplot, this, [this] { m_isDrawn = true; });
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    if (const std::int64_t step = nearestStep(event->position().x()); step >= 0) emit stepClicked(step);
  });
  connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
    if (const std::int64_t step = nearestStep(event->position().x()); step >= 0) QToolTip::showText(event->globalPosition().toPoint(), tooltipOf(step), m_plot);
    else QToolTip::hideText();
  });
  rebuild();
}

QWidget* TrainingPlot::surface() const { return m_plot; }
QString TrainingPlot::legendText() const { return m_legend->text(); }
QRect TrainingPlot::areaOf(Chart chart) const { return m_rects[chart]->rect(); }

void TrainingPlot::makeRects() {
  m_plot->plotLayout()->clear();
  m_plot->plotLayout()->setRowSpacing(0);
  auto* sides = new QCPMarginGroup(m_plot);
  for (int i = 0; i < kChartCount; ++i) {
    auto* rect = new QCPAxisRect(m_plot);
    m_plot->plotLayout()->addElement(i, 0, rect);
    rect->setMarginGroup(QCP::msLeft | QCP::msRight, sides);
    rect->setMinimumMargins({0, 5, 8, i + 1 == kChartCount ? 0 : 3});
    for (QCPAxis* axis : rect->axes()) {
      axis->setLayer(QStringLiteral("axes"));
      axis->grid()->setLayer(QStringLiteral("grid"));
    }
    rect->axis(QCPAxis::atBottom)->setTickLabels(i + 1 == kChartCount);
    m_rects[static_cast<std::size_t>(i)] = rect;
  }
  m_rects[kGradients]->axis(QCPAxis::atRight)->grid()->setVisible(false);
}

void TrainingPlot::setContent(Content content) {
  m_content = std::move(content);
  rebuild();
}

void TrainingPlot::setSelectedStep(std::optional<std::int64_t> step) {
  if (m_selected == step) return;
  m_selected = step;
  updateOverlay();
}

void TrainingPlot::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) rebuild();
  QWidget::changeEvent(event);
}

void TrainingPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  setTicks();
}

void TrainingPlot::keyPressEvent(QKeyEvent* event) {
  const std::int64_t last = lastStep();
  if (last < 0) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left: emit stepClicked(m_selected ? std::max(firstStep(), *m_selected - 1) : last); break;
    case Qt::Key_Right: emit stepClicked(m_selected ? std::min(last, *m_selected + 1) : firstStep()); break;
    case Qt::Key_Home: emit stepClicked(firstStep()); break;
    case Qt::Key_End: emit stepClicked(last); break;
    default: QWidget::keyPressEvent(event);
  }
}

std::int64_t TrainingPlot::firstStep() const { return lastStep() >= 0 ? m_content.run->ledger.front().step : 0; }

std::int64_t TrainingPlot::lastStep() const { return m_content.run && !m_content.run->ledger.empty() ? m_content.run->ledger.back().step : -1; }

std::int64_t TrainingPlot::nearestStep(double pixelX) const {
  const QRect area = m_rects[kLoss]->rect();
  if (lastStep() < 0 || pixelX < area.left() || pixelX > area.right()) return -1;
  return std::clamp<std::int64_t>(std::llround(m_rects[kLoss]->axis(QCPAxis::atBottom)->pixelToCoord(pixelX)), firstStep(), lastStep());
}

std::optional<QPointF> TrainingPlot::pixelOf(Chart chart, std::size_t line) const {
  if (!m_content.run || line >= m_content.run->ledger.size()) return std::nullopt;
  const LedgerLine& l = m_content.run->ledger[line];
  const auto value = chart == kLoss ? lossOf(l) : chart == kScale ? scaleOf(l) : normOf(l);
  if (!value) return std::nullopt;
  return QPointF(m_rects[chart]->axis(QCPAxis::atBottom)->coordToPixel(static_cast<double>(l.step)), m_rects[chart]->axis(QCPAxis::atLeft)->coordToPixel(render::valuePoint(*value, m_axes[chart]).at));
}

QString TrainingPlot::tooltipOf(std::int64_t step) const {
  QStringList lines;
  if (m_content.run)
    for (const LedgerLine& line : m_content.run->ledger)
      if (line.step == step)
        lines << tr("step %1, %2: %3\nloss %4, scale %5\n%6")
                     .arg(line.step).arg(qt(line.optimizer), outcomeText(line), shownValue(lossOf(line), base::exactNumber), shownValue(scaleOf(line), base::shortNumber), gradientText(line));
  for (const models::TimelineMark& mark : m_content.timeline)
    if (std::fabs(mark.at - static_cast<double>(step)) <= 0.5) lines << mark.tooltip;
  return lines.join(u'\n');
}

void TrainingPlot::rebuild() {
  m_plot->clearPlottables();
  m_plot->clearItems();
  m_edgeMarks = {};
  setAxes();
  if (lastStep() >= 0) addCharts();
  updateLegend();
  updateOverlay();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void TrainingPlot::setAxes() {
  const Theme& theme = themeOf(this);
  m_plot->setBackground(theme.base);
  m_plot->setBufferDevicePixelRatio(devicePixelRatioF());
  const Trajectory empty;
  const Trajectory& run = m_content.run ? *m_content.run : empty;
  std::vector<double> losses = valuesOf(run, lossOf);
  if (m_content.fp32)
    for (const double loss : valuesOf(*m_content.fp32, lossOf)) losses.push_back(loss);
  m_axes[kLoss] = render::valueAxis(losses, render::scaleFor(losses));
  m_axes[kScale] = render::valueAxis(valuesOf(run, scaleOf), AxisScale::logarithmic);
  m_axes[kGradients] = render::valueAxis(valuesOf(run, normOf), AxisScale::logarithmic);
  const std::array<QString, kChartCount> names{m_axes[kLoss].scale == AxisScale::linear ? tr("loss") : tr("loss (log)"), tr("scale"), tr("grad. norm")};
  const std::array<const char*, kChartCount> keys{"loss", "scale_before", "grad_norm"};
  const auto first = static_cast<double>(firstStep());
  const double span = std::max(1.0, static_cast<double>(lastStep()) - first);
  for (std::size_t i = 0; i < kChartCount; ++i) {
    for (QCPAxis* axis : m_rects[i]->axes()) styleAxis(axis, theme, font());
    m_rects[i]->axis(QCPAxis::atBottom)->setRange(first - 0.02 * span, first + 1.02 * span);
    QCPAxis* y = m_rects[i]->axis(QCPAxis::atLeft);
    y->setLabel(run.ledger.empty() || run.recordsAny(keys[i]) ? names[i] : tr("%1: not recorded").arg(names[i]));
    y->setTickLabels(run.ledger.empty() || run.recordsAny(keys[i]));
    y->setRange(m_axes[i].low, m_axes[i].high);
  }
  m_rects[kGradients]->axis(QCPAxis::atBottom)->setLabel(tr("step"));
  QCPAxis* share = m_rects[kGradients]->axis(QCPAxis::atRight);
  share->setVisible(run.ledger.empty() || run.recordsAny("zero_share"));
  share->setLabel(tr("zero share"));
  share->setRange(kShareAxis.low, kShareAxis.high);
  setTicks();
}

// As many as there is room for.
void TrainingPlot::setTicks() {
  const int line = fontMetrics().height();
  const int most = std::clamp(m_plot->height() / (kChartCount * 2 * line), 2, 6);
  for (std::size_t i = 0; i < kChartCount; ++i) {
    QSharedPointer<QCPAxisTickerText> values(new QCPAxisTickerText);
    for (const AxisTick& tick : axisTicks(m_axes[i], most, i == kScale ? 2 : 10)) values->addTick(tick.at, tick.text);
    m_rects[i]->axis(QCPAxis::atLeft)->setTicker(values);
    QSharedPointer<QCPAxisTickerText> steps(new QCPAxisTickerText);
    const std::int64_t last = std::max(firstStep() + 1, lastStep());
    const std::int64_t by = render::indexTickStep(static_cast<double>(last - firstStep()), std::max(2, m_plot->width() / (5 * line)));
    for (std::int64_t step = (firstStep() + by - 1) / by * by; step <= last; step += by) steps->addTick(static_cast<double>(step), qt(base::groupedInteger(step)));
    m_rects[i]->axis(QCPAxis::atBottom)->setTicker(steps);
  }
  QSharedPointer<QCPAxisTickerText> shares(new QCPAxisTickerText);
  for (const double share : {0.0, 1.0}) shares->addTick(share, qt(base::shortNumber(100 * share)) + QStringLiteral(" %"));
  m_rects[kGradients]->axis(QCPAxis::atRight)->setTicker(shares);
}

const render::ValueAxis& TrainingPlot::axisOf(const QCPAxis* y) const {
  if (y->axisType() == QCPAxis::atRight) return kShareAxis;
  for (std::size_t i = 0; i < kChartCount; ++i)
    if (y->axisRect() == m_rects[i]) return m_axes[i];
  return kShareAxis;
}

QCPGraph* TrainingPlot::addGraph(QCPAxis* y, const QPen& pen) {
  QCPGraph* graph = m_plot->addGraph(y->axisRect()->axis(QCPAxis::atBottom), y);
  graph->setPen(pen);
  return graph;
}

// A gap where a value has no place.
void TrainingPlot::addLine(QCPAxis* y, const Trajectory& run, ValueOf value, const QPen& pen) {
  static constexpr std::array kDashes{Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
  const QStringList optimizers = optimizersOf(run);
  for (qsizetype i = 0; i < optimizers.size(); ++i) {
    QPen own = pen;
    if (i > 0) own.setStyle(kDashes[static_cast<std::size_t>(i) % kDashes.size()]);
    QCPGraph* graph = addGraph(y, own);
    for (const LedgerLine& line : run.ledger) {
      if (qt(line.optimizer) != optimizers[i]) continue;
      const auto number = value(line);
      const render::ValuePoint point = render::valuePoint(number.value_or(0), axisOf(y));
      graph->addData(static_cast<double>(line.step), number && point.place == ValuePlace::value ? point.at : std::nan(""));
    }
  }
}

void TrainingPlot::addCharts() {
  const Theme& theme = themeOf(this);
  const auto left = [this](Chart chart) { return m_rects[chart]->axis(QCPAxis::atLeft); };
  QColor pale = theme.muted;
  pale.setAlpha(150);
  if (m_content.fp32) addLine(left(kLoss), *m_content.fp32, lossOf, QPen(pale, 3));
  addLine(left(kLoss), *m_content.run, lossOf, QPen(theme.series, 1.4));
  addScaleOfOne();
  addLine(left(kScale), *m_content.run, scaleOf, QPen(theme.series, 1.4));
  addLine(m_rects[kGradients]->axis(QCPAxis::atRight), *m_content.run, shareOf, QPen(theme.warn, 1.2, Qt::DashLine));
  addLine(left(kGradients), *m_content.run, normOf, QPen(theme.series, 1.4));
  addSkips();
  addEdgeMarks(kLoss, lossOf);
  addEdgeMarks(kScale, scaleOf);
  addEdgeMarks(kGradients, normOf);
  addTimeline();
}

void TrainingPlot::addMarks(QCPAxis* y, const MarkStyle& style, const std::vector<QPointF>& points) {
  if (points.empty()) return;
  QCPGraph* graph = addGraph(y, Qt::NoPen);
  graph->setLineStyle(QCPGraph::lsNone);
  graph->setScatterStyle({markPath(style.mark, 9), QPen(style.color, 1.4), style.isFilled ? QBrush(style.color) : QBrush(themeOf(this).base), 6});
  for (const QPointF& point : points) graph->addData(point.x(), point.y());
}

void TrainingPlot::addSkips() {
  std::vector<QPointF> points;
  for (const LedgerLine& line : m_content.run->ledger)
    if (line.skipped) points.emplace_back(static_cast<double>(line.step), render::valuePoint(line.scaleBefore, m_axes[kScale]).at);
  addMarks(m_rects[kScale]->axis(QCPAxis::atLeft), {Mark::triangleDown, themeOf(this).bad}, points);
}

void TrainingPlot::updateOverlay() {
  QCPLayer* overlay = m_plot->layer(QLatin1String(kOverlay));
  for (QCPLayerable* child : overlay->children())
    if (auto* item = qobject_cast<QCPAbstractItem*>(child)) m_plot->removeItem(item);
  if (m_selected && lastStep() >= 0)
    for (QCPAxisRect* rect : m_rects) {
      auto* line = new QCPItemStraightLine(m_plot);
      line->setLayer(overlay);
      line->setClipAxisRect(rect);
      line->setPen(QPen(themeOf(this).accent, 1.5));
      for (QCPItemPosition* point : {line->point1, line->point2}) point->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
      line->point1->setCoords(static_cast<double>(*m_selected), 0);
      line->point2->setCoords(static_cast<double>(*m_selected), 1);
    }
  if (m_isDrawn) overlay->replot();
}

}  // namespace ulpscope::plots
