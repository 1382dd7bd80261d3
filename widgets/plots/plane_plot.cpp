#include "widgets/plots/plane_plot.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::qt;
using render::GridPlace;
using render::RunSide;
using session::PlaneScan;

constexpr double kTint = 0.30;
constexpr double kLeastName = 6;  // grid points of a region whose name is written in it

render::Rgb rgbOf(const QColor& color) { return {static_cast<std::uint8_t>(color.red()), static_cast<std::uint8_t>(color.green()), static_cast<std::uint8_t>(color.blue())}; }

render::PlaneColors colorsOf(std::size_t decisions, const Theme& theme) {
  render::PlaneColors colors;
  for (std::size_t i = 0; i < decisions; ++i) colors.decisions.push_back(rgbOf(blended(decisionColor(static_cast<int>(i), theme), theme.base, kTint)));
  colors.none = rgbOf(blended(theme.origin.background, theme.base, 0.5));
  colors.flip = rgbOf(theme.bad);
  colors.noise = rgbOf(theme.muted);
  return colors;
}

render::ValueAxis axisOf(const PlaneScan& plane) {
  render::ValueAxis axis;
  axis.low = plane.lowest;
  axis.high = plane.highest;
  return axis;
}

}  // namespace

PlanePlot::PlanePlot(QWidget* parent) : ChartWidget(tr("Map of the plane"), parent) {}

void PlanePlot::setScans(const models::ScanPointer& scan, const models::ScanPointer& overlay) {
  if (scan != m_scan) m_cursor = -1;
  m_scan = scan;
  m_overlay = overlay && overlay->scan.plane ? overlay : nullptr;
  m_reference = m_candidate = m_overlaid = {};
  if (plane() != nullptr) {
    m_reference = render::planeBoundary(*plane(), RunSide::reference);
    m_candidate = render::planeBoundary(*plane(), RunSide::candidate);
  }
  if (m_overlay) {
    m_overlaid = render::planeBoundary(*m_overlay->scan.plane, RunSide::candidate);
    // Its grid may be another one.
    const auto moved = [&](GridPlace& at) { at = {render::gridPlaceOf(*plane(), render::planeCoordinate(*m_overlay->scan.plane, at.i)), render::gridPlaceOf(*plane(), render::planeCoordinate(*m_overlay->scan.plane, at.j))}; };
    for (render::BoundaryPiece& piece : m_overlaid) moved(piece.from), moved(piece.to);
  }
  layOut();
  emit legendChanged();
}

// A square, as large as fits.
void PlanePlot::layOut() {
  const QFontMetrics metrics(smallFont(font()));
  const double left = valueAxisWidth(metrics), top = metrics.height() / 2.0 + 4, right = 14;
  const double side = std::max(20.0, std::min(width() - left - right, height() - top - bottomAxisHeight(metrics)));
  m_area = {left + std::max(0.0, (width() - left - right - side) / 2), top, side, side};
  m_image = {};
  update();
}

QPointF PlanePlot::pixelAt(const GridPlace& place) const {
  const double last = std::max<double>(1, static_cast<double>(plane()->side - 1));
  return {m_area.left() + place.i / last * m_area.width(), m_area.bottom() - place.j / last * m_area.height()};
}

QPointF PlanePlot::pixelOf(int point) const {
  return plane() == nullptr ? QPointF() : pixelAt({static_cast<double>(point % plane()->side), static_cast<double>(point / plane()->side)});
}

int PlanePlot::pointAt(QPointF position) const {
  if (plane() == nullptr || !m_area.adjusted(-2, -2, 2, 2).contains(position)) return -1;
  const double last = static_cast<double>(plane()->side - 1);
  const auto at = [last](double share) { return std::llround(std::clamp(share, 0.0, 1.0) * last); };
  return static_cast<int>(at((m_area.bottom() - position.y()) / m_area.height()) * plane()->side + at((position.x() - m_area.left()) / m_area.width()));
}

void PlanePlot::setCursor(int point) {
  m_cursor = plane() != nullptr && point < static_cast<int>(plane()->points.size()) ? point : -1;
  if (m_cursor >= 0) setAccessibleDescription(tr("%1. The arrow keys go from point to point. The table beside has the same numbers.").arg(tooltipOf(m_cursor)));
  update();
}

