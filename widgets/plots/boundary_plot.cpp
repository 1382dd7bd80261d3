#include "widgets/plots/boundary_plot.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::LoadedScan;
using models::qt;
using session::PairAtPoint;
using session::ScanPoint;

constexpr double kDragFrom = 4;       // px: less is a click
constexpr double kGap = 10;           // px between charts
constexpr double kZoomStep = 1.25;
constexpr double kTall = 150;         // px of both charts together; lower: margins alone

template <typename Of>
std::vector<render::TimedValue> valuesOf(const render::PointList& points, const Of& of) {
  std::vector<render::TimedValue> values;
  for (const ScanPoint* point : points) values.push_back({static_cast<double>(point->t), of(point->at)});
  return values;
}

double scoreAt(const std::vector<double>& scores, std::size_t i) { return i < scores.size() ? scores[i] : std::nan(""); }

}  // namespace

BoundaryPlot::BoundaryPlot(QWidget* parent) : ChartWidget(tr("Boundary plot"), parent) { rebuild(); }

void BoundaryPlot::setScans(const models::ScanPointer& scan, const models::ScanPointer& overlay) {
  const bool isOther = scan != m_scan;
  m_scan = scan;
  m_overlay = overlay;
  if (isOther) {
    m_cursor = -1;
    m_view = {0, 1, m_view.width};
  }
  rebuild();
}

void BoundaryPlot::rebuild() {
  m_strips.clear();
  m_referenceScores.clear();
  m_candidateScores.clear();
  m_referenceMargin = m_candidateMargin = m_overlayMargin = m_bound = m_noise = {};
  if (segment() != nullptr) {
    const LoadedScan& scan = *m_scan;
    const QString low = models::lowName(scan.scan);
    const double errors = scan.scan.settings.decision.errorsToFlip();
    m_strips = {{tr("FP32"), render::decisionBands(scan.points, render::RunSide::reference)}, {low, render::decisionBands(scan.points, render::RunSide::candidate)}};
    for (std::size_t i = 0; i < scan.scan.classes.size() && !scan.points.empty() && !scan.points.front()->at.referenceScores.empty(); ++i) {
      const int decision = models::decisionOfClass(scan.scan, scan.scan.classes[i]);
      m_referenceScores.push_back({valuesOf(scan.points, [i](const PairAtPoint& p) { return scoreAt(p.referenceScores, i); }), decision, models::classText(scan, i)});
      m_candidateScores.push_back({valuesOf(scan.points, [i](const PairAtPoint& p) { return scoreAt(p.candidateScores, i); }), decision, {}});
    }
    if (errors > 0) {
      m_referenceMargin.values = valuesOf(scan.points, [](const PairAtPoint& p) { return p.referenceMargin; });
      m_candidateMargin.values = valuesOf(scan.points, [](const PairAtPoint& p) { return p.candidateMargin; });
      m_bound.values = valuesOf(scan.points, [errors](const PairAtPoint& p) { return errors * p.maxError; });
      if (scan.scan.noise.skipped.empty()) m_noise.values = valuesOf(scan.points, [errors](const PairAtPoint& p) { return errors * p.noiseError; });
    }
    if (m_overlay && m_overlay->scan.segment) {
      m_strips.push_back({tr("overlay"), render::decisionBands(m_overlay->points, render::RunSide::candidate)});
      for (render::DecisionBand& band : m_strips.back().bands) band.decision = models::decisionIn(scan, *m_overlay, band.decision);
      if (errors > 0) m_overlayMargin.values = valuesOf(m_overlay->points, [](const PairAtPoint& p) { return p.candidateMargin; });
    }
  }
  layOut();
  emit legendChanged();
}

double BoundaryPlot::stripHeight() const { return QFontMetrics(smallFont(font())).height() + 6; }

// Strips at their height, the rest for scores and margins; where there is little, margins alone.
void BoundaryPlot::layOut() {
  const QFontMetrics metrics(smallFont(font()));
  int labels = metrics.horizontalAdvance(QStringLiteral("0.00"));
  for (const Series& series : m_referenceScores) labels = std::max(labels, std::min(metrics.horizontalAdvance(series.label), width() / 6));
  const double left = std::max(valueAxisWidth(metrics), metrics.horizontalAdvance(tr("AMP FP16")) + 12.0), right = labels + 16.0;
  const double strips = (stripHeight() + 3) * static_cast<double>(std::max<std::size_t>(2, m_strips.size())) + 8;
  const double bottom = height() - bottomAxisHeight(metrics), across = std::max(10.0, width() - left - right);
  m_areas = {};
  m_areas[kStrips] = {left, metrics.height() + 4.0, across, strips};
  const double top = m_areas[kStrips].bottom() + kGap;
  const bool hasMargins = !m_referenceMargin.values.empty(), hasScores = !m_referenceScores.empty() && (!hasMargins || bottom - top >= kTall);
  const double each = (bottom - top - (hasScores && hasMargins ? kGap : 0)) / (hasScores && hasMargins ? 2 : 1);
  if (hasScores) m_areas[kScores] = {left, top, across, std::max(20.0, each)};
  if (hasMargins) m_areas[kMargins] = {left, bottom - std::max(20.0, each), across, std::max(20.0, each)};
  m_view.width = across;
  update();
}

