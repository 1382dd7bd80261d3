// Draws a tile: the picture in its own proportions, what became of the decision (shape, colour and word), id and decisions, the true label
// where there is one, the margin.
#pragma once

#include <QStyledItemDelegate>

class QFontMetrics;

namespace ulpscope::views {

class GalleryDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  explicit GalleryDelegate(QObject* parent = nullptr) : QStyledItemDelegate(parent) {}
  static QSize tileSize(const QFontMetrics& metrics, int pictureSide, bool hasLabels);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace ulpscope::views