QString PlanePlot::tooltipOf(int point) const {
  if (plane() == nullptr || point < 0 || point >= static_cast<int>(plane()->points.size())) return {};
  const double u = render::planeCoordinate(*plane(), static_cast<double>(point % plane()->side)), v = render::planeCoordinate(*plane(), static_cast<double>(point / plane()->side));
  return QStringLiteral("u %1, v %2\n%3").arg(models::timeText(u), models::timeText(v), models::pointText(*m_scan, plane()->points[static_cast<std::size_t>(point)]));
}

void PlanePlot::choose(int point) {
  if (point < 0) return;
  setCursor(point);
  emit pointChosen(point);
}

void PlanePlot::keyPressEvent(QKeyEvent* event) {
  if (plane() == nullptr) return QWidget::keyPressEvent(event);
  const int side = static_cast<int>(plane()->side);
  const int i = m_cursor < 0 ? 0 : m_cursor % side, j = m_cursor < 0 ? 0 : m_cursor / side;
  const auto go = [&](int toI, int toJ) { choose(m_cursor < 0 ? 0 : std::clamp(toJ, 0, side - 1) * side + std::clamp(toI, 0, side - 1)); };
  switch (event->key()) {
    case Qt::Key_Left: return go(i - 1, j);
    case Qt::Key_Right: return go(i + 1, j);
    case Qt::Key_Up: return go(i, j + 1);
    case Qt::Key_Down: return go(i, j - 1);
    case Qt::Key_Home: return go(0, j);
    case Qt::Key_End: return go(side - 1, j);
    default: QWidget::keyPressEvent(event);
  }
}

void PlanePlot::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  choose(pointAt(event->position()));
}

void PlanePlot::mouseMoveEvent(QMouseEvent* event) {
  const int point = pointAt(event->position());
  if (point >= 0) QToolTip::showText(event->globalPosition().toPoint(), tooltipOf(point), this);
  else QToolTip::hideText();
}

void PlanePlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(smallFont(font()));
  const Theme& theme = themeOf(this);
  painter.fillRect(rect(), theme.base);
  if (plane() == nullptr) return;
  paintMap(painter);
  paintContour(painter, m_reference, QPen(theme.text, 3.2));
  paintContour(painter, m_candidate, QPen(theme.series, 1.5));
  paintContour(painter, m_overlaid, QPen(theme.good, 1.8, Qt::DotLine));
  paintNames(painter);
  paintAxes(painter);
  paintSamples(painter);
  paintCursor(painter);
  paintFocus(painter);
}

void PlanePlot::paintMap(QPainter& painter) {
  const double ratio = devicePixelRatioF();
  const QSize size = (m_area.size() * ratio).toSize().expandedTo({1, 1});
  if (m_image.size() != size) {
    const auto rgba = render::planePixels(*plane(), {size.width(), size.height(), 1}, colorsOf(m_scan->scan.decisions.size(), themeOf(this)));
    m_image = QImage(rgba.data(), size.width(), size.height(), size.width() * 4, QImage::Format_RGBA8888).copy();
  }
  painter.drawImage(m_area, m_image);
  painter.setPen(QPen(themeOf(this).line, 0));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(m_area);
}

void PlanePlot::paintContour(QPainter& painter, const std::vector<render::BoundaryPiece>& pieces, const QPen& pen) const {
  painter.save();
  painter.setClipRect(m_area);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(pen.color(), pen.widthF(), pen.style(), Qt::RoundCap));
  for (const render::BoundaryPiece& piece : pieces) painter.drawLine(pixelAt(piece.from), pixelAt(piece.to));
  painter.restore();
}

// In the middle of each decision's points, if one of its own is there.
void PlanePlot::paintNames(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  for (std::size_t d = 0; d < m_scan->scan.decisions.size(); ++d) {
    GridPlace middle;
    double count = 0;
    for (std::size_t p = 0; p < plane()->points.size(); ++p) {
      if (plane()->points[p].reference != static_cast<int>(d)) continue;
      middle.i += static_cast<double>(static_cast<std::int64_t>(p) % plane()->side);
      middle.j += static_cast<double>(static_cast<std::int64_t>(p) / plane()->side);
      ++count;
    }
    if (count < kLeastName) continue;
    middle = {middle.i / count, middle.j / count};
    if (render::planeDecision(*plane(), RunSide::reference, middle) != static_cast<int>(d)) continue;
    const QString name = models::decisionText(*m_scan, static_cast<int>(d));
    const QRectF room = QRectF(painter.fontMetrics().boundingRect(name)).adjusted(-4, -2, 4, 2);
    const QRectF place = room.translated(pixelAt(middle) - room.center());
    painter.fillRect(place, blended(decisionColor(static_cast<int>(d), theme), theme.base, kTint));
    painter.setPen(theme.text);
    painter.drawText(place, Qt::AlignCenter, name);
  }
}

