// What BoundaryPlot draws, and the legend of it.
#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/boundary_plot.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::qt;
using render::AxisScale;
using render::PixelSpan;
using render::TimedValue;
using session::Disagreement;

constexpr double kTint = 0.30;        // of a decision's colour in its strip
constexpr double kLeastShade = 2;     // px of a stretch that is narrower
constexpr double kEdged = 5;          // px; a narrower stretch is a line
constexpr double kZigzag = 3;         // px

QPen referencePen(const QColor& color, const Theme& theme) { return {blended(color, theme.base, 0.45), 3.4, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin}; }
QPen candidatePen(const QColor& color) { return {color, 1.4, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin}; }
QPen overlayPen(const Theme& theme) { return {theme.good, 1.6, Qt::DotLine}; }

std::vector<double> numbersOf(const std::vector<TimedValue>& values) {
  std::vector<double> numbers;
  for (const TimedValue& value : values) numbers.push_back(value.value);
  return numbers;
}

template <typename Lists>
std::vector<double> shown(const Lists& lists, const render::TimeView& view) {
  std::vector<double> all;
  for (const std::vector<TimedValue>* list : lists) {
    const auto numbers = numbersOf(render::valuesInView(*list, view));
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

}  // namespace

void BoundaryPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(smallFont(font()));
  const Theme& theme = themeOf(this);
  painter.fillRect(rect(), theme.base);
  if (segment() == nullptr) return paintEmpty(painter);
  paintStrips(painter);
  paintLane(painter);
  if (!m_areas[kScores].isEmpty()) paintScores(painter);
  if (!m_areas[kMargins].isEmpty()) paintMargins(painter);
  paintShades(painter);
  paintTimeAxis(painter);
  paintCursor(painter);
  paintFocus(painter);
}

void BoundaryPlot::paintEmpty(QPainter& painter) const {
  painter.setPen(themeOf(this).muted);
  painter.drawText(rect().adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap, tr("No segment is shown."));
}

void BoundaryPlot::paintStrips(QPainter& painter) const {
  const QRectF& area = m_areas[kStrips];
  for (std::size_t i = 0; i < m_strips.size(); ++i) {
    const QRectF row(area.left(), area.top() + static_cast<double>(i) * (stripHeight() + 3), area.width(), stripHeight());
    painter.setPen(themeOf(this).text);
    painter.drawText(QRectF(0, row.top(), row.left() - 8, row.height()), Qt::AlignRight | Qt::AlignVCenter, m_strips[i].name);
    paintStrip(painter, m_strips[i], row);
  }
}

// A name stands in every piece that has room for it, and nowhere else.
void BoundaryPlot::paintStrip(QPainter& painter, const Strip& strip, const QRectF& area) const {
  const Theme& theme = themeOf(this);
  for (const render::PixelBand& band : render::pixelBands(strip.bands, m_view)) {
    const QRectF piece(area.left() + band.from, area.top(), band.to - band.from, area.height());
    if (band.decision == render::kSeveralDecisions) {
      painter.fillRect(piece, theme.alternate);
      painter.fillRect(piece, QBrush(theme.text, Qt::Dense5Pattern));
      continue;
    }
    const QColor color = decisionColor(band.decision, theme);
    painter.fillRect(piece, blended(color, theme.base, kTint));
    if (band.decision == session::kNoDecision) painter.fillRect(piece, hatching(color));
    painter.fillRect(QRectF(piece.left(), piece.bottom() - 2, piece.width(), 2), color);
    const QString name = band.decision == session::kNoDecision ? tr("NaN") : models::decisionText(*m_scan, band.decision);
    if (painter.fontMetrics().horizontalAdvance(name) + 8 > piece.width()) continue;
    painter.setPen(theme.text);
    painter.drawText(piece.adjusted(0, 0, 0, -2), Qt::AlignCenter, name);
  }
}

// Below the strips: where the candidate flickers (a zigzag), and where more points were looked at (a line).
void BoundaryPlot::paintLane(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const QRectF& area = m_areas[kStrips];
  const double y = area.bottom() - 4;
  painter.setPen(QPen(theme.muted, 1.5));
  for (const session::CloseLook& look : segment()->closeLooks)
    if (const PixelSpan span = render::spanOf(look.at, m_view, kLeastShade); span.isIn()) painter.drawLine(QPointF(area.left() + span.from, y + 3), QPointF(area.left() + span.to, y + 3));
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.warn, 1.6));
  for (const session::Flicker& flicker : segment()->flicker) {
    const PixelSpan span = render::spanOf(flicker.at, m_view, 4 * kZigzag);
    if (!span.isIn()) continue;
    QPolygonF path;
    bool isUp = false;
    for (double x = span.from; x <= span.to; x += kZigzag, isUp = !isUp) path << QPointF(area.left() + x, y + (isUp ? -2.5 : 1));
    painter.drawPolyline(path);
  }
  painter.restore();
}

