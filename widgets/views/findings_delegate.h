// Draws what the findings' tables have besides text: the FP32 box, the marks of runs A, B and baseline, the sign of a verdict. Each has a
// shape and a word, never colour alone.
#pragma once

#include <QStyledItemDelegate>

namespace ulpscope::views {

// For columns whose cells have models::NonfiniteModel::kRegionRole.
class RegionDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option, const QModelIndex& index) override;
};

// For models::RunsModel.
class RunsDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace ulpscope::views
