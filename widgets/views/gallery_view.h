// Inputs of samples as tiles. Arrows move, Enter or a click chooses; tells which pictures it needs.
#pragma once

#include <QListView>
#include <QTimer>

#include <vector>

namespace ulpscope::models {
class GalleryModel;
}

namespace ulpscope::views {

class GalleryView : public QListView {
  Q_OBJECT

 public:
  explicit GalleryView(models::GalleryModel* model, QWidget* parent = nullptr);
  int pictureSide() const { return m_pictureSide; }  // px, at most
  void showSample(std::int64_t sample);  // scrolls there and makes it current
  QString emptyText() const;  // what stands there without tiles; empty: there are some
  void askForPictures();  // sooner or later emits needed()

 signals:
  void sampleChosen(std::int64_t sample);
  // In sight or nearly so, and without a picture.
  void needed(const std::vector<std::int64_t>& samples);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  std::vector<std::int64_t> inSight() const;
  void setTileSize();

  models::GalleryModel* m_model;
  QTimer m_ask;
  int m_pictureSide = 64;
};

}  // namespace ulpscope::views