// Over all parts, so that curves below it are seen through it.
void BoundaryPlot::paintShades(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const QRectF& first = m_areas[kStrips];
  const double bottom = std::max({m_areas[kScores].bottom(), m_areas[kMargins].bottom(), first.bottom()});
  for (const Disagreement& strip : segment()->disagreement) {
    const PixelSpan span = render::spanOf(strip.at, m_view, kLeastShade);
    if (!span.isIn()) continue;
    const QRectF shade(first.left() + span.from, first.top() - 3, span.to - span.from, bottom - first.top() + 3);
    const bool isNarrow = span.to - span.from < kEdged;
    QColor fill = strip.withinNoise ? theme.muted : theme.bad;
    const QColor edge = fill;
    fill.setAlpha(isNarrow ? 170 : strip.withinNoise ? 70 : 46);
    painter.fillRect(shade, strip.withinNoise && !isNarrow ? hatching(fill) : QBrush(fill));
    if (isNarrow) continue;
    painter.setPen(QPen(edge, 0));
    painter.drawLine(shade.topLeft(), shade.bottomLeft());
    painter.drawLine(shade.topRight(), shade.bottomRight());
  }
}

Chart BoundaryPlot::chartOf(Part part) const {
  std::vector<const std::vector<TimedValue>*> lists;
  if (part == kScores) {
    for (const auto* scores : {&m_referenceScores, &m_candidateScores})
      for (const Series& series : *scores) lists.push_back(&series.values);
    return {m_areas[part], render::valueAxis(shown(lists, m_view), AxisScale::linear), tr("score")};
  }
  for (const Series* series : {&m_referenceMargin, &m_candidateMargin, &m_overlayMargin, &m_bound, &m_noise}) lists.push_back(&series->values);
  return {m_areas[part], render::valueAxis(shown(lists, m_view), AxisScale::logarithmic), tr("margin (log)")};
}

void BoundaryPlot::paintScores(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const Chart chart = chartOf(kScores);
  paintValueAxis(painter, chart, theme);
  const auto colorOf = [&](const Series& series) { return series.decision == session::kNoDecision ? theme.muted : decisionColor(series.decision, theme); };
  for (const Series& series : m_referenceScores) paintCurve(painter, chart, render::curveOf(series.values, m_view, chart.axis), referencePen(colorOf(series), theme));
  for (const Series& series : m_candidateScores) {
    const render::Curve curve = render::curveOf(series.values, m_view, chart.axis);
    paintCurve(painter, chart, curve, candidatePen(colorOf(series)));
    paintEdgeMarks(painter, chart, curve, theme);
  }
  paintLabels(painter, chart);
}

// Beside the right end of each curve; where they crowd, those of classes that are decided for come first.
void BoundaryPlot::paintLabels(QPainter& painter, const Chart& chart) const {
  const Theme& theme = themeOf(this);
  const double line = painter.fontMetrics().height();
  std::vector<double> wanted;
  std::vector<const Series*> labelled;
  const auto most = static_cast<std::size_t>(chart.area.height() / line);
  const auto add = [&](bool isDecided) {
    for (const Series& series : m_referenceScores) {
      const auto values = render::valuesInView(series.values, m_view);
      if ((series.decision != session::kNoDecision) != isDecided || labelled.size() >= most || values.empty() || !std::isfinite(values.back().value)) continue;
      labelled.push_back(&series);
      wanted.push_back(chart.yOf(render::valuePoint(values.back().value, chart.axis).at) - line / 2);
    }
  };
  add(true);
  add(false);
  const auto places = render::spreadLabels(wanted, line, chart.area.top() - line / 2, chart.area.bottom() - line / 2);
  for (std::size_t i = 0; i < labelled.size(); ++i) {
    const QRectF room(chart.area.right() + 12, places[i], width() - chart.area.right() - 13, line);
    painter.setPen(QPen(labelled[i]->decision == session::kNoDecision ? theme.muted : decisionColor(labelled[i]->decision, theme), 2));
    painter.drawLine(QPointF(chart.area.right() + 3, room.center().y()), QPointF(chart.area.right() + 9, room.center().y()));
    painter.setPen(labelled[i]->decision == session::kNoDecision ? theme.muted : theme.text);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(labelled[i]->label, Qt::ElideRight, static_cast<int>(room.width())));
  }
}

// From the axis' bottom up to the bound: margins in there are small enough for the error to flip them.
void BoundaryPlot::paintBound(QPainter& painter, const Chart& chart) const {
  const Theme& theme = themeOf(this);
  const render::Curve bound = render::curveOf(m_bound.values, m_view, chart.axis);
  painter.save();
  painter.setClipRect(chart.area);
  for (const auto& line : bound.lines) {
    if (line.empty()) continue;
    QPainterPath path(QPointF(chart.area.left() + line.front().x, chart.area.bottom()));
    for (const render::CurvePoint& point : line) path.lineTo(chart.area.left() + point.x, chart.yOf(point.at));
    path.lineTo(chart.area.left() + line.back().x, chart.area.bottom());
    painter.fillPath(path, blended(theme.muted, theme.base, 0.16));
  }
  painter.restore();
}

