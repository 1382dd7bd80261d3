#include "widgets/plots/margin_plot.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/plot_legend.h"
#include "widgets/plots/plot_style.h"

#include <QToolTip>

#include <array>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::Outcome;
using models::qt;
using render::MarginPlace;

constexpr double kPickWithin = 12;  // px
constexpr std::array kOutcomes{Outcome::same, Outcome::noDecision, Outcome::wrongToWrong, Outcome::flipped, Outcome::fixed, Outcome::regressed};  // the last on top
constexpr const char* kOverlay = "overlay";  // QCustomPlot's own, with a buffer for itself
constexpr int kTieCurvePoints = 60;

QCPScatterStyle scatterOf(const MarkStyle& style, double size) {
  return {markPath(style.mark, size), QPen(style.color, 1), QBrush(style.color), 6};
}

// The disc is QCustomPlot's own: far cheaper than a path where there are thousands.
QCPScatterStyle scatterOf(Outcome outcome, const Theme& theme) {
  MarkStyle style = styleOf(outcome, theme);
  if (outcome != Outcome::same) return scatterOf(style, 9);
  style.color.setAlpha(150);
  return {QCPScatterStyle::ssDisc, style.color, style.color, 4};
}

}  // namespace

MarginPlot::MarginPlot(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)), m_legend(new PlotLegend(this)) {
  hostPlot(this, m_plot, m_legend);
  m_plot->setMinimumSize(120, 80);
  connect(m_plot, &QCustomPlot::afterReplot, this, [this] { m_isDrawn = true; });
  setMinimumSize(220, 120);
  setAccessibleName(tr("Margin plot"));
  setAccessibleDescription(tr("AMP margin minus FP32 margin against the FP32 margin, one point a sample; the AMP margin of a flipped decision counts as negative, hence the ± of the axis. Left and Right go to the next. \"All samples\" shows the same numbers in the table."));
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    if (const std::int64_t sample = nearest(event->position()); sample >= 0) emit sampleClicked(sample);
  });
  connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
    const std::int64_t sample = nearest(event->position());
    if (sample >= 0) QToolTip::showText(event->globalPosition().toPoint(), tooltipOf(sample), m_plot);
    else QToolTip::hideText();
  });
  rebuild();
}

QWidget* MarginPlot::surface() const { return m_plot; }
QString MarginPlot::legendText() const { return m_legend->text(); }

void MarginPlot::setRun(const models::RunPointer& run, double impossibleBeyond) {
  m_run = run;
  m_impossibleBeyond = impossibleBeyond;
  rebuild();
}

void MarginPlot::setSelectedSample(std::int64_t sample) {
  if (m_selected == sample) return;
  m_selected = sample;
  updateOverlay();
}

void MarginPlot::setMarginBelow(double below) {
  if (m_below == below) return;
  m_below = below;
  updateOverlay();
}

void MarginPlot::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) rebuild();
  QWidget::changeEvent(event);
}

void MarginPlot::focusInEvent(QFocusEvent* event) {
  updateOverlay();
  QWidget::focusInEvent(event);
}

void MarginPlot::focusOutEvent(QFocusEvent* event) {
  updateOverlay();
  QWidget::focusOutEvent(event);
}

void MarginPlot::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: return step(-1);
    case Qt::Key_Right: return step(1);
    case Qt::Key_Home: return step(-static_cast<int>(m_points.size()));
    case Qt::Key_End: return step(static_cast<int>(m_points.size()));
    default: QWidget::keyPressEvent(event);
  }
}

// Along the reference's margin; without a selected point from the smallest on.
void MarginPlot::step(int by) {
  if (m_points.empty()) return;
  const Point* current = pointOf(m_selected);
  const auto last = static_cast<std::ptrdiff_t>(m_points.size()) - 1;
  const std::ptrdiff_t next = current == nullptr ? (by > 0 && by <= last ? 0 : by > 0 ? last : 0) : std::clamp(current - m_points.data() + static_cast<std::ptrdiff_t>(by), std::ptrdiff_t{0}, last);
  emit sampleClicked(m_points[static_cast<std::size_t>(next)].sample);
}

std::int64_t MarginPlot::nearest(QPointF position) const {
  std::int64_t found = -1;
  double best = kPickWithin;
  for (const Point& point : m_points) {
    const double distance = std::hypot(m_plot->xAxis->coordToPixel(point.at.x()) - position.x(), m_plot->yAxis->coordToPixel(point.at.y()) - position.y());
    // Of points one over another the one that is drawn on top.
    if (distance > best || (distance == best && found >= 0)) continue;
    best = distance;
    found = point.sample;
  }
  return found;
}

