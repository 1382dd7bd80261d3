#include "widgets/views/gallery_view.h"

#include "widgets/models/gallery_model.h"
#include "widgets/views/gallery_delegate.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>

namespace ulpscope::views {

using models::GalleryModel;

// Of a row of tiles, picture and outcome at least are always to be seen: more would not fit a small screen.
constexpr int kMostMinimum = 110;

GalleryView::GalleryView(GalleryModel* model, QWidget* parent) : QListView(parent), m_model(model) {
  setModel(model);
  setItemDelegate(new GalleryDelegate(this));
  // A wrapped list lays tiles out like icons do, and stays fast with many thousands.
  setFlow(QListView::LeftToRight);
  setWrapping(true);
  setResizeMode(QListView::Adjust);
  setUniformItemSizes(true);
  setSelectionMode(QAbstractItemView::NoSelection);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setMouseTracking(true);
  setAccessibleName(tr("Gallery of inputs"));
  setTileSize();
  m_ask.setSingleShot(true);
  m_ask.setInterval(0);
  connect(&m_ask, &QTimer::timeout, this, [this] {
    if (const auto samples = inSight(); !samples.empty()) emit needed(samples);
  });
  connect(model, &GalleryModel::modelReset, this, [this] {
    setTileSize();  // with or without labels
    askForPictures();
  });
  connect(this, &QListView::clicked, this, [this](const QModelIndex& index) { emit sampleChosen(index.data(GalleryModel::kKeyRole).toLongLong()); });
}

void GalleryView::setTileSize() {
  m_pictureSide = std::max(64, 4 * fontMetrics().height());
  setGridSize(GalleryDelegate::tileSize(fontMetrics(), m_pictureSide, m_model->hasLabels()));
  verticalScrollBar()->setSingleStep(gridSize().height() / 3);
  setMinimumHeight(std::min(gridSize().height() + 2 * frameWidth(), kMostMinimum));
}

void GalleryView::askForPictures() {
  if (isVisible()) m_ask.start();
}

void GalleryView::showSample(std::int64_t sample) {
  const int row = m_model->rowOfSample(sample);
  if (row >= 0) setCurrentIndex(m_model->index(row));
}

std::vector<std::int64_t> GalleryView::inSight() const {
  const int columns = std::max(1, viewport()->width() / gridSize().width());
  const int top = verticalScrollBar()->value(), height = viewport()->height();
  const int line = gridSize().height();
  // A screenful more either way.
  const int first = std::max(0, (top - height) / line * columns);
  const int last = std::min(m_model->rowCount(), ((top + 2 * height) / line + 1) * columns);
  std::vector<std::int64_t> samples;
  for (int row = first; row < last; ++row)
    if (const std::int64_t sample = m_model->index(row).data(GalleryModel::kKeyRole).toLongLong(); !m_model->hasThumbnail(sample)) samples.push_back(sample);
  return samples;
}

QString GalleryView::emptyText() const {
  return m_model->rowCount() > 0 ? QString() : tr("No decision changed here.\nA larger margin, or All samples, shows more.");
}

void GalleryView::paintEvent(QPaintEvent* event) {
  QListView::paintEvent(event);
  if (m_model->rowCount() > 0) return;
  QPainter painter(viewport());
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(viewport()->rect().adjusted(8, 8, -8, -8), Qt::AlignCenter | Qt::TextWordWrap, emptyText());
}

void GalleryView::resizeEvent(QResizeEvent* event) {
  QListView::resizeEvent(event);
  askForPictures();
}

void GalleryView::showEvent(QShowEvent* event) {
  QListView::showEvent(event);
  askForPictures();
}

void GalleryView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) setTileSize();
  QListView::changeEvent(event);
}

void GalleryView::scrollContentsBy(int dx, int dy) {
  QListView::scrollContentsBy(dx, dy);
  askForPictures();
}

// Its actions, of the tile under the pointer, which is chosen by that; from the keyboard of the current one.
void GalleryView::contextMenuEvent(QContextMenuEvent* event) {
  const QModelIndex index = event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : indexAt(event->pos());
  if (!index.isValid()) return QListView::contextMenuEvent(event);
  emit sampleChosen(index.data(GalleryModel::kKeyRole).toLongLong());
  QMenu menu(this);
  menu.addActions(actions());
  menu.exec(event->reason() == QContextMenuEvent::Keyboard ? viewport()->mapToGlobal(visualRect(index).center()) : event->globalPos());
}

void GalleryView::keyPressEvent(QKeyEvent* event) {
  const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space;
  if (!isEnter || !currentIndex().isValid()) return QListView::keyPressEvent(event);
  emit sampleChosen(currentIndex().data(GalleryModel::kKeyRole).toLongLong());
}

}  // namespace ulpscope::views
