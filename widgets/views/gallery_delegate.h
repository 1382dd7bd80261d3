// Draws a tile: the picture, what became of the decision (shape, colour and word), id and margin, both decisions.
#pragma once

#include <QStyledItemDelegate>

class QFontMetrics;

namespace ulpscope::views {

class GalleryDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  explicit GalleryDelegate(QObject* parent = nullptr) : QStyledItemDelegate(parent) {}
  static QSize tileSize(const QFontMetrics& metrics, int pictureSide);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace ulpscope::views