const MarginPlot::Point* MarginPlot::pointOf(std::int64_t sample) const {
  const auto found = std::find_if(m_points.begin(), m_points.end(), [sample](const Point& p) { return p.sample == sample; });
  return found == m_points.end() ? nullptr : &*found;
}

std::optional<QPointF> MarginPlot::pixelOf(std::int64_t sample) const {
  const Point* point = pointOf(sample);
  if (point == nullptr) return std::nullopt;
  return QPointF(m_plot->xAxis->coordToPixel(point->at.x()), m_plot->yAxis->coordToPixel(point->at.y()));
}

QString MarginPlot::tooltipOf(std::int64_t sample) const {
  const Point* point = pointOf(sample);
  if (point == nullptr) return {};
  const session::SampleDecision& d = m_run->run->decisions[static_cast<std::size_t>(sample)];
  return tr("sample %1: %2\nFP32 margin %3\n%4 margin %5").arg(models::sampleId(*m_run->session, sample), models::name(point->outcome), qt(base::exactNumber(d.referenceMargin)),
                                                            models::lowName(*m_run->run), qt(base::exactNumber(d.candidateMargin)));
}

void MarginPlot::setAxes(const Theme& theme) {
  m_plot->setBackground(theme.base);
  m_plot->setBufferDevicePixelRatio(devicePixelRatioF());
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) styleAxis(axis, theme, font());
  m_plot->xAxis->setLabel(tr("FP32 margin"));
  m_plot->yAxis->setLabel(tr("± AMP − FP32"));
  const render::MarginRugs rugs = render::marginRugs(m_axes);
  const double top = m_axes.difference.top(), right = m_axes.margin.top();
  m_plot->xAxis->setRange(hasPlace(MarginPlace::referenceNan) ? 1.6 * rugs.referenceNan : -0.04 * right, 1.04 * right);
  m_plot->yAxis->setRange(hasPlace(MarginPlace::candidateNan) ? rugs.candidateNan - 0.14 * top : -1.1 * top, hasPlace(MarginPlace::infinite) ? rugs.infinite + 0.14 * top : 1.1 * top);
  setTicks();
}

bool MarginPlot::hasPlace(MarginPlace place) const {
  return std::any_of(m_points.begin(), m_points.end(), [place](const Point& p) { return p.place == place; });
}

// As many as there is room for.
void MarginPlot::setTicks() {
  const render::MarginRugs rugs = render::marginRugs(m_axes);
  const int line = fontMetrics().height();
  const auto x = symlogTicker(m_axes.margin.linear, m_axes.margin.high, 2 * std::max(2, m_plot->width() / (4 * line)));
  const auto y = symlogTicker(m_axes.difference.linear, m_axes.difference.high, std::clamp(m_plot->height() / (2 * line), 3, 9));
  if (hasPlace(MarginPlace::candidateNan)) y->addTick(rugs.candidateNan, tr("NaN"));
  if (hasPlace(MarginPlace::infinite)) y->addTick(rugs.infinite, tr("+inf"));
  if (hasPlace(MarginPlace::referenceNan)) x->addTick(rugs.referenceNan, tr("NaN"));
  m_plot->xAxis->setTicker(x);
  m_plot->yAxis->setTicker(y);
}

void MarginPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  setTicks();
}

void MarginPlot::rebuild() {
  const Theme& theme = themeOf(this);
  m_plot->clearPlottables();
  m_plot->clearItems();
  m_points.clear();
  const bool hasMargins = m_run && m_run->run->settings.decision.errorsToFlip() > 0;
  const std::vector<session::SampleDecision> decisions = hasMargins ? render::signedMargins(*m_run->run) : std::vector<session::SampleDecision>();
  m_axes = render::marginAxes(decisions);
  if (hasMargins) {
    const std::vector<models::SampleOutcome> outcomes = models::sampleOutcomes(*m_run);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].outcome == Outcome::notRun) continue;
      const render::MarginPoint p = render::marginPoint(decisions[i], m_axes);
      m_points.push_back({static_cast<std::int64_t>(i), {p.x, p.y}, outcomes[i].outcome, p.place});
    }
    std::stable_sort(m_points.begin(), m_points.end(), [](const Point& a, const Point& b) { return a.at.x() < b.at.x(); });
  }
  setAxes(theme);
  addGuides(theme);
  addPoints(theme);
  updateLegend(theme);
  updateOverlay();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void MarginPlot::addPoints(const Theme& theme) {
  for (const Outcome outcome : kOutcomes) {
    QCPGraph* graph = m_plot->addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(scatterOf(outcome, theme));
    for (const Point& point : m_points)
      if (point.outcome == outcome) graph->addData(point.at.x(), point.at.y());
  }
}

