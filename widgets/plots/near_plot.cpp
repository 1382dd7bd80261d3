#include "widgets/plots/near_plot.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/training_ticks.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::qt;
using render::ValuePlace;
using session::DecidedWithin;
using session::NearSample;

constexpr double kPickWithin = 12;     // px
constexpr int kSideBySide = 2;         // times as wide as high, at least

MarkStyle stepStyle(const NearSample& sample, const Theme& theme) {
  const bool isNearer = sample.candidate.found && (!sample.reference.found || sample.candidate.step < sample.reference.step);
  const bool isFarther = sample.reference.found && (!sample.candidate.found || sample.candidate.step > sample.reference.step);
  if (isNearer) return {Mark::triangleDown, theme.bad};
  return isFarther ? MarkStyle{Mark::triangleUp, theme.series} : MarkStyle{Mark::dot, theme.muted};
}

QString stepText(const models::LoadedScan& loaded, const session::NearestFlip& flip, double limit) {
  const QString text = qt(session::flipText(loaded.scan, flip, limit, loaded.session->samples.classNames));
  return flip.isBoundary() && flip.step > 0 ? qt(base::exactNumber(flip.step)) : text;
}

}  // namespace

NearPlot::NearPlot(QWidget* parent) : ChartWidget(tr("Plots of the distance from the boundary"), parent) {}

void NearPlot::setScan(const models::ScanPointer& scan) {
  m_scan = scan;
  layOut();
  emit legendChanged();
}

void NearPlot::setSelected(const QString& sampleId) {
  m_selected = sampleId;
  setAccessibleDescription(tr("%1. Left and Right go to the next sample of the set by margin. The tables beside have the same numbers.").arg(tooltipOf(sampleId)));
  update();
}

void NearPlot::layOut() {
  const QFontMetrics metrics(smallFont(font()));
  const bool beside = width() > kSideBySide * height();
  const bool hasSteps = near() != nullptr && std::any_of(near()->samples.begin(), near()->samples.end(), [](const NearSample& s) { return s.skipped.empty(); });
  const QSizeF each = !hasSteps ? QSizeF(size()) : beside ? QSizeF(width() / 2.0, height()) : QSizeF(width(), height() / 2.0);
  const auto inner = [&](QPointF corner) { return QRectF(corner, each).adjusted(valueAxisWidth(metrics), metrics.height() / 2.0 + 4, -12, -bottomAxisHeight(metrics)); };
  m_charts = {};
  if (near() != nullptr) {
    const QString low = models::lowName(m_scan->scan);
    if (hasSteps) m_charts[kSteps] = {inner({0, 0}), render::stepAxis(*near()), tr("step that flips %1").arg(low)};
    m_charts[kSet] = {inner(!hasSteps ? QPointF() : beside ? QPointF(width() / 2.0, 0) : QPointF(0, height() / 2.0)), render::marginAxis(*near()), tr("FP32 margin, bound (log)")};
  }
  placePoints();
  update();
}

double NearPlot::xOfRank(std::size_t rank) const {
  const QRectF& area = m_charts[kSet].area;
  return area.left() + (static_cast<double>(rank) + 0.5) / std::max(1.0, static_cast<double>(near()->curve.size())) * area.width();
}

void NearPlot::placePoints() {
  const Theme& theme = themeOf(this);
  m_points = {};
  if (near() == nullptr) return;
  const Chart& steps = m_charts[kSteps];
  if (!steps.area.isEmpty())
    for (const render::StepPoint& point : render::stepPoints(*near(), steps.axis)) {
      const NearSample& sample = near()->samples[point.index];
      const double x = steps.area.left() + (point.reference.at - steps.axis.low) / (steps.axis.high - steps.axis.low) * steps.area.width();
      m_points[kSteps].push_back({qt(sample.id), {x, steps.yOf(point.candidate.at)}, stepStyle(sample, theme)});
    }
  const Chart& set = m_charts[kSet];
  for (std::size_t i = 0; i < near()->curve.size(); ++i) {
    const DecidedWithin& each = near()->curve[i];
    const MarkStyle style = each.flips ? MarkStyle{Mark::square, theme.bad} : each.withinError() ? MarkStyle{Mark::dot, theme.warn} : MarkStyle{Mark::dot, theme.series};
    m_points[kSet].push_back({qt(each.id), {xOfRank(i), set.yOf(render::valuePoint(each.margin, set.axis).at)}, style});
  }
}

std::optional<QPointF> NearPlot::pixelOf(Part part, const QString& sampleId) const {
  for (const Point& point : m_points[part])
    if (point.id == sampleId) return point.at;
  return std::nullopt;
}

QString NearPlot::nearest(QPointF position) const {
  QString found;
  double best = kPickWithin;
  for (const auto& points : m_points)
    for (const Point& point : points)
      if (const double distance = std::hypot(point.at.x() - position.x(), point.at.y() - position.y()); distance < best) {
        best = distance;
        found = point.id;
      }
  return found;
}

QString NearPlot::tooltipOf(const QString& sampleId) const {
  if (near() == nullptr || sampleId.isEmpty()) return {};
  QStringList lines{tr("sample %1").arg(sampleId)};
  const std::string id = models::core(sampleId);
  const QString low = models::lowName(m_scan->scan);
  for (const NearSample& s : near()->samples)
    if (s.id == id) {
      if (s.skipped.empty()) lines << tr("step that flips FP32 %1").arg(stepText(*m_scan, s.reference, s.limit)) << tr("step that flips %1 %2").arg(low, stepText(*m_scan, s.candidate, s.limit));
      else lines << tr("no step was tried: %1").arg(qt(s.skipped));
    }
  for (const DecidedWithin& d : near()->curve)
    if (d.id == id) lines << tr("FP32 margin %1, error bound %2%3").arg(qt(base::exactNumber(d.margin)), qt(base::exactNumber(d.bound)), d.flips ? tr(": flips") : d.withinError() ? tr(": decided within the error") : QString());
  return lines.join(u'\n');
}

