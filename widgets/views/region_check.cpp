#include "widgets/views/region_check.h"

#include <QPainter>

namespace ulpscope::views {

using models::RegionState;

void paintRegionCheck(QPainter& painter, const QRect& rect, RegionState state, bool isSelected, const plots::Theme& theme) {
  constexpr int kBoxSize = 14;
  const QRectF box(rect.center().x() - kBoxSize / 2.0 + 0.5, rect.center().y() - kBoxSize / 2.0 + 0.5, kBoxSize, kBoxSize);
  const bool isCovered = state == RegionState::covered || state == RegionState::coveredDisabled;
  const bool isFilled = state != RegionState::off && !isCovered;
  painter.setPen(QPen(isSelected ? theme.selectionText : isFilled ? theme.accent : theme.muted, 1.3));
  painter.setBrush(isFilled ? theme.accent : theme.base);
  painter.drawRoundedRect(box, 3, 3);
  painter.setPen(QPen(isFilled ? theme.accentText : theme.muted, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  const QPointF c = box.center();
  if (state == RegionState::own || state == RegionState::covered)
    painter.drawPolyline(QPolygonF({{c.x() - 3.5, c.y()}, {c.x() - 1, c.y() + 3}, {c.x() + 4, c.y() - 3}}));
  else if (state == RegionState::partial)
    painter.drawLine(QPointF(c.x() - 3.5, c.y()), QPointF(c.x() + 3.5, c.y()));
  else if (state != RegionState::off) {
    painter.drawLine(QPointF(c.x() - 3, c.y() - 3), QPointF(c.x() + 3, c.y() + 3));
    painter.drawLine(QPointF(c.x() + 3, c.y() - 3), QPointF(c.x() - 3, c.y() + 3));
  }
}

}  // namespace ulpscope::views
