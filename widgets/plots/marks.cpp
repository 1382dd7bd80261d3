#include "widgets/plots/marks.h"

#include <QPainter>

namespace ulpscope::plots {

using models::Outcome;

MarkStyle styleOf(Outcome outcome, const Theme& theme) {
  switch (outcome) {
    case Outcome::regressed: return {Mark::triangleDown, theme.bad};
    case Outcome::flipped: return {Mark::square, theme.bad};
    case Outcome::wrongToWrong: return {Mark::square, theme.warn};
    case Outcome::fixed: return {Mark::triangleUp, theme.good};
    case Outcome::noDecision: return {Mark::diamond, theme.origin.border};
    case Outcome::same: return {Mark::dot, theme.series};
    case Outcome::notRun: return {Mark::cross, theme.muted};
  }
  return {};
}

QPainterPath markPath(Mark mark, double size) {
  const double r = size / 2;
  QPainterPath path;
  switch (mark) {
    case Mark::dot:
    case Mark::ring: path.addEllipse(QPointF(0, 0), r, r); break;
    case Mark::triangleDown: path.addPolygon(QPolygonF({{-r, -0.8 * r}, {r, -0.8 * r}, {0, r}, {-r, -0.8 * r}})); break;
    case Mark::triangleUp: path.addPolygon(QPolygonF({{-r, 0.8 * r}, {r, 0.8 * r}, {0, -r}, {-r, 0.8 * r}})); break;
    case Mark::square: path.addRect(-0.85 * r, -0.85 * r, 1.7 * r, 1.7 * r); break;
    case Mark::diamond: path.addPolygon(QPolygonF({{0, -r}, {r, 0}, {0, r}, {-r, 0}, {0, -r}})); break;
    case Mark::cross:
      path.moveTo(-r, -r);
      path.lineTo(r, r);
      path.moveTo(-r, r);
      path.lineTo(r, -r);
      break;
    case Mark::line:
    case Mark::dashes:
      path.moveTo(-1.2 * r, 0);
      path.lineTo(1.2 * r, 0);
      break;
  }
  return path;
}

void paintMark(QPainter& painter, QPointF centre, const MarkStyle& style, double size) {
  const bool isStroke = style.mark == Mark::line || style.mark == Mark::dashes || style.mark == Mark::cross || style.mark == Mark::ring;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(centre);
  painter.setPen(QPen(style.color, 1.5, style.mark == Mark::dashes ? Qt::DashLine : Qt::SolidLine));
  painter.setBrush(style.isFilled && !isStroke ? QBrush(style.color) : QBrush(Qt::NoBrush));
  painter.drawPath(markPath(style.mark, size));
  painter.restore();
}

}  // namespace ulpscope::plots
