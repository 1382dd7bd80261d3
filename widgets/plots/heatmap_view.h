// The heatmap: modules x samples, with zoom, pan, crosshair, keyboard cursor, selection and rows that unfold.
#pragma once

#include "core/render/viewport.h"
#include "widgets/models/heatmap_content.h"
#include "widgets/plots/heatmap_image.h"

#include <QPixmap>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>

namespace ulpscope::plots {

struct HeatmapScene;

// A row's sign in the margin: visible at every zoom.
enum class RowMark : std::uint8_t { none, consequence, origin };
// Whether a row has op sites to show: the triangle at its label.
enum class RowFold : std::uint8_t { none, folded, unfolded };

struct HeatmapLook {
  render::ColorRange range;
  render::ColorMap map = render::ColorMap::viridis;
  std::vector<RowMark> rowMarks;  // one a row
  std::vector<RowFold> rowFolds;  // one a row
  QString order;                  // "as given", "by FP32 margin, smallest first"
};

class HeatmapView : public QWidget {
  Q_OBJECT

 public:
  // row and sample of the content -> a text.
  using TextOf = std::function<QString(std::int64_t row, std::int64_t sample)>;

  explicit HeatmapView(QWidget* parent = nullptr);

  // What is zoomed in stays so, as far as the new rows and columns go; a whole map stays whole.
  void setContent(std::shared_ptr<const models::HeatmapContent> content, const HeatmapLook& look);
  // Other colours, marks or words for the same content.
  void setLook(const HeatmapLook& look);
  void setTextOf(TextOf textOf) { m_textOf = std::move(textOf); }           // one line: status bar, screen reader
  void setTooltipOf(TextOf tooltipOf) { m_tooltipOf = std::move(tooltipOf); }
  void setSelected(std::optional<render::CellIndex> cell);  // row and column
  void setRowHighlight(std::int64_t row);                   // -1: none
  const std::optional<render::CellIndex>& selected() const { return m_selected; }
  std::int64_t cursorRow() const { return m_selected ? m_selected->row : m_highlightedRow; }  // -1: none

  const render::Viewport& viewport() const { return m_view; }
  models::CellBlock visibleBlock() const;
  QRect plotRect() const { return m_plot; }
  // Where a cell's centre is drawn, in widget coordinates; nullopt outside what is shown.
  std::optional<QPoint> centerOf(render::CellIndex cell) const;
  // The triangle of a row that can be unfolded; empty where none is drawn.
  QRect foldRectOf(std::int64_t row) const;
  std::optional<render::CellIndex> cellUnder(const QPointF& position) const;
  void zoomBy(double factor);
  void showAll();
  // What the tooltip says has changed: it is shown anew where it stands.
  void refreshTooltip();

 signals:
  void cellHovered(const QString& text);  // empty: the pointer left the map
  void cellSelected(std::int64_t row, std::int64_t sample);
  void rowSelected(std::int64_t row);  // by its label
  void foldToggled(std::int64_t row);
  void viewportChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::int64_t rowCount() const { return m_content ? m_content->rowCount() : 0; }
  std::int64_t columnCount() const { return m_content ? m_content->columnCount() : 0; }
  void layOut();
  void setViewport(const render::Viewport& viewport);
  void applyLook(const HeatmapLook& look);
  HeatmapScene parts() const;
  const QPixmap& scene();
  void paintScene(QPainter& painter);
  const QImage& mapImage();
  QRectF rectOf(render::CellIndex cell) const;
  std::int64_t labelRowUnder(const QPointF& position) const;  // -1: no label there
  void select(render::CellIndex cell);
  void hover(std::optional<render::CellIndex> cell);
  QString textFor(render::CellIndex cell) const;
  void moveCursor(std::int64_t rows, std::int64_t columns);
  bool showTooltip(const QPoint& position, const QPoint& globalPosition);

  std::shared_ptr<const models::HeatmapContent> m_content;
  HeatmapLook m_look;
  HeatmapImage m_image;
  TextOf m_textOf, m_tooltipOf;
  render::Viewport m_view;
  QRect m_plot;
  int m_labelWidth = 0;
  QPixmap m_scene;  // labels, marks and axis around the map
  bool m_sceneIsOld = true;
  std::optional<render::CellIndex> m_selected;
  std::optional<render::CellIndex> m_hovered;
  std::int64_t m_highlightedRow = -1;
  QPoint m_tooltipAt;  // of the last one shown
  QPointF m_pressedAt;
  render::Viewport m_pressedView;
  bool m_dragging = false;
};

}  // namespace ulpscope::plots
