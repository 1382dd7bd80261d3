#include "widgets/views/badge_delegate.h"

#include "widgets/models/module_tree_model.h"
#include "widgets/plots/heatmap_paint.h"
#include "widgets/plots/theme.h"
#include "widgets/views/region_check.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>

namespace ulpscope::views {
namespace {

using models::Badge;
using models::ModuleTreeModel;
using RegionState = ModuleTreeModel::RegionState;

const plots::BadgeColors& colorsOf(const plots::Theme& theme, Badge::Kind kind) {
  switch (kind) {
    case Badge::Kind::origin: return theme.origin;
    case Badge::Kind::consequence: return theme.consequence;
    case Badge::Kind::farOver: return theme.farOver;
    case Badge::Kind::overTolerance: return theme.over;
    default: return theme.within;
  }
}

// Shape says the same as colour: diamond, outlined diamond, square, triangle, nothing.
void drawSign(QPainter& painter, QPointF c, Badge::Kind kind, const QColor& color) {
  if (kind == Badge::Kind::origin) return plots::paintDiamond(painter, c, 4, color, plots::RowMark::origin);
  if (kind == Badge::Kind::consequence) return plots::paintDiamond(painter, c, 4, color, plots::RowMark::consequence);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  if (kind == Badge::Kind::farOver) painter.drawRect(QRectF(c.x() - 3, c.y() - 3, 6, 6));
  if (kind == Badge::Kind::overTolerance) painter.drawPolygon(QPolygonF({{c.x(), c.y() - 4}, {c.x() + 4, c.y() + 3}, {c.x() - 4, c.y() + 3}}));
}

// Stale: the sign and the words stay, the colour goes.
void paintBadge(QPainter& painter, const QRect& rect, const Badge& badge, bool isStale, const plots::Theme& theme) {
  if (badge.kind == Badge::Kind::none) {
    painter.setPen(theme.muted);
    painter.drawText(rect.adjusted(0, 0, -10, 0), Qt::AlignRight | Qt::AlignVCenter, badge.text());
    return;
  }
  const plots::BadgeColors& colors = isStale ? theme.within : colorsOf(theme, badge.kind);
  const QRectF pill = QRectF(rect).adjusted(4.5, 2.5, -4.5, -2.5);
  painter.setPen(QPen(colors.border, 1));
  painter.setBrush(colors.background);
  painter.drawRoundedRect(pill, 4, 4);
  drawSign(painter, {pill.left() + 10, pill.center().y()}, badge.kind, colors.text);
  painter.setPen(colors.text);
  painter.drawText(pill.adjusted(18, 0, -6, 0), Qt::AlignRight | Qt::AlignVCenter, badge.text());
}

void paintDtype(QPainter& painter, const QStyleOptionViewItem& option, const QString& text, const plots::Theme& theme) {
  QFont small = option.font;
  small.setPointSizeF(option.font.pointSizeF() * 0.88);
  painter.setFont(small);
  painter.setPen(option.state & QStyle::State_Selected ? theme.selectionText : theme.muted);
  painter.drawText(option.rect, Qt::AlignCenter, text);
}

// Over the tolerance in the text's colour, within it in grey: the number says the same.
void paintRatio(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index, const plots::Theme& theme) {
  const auto badge = index.siblingAtColumn(ModuleTreeModel::kBadge).data(ModuleTreeModel::kBadgeRole).value<Badge>();
  const bool isWithin = badge.ratioToSort() <= 1 || index.data(ModuleTreeModel::kStaleRole).toBool();
  painter.setPen(option.state & QStyle::State_Selected ? theme.selectionText : isWithin ? theme.muted : theme.text);
  const QRect room = option.rect.adjusted(2, 0, -4, 0);
  painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter, painter.fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room.width()));
}

void paintName(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index, const plots::Theme& theme) {
  const bool isSelected = option.state & QStyle::State_Selected;
  const QString name = index.data().toString();
  const QString type = index.data(ModuleTreeModel::kTypeRole).toString();
  const QRect room = option.rect.adjusted(4, 0, -2, 0);
  painter.setPen(isSelected ? theme.selectionText : theme.text);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(name, Qt::ElideRight, room.width()));
  const int used = painter.fontMetrics().horizontalAdvance(name) + 10;
  if (used > room.width() - 12) return;
  QFont small = option.font;
  small.setPointSizeF(option.font.pointSizeF() * 0.88);
  painter.setFont(small);
  painter.setPen(isSelected ? theme.selectionText : theme.muted);
  painter.drawText(room.adjusted(used, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(type, Qt::ElideRight, room.width() - used));
}

}  // namespace

void BadgeDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const plots::Theme& theme = plots::themeOf(option.widget);
  QStyleOptionViewItem background(option);
  background.text.clear();
  background.features &= ~QStyleOptionViewItem::HasCheckIndicator;
  QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &background, painter, option.widget);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setFont(option.font);
  switch (index.column()) {
    case ModuleTreeModel::kModule: paintName(*painter, option, index, theme); break;
    case ModuleTreeModel::kDtype: paintDtype(*painter, option, index.data().toString(), theme); break;
    case ModuleTreeModel::kRatio: paintRatio(*painter, option, index, theme); break;
    case ModuleTreeModel::kBadge: paintBadge(*painter, option.rect, index.data(ModuleTreeModel::kBadgeRole).value<Badge>(), index.data(ModuleTreeModel::kStaleRole).toBool(), theme); break;
    case ModuleTreeModel::kFp32: paintRegionCheck(*painter, option.rect, static_cast<RegionState>(index.data(ModuleTreeModel::kRegionRole).toInt()),
                                             option.state & QStyle::State_Selected, theme); break;
    default: break;
  }
  painter->restore();
}

QSize BadgeDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = QStyledItemDelegate::sizeHint(option, index);
  size.setHeight(std::max(size.height(), option.fontMetrics.height() + 8));
  return size;
}

bool BadgeDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) {
  if (index.column() != ModuleTreeModel::kFp32) return QStyledItemDelegate::editorEvent(event, model, option, index);
  if (event->type() != QEvent::MouseButtonRelease) return event->type() == QEvent::MouseButtonDblClick;
  const auto* mouse = static_cast<QMouseEvent*>(event);
  if (mouse->button() != Qt::LeftButton || !option.rect.contains(mouse->pos())) return false;
  const bool onParent = mouse->modifiers() & Qt::ShiftModifier && index.parent().isValid();
  return model->setData(onParent ? index.parent().siblingAtColumn(ModuleTreeModel::kFp32) : index, {}, Qt::CheckStateRole);
}

}  // namespace ulpscope::views
