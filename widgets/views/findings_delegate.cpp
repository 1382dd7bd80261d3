#include "widgets/views/findings_delegate.h"

#include "widgets/models/nonfinite_model.h"
#include "widgets/models/runs_model.h"
#include "widgets/views/region_check.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>

namespace ulpscope::views {
namespace {

using models::RunsModel;

constexpr int kPillPadding = 7;
constexpr int kGap = 4;
constexpr int kSignRoom = 20;
constexpr int kFlagRoom = 11;

void paintBackground(QPainter& painter, const QStyleOptionViewItem& option) {
  QStyleOptionViewItem background(option);
  background.text.clear();
  background.features &= ~QStyleOptionViewItem::HasCheckIndicator;
  QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &background, &painter, option.widget);
}

struct Pill {
  QString text;
  int mark;
};
QList<Pill> pillsOf(int marks) {
  QList<Pill> pills;
  for (const Pill& pill : {Pill{QStringLiteral("A"), RunsModel::kA}, Pill{QStringLiteral("B"), RunsModel::kB}, Pill{RunsDelegate::tr("baseline"), RunsModel::kBaseline}})
    if (marks & pill.mark) pills << pill;
  return pills;
}

int widthOf(const Pill& pill, const QFontMetrics& metrics) { return metrics.horizontalAdvance(pill.text) + 2 * kPillPadding + (pill.mark == RunsModel::kBaseline ? kFlagRoom : 0); }

struct PillColors {
  QColor line, fill, text;
};
PillColors pillColors(bool isFilled, bool isSelected, const plots::Theme& theme) {
  if (isSelected) return isFilled ? PillColors{theme.selectionText, theme.selectionText, theme.selection} : PillColors{theme.selectionText, theme.selection, theme.selectionText};
  return isFilled ? PillColors{theme.accent, theme.accent, theme.accentText} : PillColors{theme.accent, theme.base, theme.text};
}

// A outlined, B filled, the baseline outlined and with a flag.
void paintPill(QPainter& painter, const QRectF& rect, const Pill& pill, const PillColors& colors) {
  painter.setPen(QPen(colors.line, 1.2));
  painter.setBrush(colors.fill);
  painter.drawRoundedRect(rect, 4, 4);
  const QColor ink = colors.text;
  QRectF room = rect;
  if (pill.mark == RunsModel::kBaseline) {
    const double x = rect.left() + kPillPadding, y = rect.center().y();
    painter.setPen(QPen(ink, 1.3));
    painter.drawLine(QPointF(x, y - 5), QPointF(x, y + 5));
    painter.setBrush(ink);
    painter.drawPolygon(QPolygonF({{x, y - 5}, {x + 6, y - 2.5}, {x, y}}));
    room.setLeft(rect.left() + kFlagRoom);
  }
  painter.setPen(ink);
  painter.drawText(room, Qt::AlignCenter, pill.text);
}

void paintMarks(QPainter& painter, const QStyleOptionViewItem& option, int marks, const plots::Theme& theme) {
  double x = option.rect.left() + kGap + 0.5;
  for (const Pill& pill : pillsOf(marks)) {
    const int width = widthOf(pill, option.fontMetrics);
    const double height = option.fontMetrics.height() + 3;
    paintPill(painter, {x, option.rect.center().y() - height / 2 + 0.5, static_cast<double>(width), height}, pill,
              pillColors(pill.mark == RunsModel::kB, option.state & QStyle::State_Selected, theme));
    x += width + kGap;
  }
}

// Check, cross, or a ring.
void paintSign(QPainter& painter, QPointF c, RunsModel::Sign sign, const QColor& color) {
  painter.setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  switch (sign) {
    case RunsModel::Sign::good: painter.drawPolyline(QPolygonF({{c.x() - 4, c.y()}, {c.x() - 1, c.y() + 3.5}, {c.x() + 5, c.y() - 4}})); break;
    case RunsModel::Sign::bad:
      painter.drawLine(QPointF(c.x() - 3.5, c.y() - 3.5), QPointF(c.x() + 3.5, c.y() + 3.5));
      painter.drawLine(QPointF(c.x() + 3.5, c.y() - 3.5), QPointF(c.x() - 3.5, c.y() + 3.5));
      break;
    case RunsModel::Sign::open: painter.drawEllipse(c, 3.5, 3.5); break;
    case RunsModel::Sign::none: break;
  }
}

QColor colorOf(RunsModel::Sign sign, bool isSelected, const plots::Theme& theme) {
  if (isSelected) return theme.selectionText;
  switch (sign) {
    case RunsModel::Sign::good: return theme.good;
    case RunsModel::Sign::bad: return theme.bad;
    case RunsModel::Sign::open: return theme.warn;
    case RunsModel::Sign::none: break;
  }
  return theme.muted;
}

void paintVerdict(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index, const plots::Theme& theme) {
  const auto sign = static_cast<RunsModel::Sign>(index.data(RunsModel::kSignRole).toInt());
  const QColor color = colorOf(sign, option.state & QStyle::State_Selected, theme);
  QRect room = option.rect.adjusted(6, 0, -2, 0);
  if (sign != RunsModel::Sign::none) {
    paintSign(painter, {room.left() + 6.0, room.center().y() + 0.5}, sign, color);
    room.setLeft(room.left() + kSignRoom);
  }
  painter.setPen(color);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room.width()));
}

bool hasSign(const QModelIndex& index) { return index.column() == RunsModel::kVerdict || index.column() == RunsModel::kStatus; }

}  // namespace

void RegionDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  paintBackground(*painter, option);
  if (index.data(Qt::CheckStateRole).isValid())
    paintRegionCheck(*painter, option.rect, static_cast<models::RegionState>(index.data(models::NonfiniteModel::kRegionRole).toInt()), option.state & QStyle::State_Selected,
                     plots::themeOf(option.widget));
  painter->restore();
}

bool RegionDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) {
  const bool clicked = event->type() == QEvent::MouseButtonRelease && static_cast<QMouseEvent*>(event)->button() == Qt::LeftButton &&
                       option.rect.contains(static_cast<QMouseEvent*>(event)->pos());
  const bool pressed = event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space;
  if (!clicked && !pressed) return event->type() == QEvent::MouseButtonDblClick;
  return model->setData(index, {}, Qt::CheckStateRole);
}

void RunsDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const bool isMarks = index.column() == RunsModel::kShown;
  if (!isMarks && !hasSign(index)) return QStyledItemDelegate::paint(painter, option, index);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setFont(option.font);
  paintBackground(*painter, option);
  if (isMarks)
    paintMarks(*painter, option, index.data(RunsModel::kMarksRole).toInt(), plots::themeOf(option.widget));
  else
    paintVerdict(*painter, option, index, plots::themeOf(option.widget));
  painter->restore();
}

QSize RunsDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = QStyledItemDelegate::sizeHint(option, index);
  if (hasSign(index)) size.rwidth() += kSignRoom;
  if (index.column() != RunsModel::kShown) return size;
  int width = kGap;
  for (const Pill& pill : pillsOf(index.data(RunsModel::kMarksRole).toInt())) width += widthOf(pill, option.fontMetrics) + kGap;
  size.setWidth(std::max(size.width(), width));
  return size;
}

QWidget* RunsDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QWidget* editor = QStyledItemDelegate::createEditor(parent, option, index);
  if (auto* line = qobject_cast<QLineEdit*>(editor)) {
    line->setAccessibleName(tr("Name of the run"));
    line->setStyleSheet(QStringLiteral("padding: 0 4px;"));  // the row is lower than a form's field
  }
  return editor;
}

}  // namespace ulpscope::views