// Where a flip is no longer possible, and where the candidate's margin is 0: a flip comes back from there.
void MarginPlot::addGuides(const Theme& theme) {
  if (m_points.empty()) return;
  QCPGraph* tie = m_plot->addGraph();
  tie->setPen(QPen(theme.muted, 1, Qt::DotLine));
  for (int i = 0; i <= kTieCurvePoints; ++i) {
    const double x = m_axes.margin.top() * i / kTieCurvePoints;
    const double y = m_axes.difference.at(-m_axes.margin.valueAt(x));
    if (y >= -m_axes.difference.top()) tie->addData(x, y);
  }
  if (std::isnan(m_impossibleBeyond)) return;
  const double x = m_axes.margin.at(std::min(m_impossibleBeyond, m_axes.margin.high));
  auto* line = new QCPItemStraightLine(m_plot);
  line->setPen(QPen(theme.bad, 1.3, Qt::DashLine));
  line->point1->setCoords(x, 0);
  line->point2->setCoords(x, 1);
}

void MarginPlot::updateLegend(const Theme& theme) {
  std::vector<LegendEntry> entries;
  for (auto outcome = kOutcomes.rbegin(); outcome != kOutcomes.rend(); ++outcome) {
    const auto count = std::count_if(m_points.begin(), m_points.end(), [&](const Point& p) { return p.outcome == *outcome; });
    if (count > 0) entries.push_back({styleOf(*outcome, theme), QStringLiteral("%1 %2").arg(models::name(*outcome), qt(base::groupedInteger(count)))});
  }
  if (!m_points.empty()) entries.push_back({{Mark::dashes, theme.muted, false}, tr("AMP margin 0")});
  if (!m_points.empty() && !std::isnan(m_impossibleBeyond)) {
    const QString errors = m_run->run->settings.decision.errorsToFlip() == 1 ? tr("largest error") : tr("2 × largest error");
    entries.push_back({{Mark::dashes, theme.bad, false}, tr("no flip possible beyond %1 (%2)").arg(qt(base::shortNumber(m_impossibleBeyond)), errors)});
  }
  m_legend->setEntries(std::move(entries));
}

// The selected point and the limit of the slider, on a layer of their own: they change often.
void MarginPlot::updateOverlay() {
  const Theme& theme = themeOf(this);
  QCPLayer* overlay = m_plot->layer(QLatin1String(kOverlay));
  for (QCPLayerable* child : overlay->children())
    if (auto* item = qobject_cast<QCPAbstractItem*>(child)) m_plot->removeItem(item);
  if (std::isfinite(m_below)) {
    auto* line = new QCPItemStraightLine(m_plot);
    line->setLayer(overlay);
    line->setPen(QPen(theme.accent, 1.3));
    line->point1->setCoords(m_axes.margin.at(m_below), 0);
    line->point2->setCoords(m_axes.margin.at(m_below), 1);
  }
  if (const Point* point = pointOf(m_selected)) {
    auto* ring = new QCPItemEllipse(m_plot);
    ring->setLayer(overlay);
    ring->setPen(QPen(theme.text, hasFocus() ? 2.2 : 1.5));
    for (QCPItemPosition* corner : {ring->topLeft, ring->bottomRight}) corner->setType(QCPItemPosition::ptAbsolute);
    auto* centre = new QCPItemTracer(m_plot);
    centre->setLayer(overlay);
    centre->setStyle(QCPItemTracer::tsNone);
    centre->position->setCoords(point->at);
    for (QCPItemPosition* corner : {ring->topLeft, ring->bottomRight}) corner->setParentAnchor(centre->position);
    ring->topLeft->setCoords(-7, -7);
    ring->bottomRight->setCoords(7, 7);
    setAccessibleDescription(tr("AMP margin minus FP32 margin against the FP32 margin. %1").arg(tooltipOf(m_selected)));
  }
  if (m_isDrawn) overlay->replot();
}

}  // namespace ulpscope::plots