void BoundaryPlot::setView(const render::TimeView& view) {
  m_view = view;
  update();
  emit viewChanged();
}

void BoundaryPlot::showAll() { setView({0, 1, m_view.width}); }
void BoundaryPlot::showStretch(const session::Stretch& stretch) { setView(render::timeAround(stretch, m_view.width)); }

void BoundaryPlot::zoomBy(double factor) {
  const double x = m_cursor >= 0 ? m_view.xOf(static_cast<double>(m_scan->points[static_cast<std::size_t>(m_cursor)]->t)) : m_view.width / 2;
  setView(render::zoomedTime(m_view, factor, std::clamp(x, 0.0, m_view.width)));
}

void BoundaryPlot::setCursor(int point) {
  m_cursor = segment() != nullptr && point < static_cast<int>(m_scan->points.size()) ? point : -1;
  if (m_cursor >= 0) {
    const double t = static_cast<double>(m_scan->points[static_cast<std::size_t>(m_cursor)]->t);
    if (t < m_view.from || t > m_view.to) setView(render::pannedTime(m_view, m_view.width / 2 - m_view.xOf(t)));
    setAccessibleDescription(tr("%1. Left and Right go to the next point that was looked at, Page Up and Page Down a tenth of what is shown, Plus and Minus zoom, 0 shows all. The tables beside have the same numbers.").arg(tooltipOf(m_cursor)));
  }
  update();
}

QString BoundaryPlot::tooltipOf(int point) const {
  if (segment() == nullptr || point < 0 || point >= static_cast<int>(m_scan->points.size())) return {};
  const ScanPoint& at = *m_scan->points[static_cast<std::size_t>(point)];
  return QStringLiteral("t %1\n%2").arg(models::timeText(static_cast<double>(at.t)), models::pointText(*m_scan, at.at));
}

int BoundaryPlot::pointAt(double x) const {
  const QRectF& area = m_areas[kStrips];
  if (segment() == nullptr || m_scan->points.empty() || x < area.left() - 1 || x > area.right() + 1) return -1;
  return static_cast<int>(render::nearestPoint(m_scan->points, m_view.tOf(x - area.left())));
}

void BoundaryPlot::choose(int point) {
  if (point < 0) return;
  setCursor(point);
  emit pointChosen(point);
}

void BoundaryPlot::step(int by) {
  if (segment() == nullptr || m_scan->points.empty()) return;
  const int last = static_cast<int>(m_scan->points.size()) - 1;
  choose(m_cursor < 0 ? (by > 0 ? 0 : last) : std::clamp(m_cursor + by, 0, last));
}

void BoundaryPlot::keyPressEvent(QKeyEvent* event) {
  const auto leap = [this](double share) {
    const double now = m_cursor >= 0 ? static_cast<double>(m_scan->points[static_cast<std::size_t>(m_cursor)]->t) : m_view.from;
    choose(static_cast<int>(render::nearestPoint(m_scan->points, std::clamp(now + share * (m_view.to - m_view.from), 0.0, 1.0))));
  };
  if (segment() == nullptr || m_scan->points.empty()) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left: return step(-1);
    case Qt::Key_Right: return step(1);
    case Qt::Key_Home: return choose(0);
    case Qt::Key_End: return choose(static_cast<int>(m_scan->points.size()) - 1);
    case Qt::Key_PageUp: return leap(-0.1);
    case Qt::Key_PageDown: return leap(0.1);
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoomBy(kZoomStep);
    case Qt::Key_Minus: return zoomBy(1 / kZoomStep);
    case Qt::Key_0: return showAll();
    default: QWidget::keyPressEvent(event);
  }
}

void BoundaryPlot::wheelEvent(QWheelEvent* event) {
  if (segment() == nullptr || event->angleDelta().y() == 0) return QWidget::wheelEvent(event);
  const double x = std::clamp(event->position().x() - m_areas[kStrips].left(), 0.0, m_view.width);
  setView(render::zoomedTime(m_view, std::pow(kZoomStep, event->angleDelta().y() / 120.0), x));
  event->accept();
}

void BoundaryPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  setFocus(Qt::MouseFocusReason);
  m_draggedFrom = event->position().x();
  m_isDragging = false;
}

void BoundaryPlot::mouseMoveEvent(QMouseEvent* event) {
  const double x = event->position().x();
  if (m_draggedFrom && (m_isDragging || std::fabs(x - *m_draggedFrom) > kDragFrom)) {
    m_isDragging = true;
    setView(render::pannedTime(m_view, x - *m_draggedFrom));
    m_draggedFrom = x;
    return;
  }
  const int point = pointAt(x);
  if (point >= 0) QToolTip::showText(event->globalPosition().toPoint(), tooltipOf(point), this);
  else QToolTip::hideText();
}

void BoundaryPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (m_draggedFrom && !m_isDragging) choose(pointAt(event->position().x()));
  m_draggedFrom.reset();
  m_isDragging = false;
}

}  // namespace ulpscope::plots
