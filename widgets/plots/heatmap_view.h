// The heatmap: modules x samples, with zoom, pan, crosshair, keyboard cursor and selection.
#pragma once

#include "core/render/viewport.h"
#include "widgets/models/heatmap_table_model.h"

#include <QImage>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>

namespace ulpscope::plots {

// A row's sign in the margin: visible at every zoom.
enum class RowMark { none, consequence, origin };

struct HeatmapLook {
  render::ColorRange range;
  render::ColorMap map = render::ColorMap::viridis;
  std::vector<RowMark> rowMarks;  // one a row
  QString order;                  // "as given", "by FP32 margin, smallest first"
};

class HeatmapView : public QWidget {
  Q_OBJECT

 public:
  // row and sample of the content -> the text of tooltip and status bar.
  using TextOf = std::function<QString(std::int64_t row, std::int64_t sample)>;

  explicit HeatmapView(QWidget* parent = nullptr);

  // Keeps zoom when rows and columns are as many as before.
  void setContent(std::shared_ptr<const models::HeatmapContent> content, const HeatmapLook& look);
  void setTextOf(TextOf textOf) { m_textOf = std::move(textOf); }
  void setSelected(std::optional<render::CellIndex> cell);  // row and column
  void setRowHighlight(std::int64_t row);                   // -1: none
  const std::optional<render::CellIndex>& selected() const { return m_selected; }

  const render::Viewport& viewport() const { return m_view; }
  QRect plotRect() const { return m_plot; }
  // Where a cell's centre is drawn, in widget coordinates; nullopt outside what is shown.
  std::optional<QPoint> centerOf(render::CellIndex cell) const;
  void zoomBy(double factor);
  void showAll();

 signals:
  void cellHovered(const QString& text);  // empty: the pointer left the map
  void cellSelected(std::int64_t row, std::int64_t sample);
  void viewportChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::int64_t rowCount() const;
  std::int64_t columnCount() const;
  void layOut();
  void setViewport(const render::Viewport& viewport);
  void updateImage();
  std::optional<render::CellIndex> cellUnder(const QPointF& position) const;
  void select(render::CellIndex cell);
  void hover(std::optional<render::CellIndex> cell);
  QString textFor(render::CellIndex cell) const;
  void moveCursor(std::int64_t rows, std::int64_t columns);

  std::shared_ptr<const models::HeatmapContent> m_content;
  HeatmapLook m_look;
  TextOf m_textOf;
  render::Viewport m_view;
  QRect m_plot;
  QImage m_image;
  bool m_imageIsOld = true;
  std::optional<render::CellIndex> m_selected;
  std::optional<render::CellIndex> m_hovered;
  std::int64_t m_highlightedRow = -1;
  QPointF m_pressedAt;
  render::Viewport m_pressedView;
  bool m_dragging = false;
};

}  // namespace ulpscope::plots