void PlanePlot::paintAxes(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const auto& ids = m_scan->scan.sampleIds;
  const auto title = [&](const char* axis, std::size_t to, double length) {
    return ids.size() < 3 ? QString(QLatin1String(axis)) : tr("%1, from %2 (0) to %3 (1), L2 %4").arg(QLatin1String(axis), qt(ids[0]), qt(ids[to]), qt(base::shortNumber(length)));
  };
  painter.setPen(theme.muted);
  paintBottomAxis(painter, m_area, axisOf(*plane()), title("u", 1, plane()->lengthAB));
  paintValueAxis(painter, {m_area, axisOf(*plane()), title("v", 2, plane()->lengthAC)}, theme);
}

// Where the three samples stand, if that is on the map.
void PlanePlot::paintSamples(QPainter& painter) const {
  const Theme& theme = themeOf(this);
  const auto& ids = m_scan->scan.sampleIds;
  const double places[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  for (std::size_t s = 0; s < 3 && s < ids.size(); ++s) {
    const QPointF at = pixelAt({render::gridPlaceOf(*plane(), places[s][0]), render::gridPlaceOf(*plane(), places[s][1])});
    if (!m_area.adjusted(-1, -1, 1, 1).contains(at)) continue;
    paintMark(painter, at, {Mark::dot, theme.text}, 8);
    const QString name = qt(ids[s]);
    QRectF room = QRectF(0, 0, painter.fontMetrics().horizontalAdvance(name) + 8, painter.fontMetrics().height());
    room.moveCenter(at);
    room.moveLeft(at.x() > m_area.center().x() ? at.x() - room.width() - 6 : at.x() + 6);
    room.moveTop(at.y() > m_area.center().y() ? at.y() - room.height() - 2 : at.y() + 2);
    painter.fillRect(room, theme.base);
    painter.setPen(theme.text);
    painter.drawText(room, Qt::AlignCenter, name);
  }
}

void PlanePlot::paintCursor(QPainter& painter) const {
  if (m_cursor >= 0) {
    const Theme& theme = themeOf(this);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    for (const auto& [color, wide] : {std::pair{theme.base, 4.5}, {theme.accent, 2.0}}) {
      painter.setPen(QPen(color, wide));
      painter.drawEllipse(pixelOf(m_cursor), 6, 6);
    }
    painter.restore();
  }
}

std::vector<LegendEntry> PlanePlot::legend() const {
  if (plane() == nullptr) return {};
  const Theme& theme = themeOf(this);
  std::vector<LegendEntry> entries{{{Mark::line, theme.text, false}, tr("FP32's boundary (wide)")}, {{Mark::line, theme.series, false}, tr("%1's (thin)").arg(models::lowName(m_scan->scan))}};
  const std::int64_t beyond = plane()->flips - plane()->flipsWithinNoise;
  if (beyond > 0) entries.push_back({{Mark::square, theme.bad}, tr("they differ (hatched): %1").arg(qt(base::counted(beyond, "point")))});
  if (plane()->flipsWithinNoise > 0) entries.push_back({{Mark::square, theme.muted}, tr("within FP32's noise (hatched): %1").arg(qt(base::counted(plane()->flipsWithinNoise, "point")))});
  if (m_overlay) entries.push_back({{Mark::dashes, theme.good, false}, tr("overlay: %1").arg(models::scanRegions(m_overlay->scan).isEmpty() ? models::lowName(m_overlay->scan) : models::scanRegions(m_overlay->scan))});
  entries.push_back({{Mark::dot, theme.text}, tr("samples; between grid points interpolated")});
  return entries;
}

}  // namespace ulpscope::plots