void BoundaryPlot::paintMargins(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const Chart chart = chartOf(kMargins);
  paintBound(painter, chart);
  paintValueAxis(painter, chart, theme);
  const auto paint = [&](const Series& series, const QPen& pen) {
    if (series.values.empty()) return;
    const render::Curve curve = render::curveOf(series.values, m_view, chart.axis);
    paintCurve(painter, chart, curve, pen);
    paintEdgeMarks(painter, chart, curve, theme);
  };
  paint(m_referenceMargin, referencePen(theme.text, theme));
  paint(m_candidateMargin, candidatePen(theme.series));
  paint(m_overlayMargin, overlayPen(theme));
  if (!m_noise.values.empty()) paintCurve(painter, chart, render::curveOf(m_noise.values, m_view, chart.axis), QPen(theme.muted, 1, Qt::DashLine));
}

void BoundaryPlot::paintTimeAxis(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  QRectF area = m_areas[kMargins].isEmpty() ? m_areas[kScores] : m_areas[kMargins];
  if (area.isEmpty()) area = m_areas[kStrips];
  render::ValueAxis axis;
  axis.low = m_view.from;
  axis.high = m_view.to;
  painter.setPen(theme.muted);
  const auto& ids = m_scan->scan.sampleIds;
  paintBottomAxis(painter, area, axis, ids.size() < 2 ? tr("t") : tr("t, from %1 (0) to %2 (1)").arg(qt(ids[0]), qt(ids[1])));
}

void BoundaryPlot::paintCursor(QPainter& painter) const {
  if (m_cursor < 0) return;
  const Theme& theme = themeOf(this);
  const double t = static_cast<double>(m_scan->points[static_cast<std::size_t>(m_cursor)]->t);
  if (t < m_view.from || t > m_view.to) return;
  const QFontMetrics metrics = painter.fontMetrics();
  const double x = xOf(t), bottom = std::max({m_areas[kScores].bottom(), m_areas[kMargins].bottom(), m_areas[kStrips].bottom()});
  painter.setPen(QPen(theme.accent, hasFocus() ? 2 : 1.4));
  painter.drawLine(QPointF(x, metrics.height() + 2), QPointF(x, bottom));
  const QString text = QStringLiteral("t %1").arg(models::timeText(t));
  const double wide = metrics.horizontalAdvance(text) + 4;
  painter.drawText(QRectF(std::clamp(x - wide / 2, 0.0, std::max(0.0, width() - wide)), 1, wide, metrics.height()), Qt::AlignCenter, text);
}

std::vector<LegendEntry> BoundaryPlot::legend() const {
  if (segment() == nullptr) return {};
  const Theme& theme = themeOf(this);
  const QString low = models::lowName(m_scan->scan);
  const bool hasCurves = !m_referenceScores.empty() || !m_referenceMargin.values.empty();
  std::vector<LegendEntry> entries;
  if (hasCurves) entries = {{{Mark::line, blended(theme.text, theme.base, 0.45), false}, tr("FP32 (wide)")}, {{Mark::line, theme.series, false}, tr("%1 (thin)").arg(low)}};
  const auto& strips = segment()->disagreement;
  const auto within = std::count_if(strips.begin(), strips.end(), [](const Disagreement& strip) { return strip.withinNoise; });
  const auto beyond = static_cast<std::int64_t>(strips.size()) - within;
  if (beyond > 0) entries.push_back({{Mark::square, theme.bad}, tr("they disagree: %1").arg(qt(base::groupedInteger(beyond)))});
  if (within > 0) entries.push_back({{Mark::square, theme.muted, false}, tr("within FP32's noise: %1").arg(qt(base::groupedInteger(within)))});
  if (!segment()->flicker.empty()) entries.push_back({{Mark::cross, theme.warn}, tr("flicker (zigzag): %1").arg(segment()->flicker.size())});
  if (!segment()->closeLooks.empty()) entries.push_back({{Mark::line, theme.muted, false}, tr("looked at closely (line)")});
  if (!m_bound.values.empty()) entries.push_back({{Mark::square, blended(theme.muted, theme.base, 0.4)}, m_scan->scan.settings.decision.errorsToFlip() == 2 ? tr("2 × largest error: flips possible") : tr("largest error: flips possible")});
  if (!m_noise.values.empty()) entries.push_back({{Mark::dashes, theme.muted, false}, tr("the same of FP32's noise")});
  if (m_overlay) entries.push_back({{Mark::dashes, theme.good, false}, tr("overlay: %1").arg(models::scanRegions(m_overlay->scan).isEmpty() ? models::lowName(m_overlay->scan) : models::scanRegions(m_overlay->scan))});
  return entries;
}

}  // namespace ulpscope::plots