// Along the curve; without a selection from the smallest margin on.
void NearPlot::step(int by) {
  if (near() == nullptr || near()->curve.empty()) return;
  const auto& curve = near()->curve;
  const auto found = std::find_if(curve.begin(), curve.end(), [id = models::core(m_selected)](const DecidedWithin& d) { return d.id == id; });
  const auto last = static_cast<std::ptrdiff_t>(curve.size()) - 1;
  const std::ptrdiff_t next = found == curve.end() ? 0 : std::clamp<std::ptrdiff_t>(found - curve.begin() + by, 0, last);
  emit sampleChosen(qt(curve[static_cast<std::size_t>(next)].id));
}

void NearPlot::keyPressEvent(QKeyEvent* event) {
  const int all = near() == nullptr ? 0 : static_cast<int>(near()->curve.size());
  switch (event->key()) {
    case Qt::Key_Left: return step(-1);
    case Qt::Key_Right: return step(1);
    case Qt::Key_Home: return step(-all);
    case Qt::Key_End: return step(all);
    default: QWidget::keyPressEvent(event);
  }
}

void NearPlot::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  if (const QString id = nearest(event->position()); !id.isEmpty()) emit sampleChosen(id);
}

void NearPlot::mouseMoveEvent(QMouseEvent* event) {
  const QString id = nearest(event->position());
  if (!id.isEmpty()) QToolTip::showText(event->globalPosition().toPoint(), tooltipOf(id), this);
  else QToolTip::hideText();
}

void NearPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(smallFont(font()));
  const Theme& theme = themeOf(this);
  painter.fillRect(rect(), theme.base);
  if (near() == nullptr) return;
  if (!m_charts[kSteps].area.isEmpty()) paintSteps(painter);
  paintSet(painter);
  for (const auto& points : m_points)
    for (const Point& point : points) paintMark(painter, point.at, point.style, points.size() > 500 ? 4 : 7);
  for (const Part part : {kSteps, kSet})
    if (const auto at = pixelOf(part, m_selected)) paintMark(painter, *at, {Mark::ring, theme.text, false}, 15);
  paintFocus(painter);
}

void NearPlot::paintSteps(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const Chart& chart = m_charts[kSteps];
  paintValueAxis(painter, chart, theme);
  painter.setPen(theme.muted);
  paintBottomAxis(painter, chart.area, chart.axis, tr("step that flips FP32 (L2 of the change, log)"));
  painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
  painter.drawLine(chart.area.bottomLeft(), chart.area.topRight());
}

// Below the bound the error can flip a decision.
void NearPlot::paintSet(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const Chart& chart = m_charts[kSet];
  QPainterPath bound(QPointF(chart.area.left(), chart.area.bottom()));
  for (std::size_t i = 0; i < near()->curve.size(); ++i) {
    const render::ValuePoint point = render::valuePoint(near()->curve[i].bound, chart.axis);
    bound.lineTo(xOfRank(i), std::clamp(chart.yOf(point.place == ValuePlace::nan ? chart.axis.low : point.at), chart.area.top(), chart.area.bottom()));
  }
  bound.lineTo(chart.area.right(), chart.area.bottom());
  painter.fillPath(bound, blended(theme.muted, theme.base, 0.22));
  paintValueAxis(painter, chart, theme);
  render::ValueAxis ranks;
  ranks.high = static_cast<double>(near()->curve.size());
  painter.setPen(theme.muted);
  paintBottomAxis(painter, chart.area, ranks, tr("samples of the set, by FP32 margin"));
}

std::vector<LegendEntry> NearPlot::legend() const {
  if (near() == nullptr) return {};
  const Theme& theme = themeOf(this);
  const QString low = models::lowName(m_scan->scan);
  std::vector<LegendEntry> entries;
  const auto count = [&](Mark mark) { return std::count_if(m_points[kSteps].begin(), m_points[kSteps].end(), [mark](const Point& p) { return p.style.mark == mark; }); };
  if (!m_points[kSteps].empty()) {
    entries.push_back({{Mark::triangleDown, theme.bad}, tr("%1's boundary is nearer: %2").arg(low, qt(base::groupedInteger(count(Mark::triangleDown))))});
    entries.push_back({{Mark::triangleUp, theme.series}, tr("FP32's is nearer: %1").arg(qt(base::groupedInteger(count(Mark::triangleUp))))});
    entries.push_back({{Mark::dashes, theme.muted, false}, tr("equally near; the edges: beyond what was tried")});
  }
  const auto flips = std::count_if(near()->curve.begin(), near()->curve.end(), [](const DecidedWithin& d) { return d.flips; });
  if (flips > 0) entries.push_back({{Mark::square, theme.bad}, tr("flips: %1").arg(qt(base::groupedInteger(flips)))});
  entries.push_back({{Mark::dot, theme.warn}, tr("decided within the error: %1").arg(qt(base::groupedInteger(near()->within())))});
  entries.push_back({{Mark::square, blended(theme.muted, theme.base, 0.4)}, tr("bound: flips possible below")});
  return entries;
}

}  // namespace ulpscope::plots
