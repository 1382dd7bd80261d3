#include "widgets/plots/heatmap_view.h"

#include "widgets/plots/heatmap_paint.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

constexpr int kTop = 10;
constexpr int kRight = 20;  // half a tick label
constexpr int kDragFrom = 5;         // px before a press becomes a pan
constexpr double kWheelStep = 1.25;  // zoom a notch
constexpr double kSmallestBox = 9;  // px of the selection's frame
constexpr int kPage = 10;            // cells a page key moves

}  // namespace

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(260, 160);
  setAccessibleName(tr("Heatmap, modules by samples"));
  setAccessibleDescription(tr("Arrow keys move the cell cursor, plus and minus zoom, 0 shows all. The same values stand in the table view."));
}

std::int64_t HeatmapView::rowCount() const { return m_content ? static_cast<std::int64_t>(m_content->rows.size()) : 0; }
std::int64_t HeatmapView::columnCount() const { return m_content ? static_cast<std::int64_t>(m_content->columns.size()) : 0; }

void HeatmapView::setContent(std::shared_ptr<const models::HeatmapContent> content, const HeatmapLook& look) {
  const std::int64_t rows = rowCount();
  const std::int64_t columns = columnCount();
  m_content = std::move(content);
  m_look = look;
  m_look.rowMarks.resize(static_cast<std::size_t>(rowCount()));
  m_hovered.reset();
  if (rows != rowCount() || columns != columnCount()) {
    m_selected.reset();
    m_highlightedRow = -1;
    m_view = render::wholeMap(rowCount(), columnCount(), 1, 1);
  }
  layOut();
}

void HeatmapView::layOut() {
  const QFontMetrics metrics(font());
  const int labels = m_content ? rowLabelWidth(*m_content, metrics, width() / 3) : 0;
  const int left = labels + kRowMarkWidth + 10;
  const int bottom = 2 * metrics.height() + 14;
  m_plot = QRect(left, kTop, std::max(1, width() - left - kRight), std::max(1, height() - kTop - bottom));
  render::Viewport view = m_view;
  view.width = m_plot.width();
  view.height = m_plot.height();
  setViewport(view);
}

void HeatmapView::setViewport(const render::Viewport& viewport) {
  m_view = viewport;
  m_imageIsOld = true;
  update();
  emit viewportChanged();
}

void HeatmapView::updateImage() {
  if (!m_imageIsOld || !m_content) return;
  render::Viewport pixels = m_view;
  const double ratio = devicePixelRatioF();
  pixels.width = std::max(1, static_cast<int>(std::lround(m_plot.width() * ratio)));
  pixels.height = std::max(1, static_cast<int>(std::lround(m_plot.height() * ratio)));
  pixels.pixelRatio = std::max(1, static_cast<int>(std::lround(ratio)));
  const std::vector<std::uint8_t> rgba =
      render::heatmapPixels(m_content->data, m_content->columns, pixels, m_look.range, m_look.map, themeOf(this).forRender());
  m_image = QImage(rgba.data(), pixels.width, pixels.height, pixels.width * 4, QImage::Format_RGBA8888).copy();
  m_image.setDevicePixelRatio(ratio);
  m_imageIsOld = false;
}

void HeatmapView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = themeOf(this);
  painter.fillRect(rect(), theme.base);
  if (!m_content || rowCount() == 0 || columnCount() == 0) return;
  updateImage();
  painter.drawImage(m_plot.topLeft(), m_image);
  const HeatmapScene scene{*m_content, m_look, m_view, m_plot, theme};
  paintGlyphs(painter, scene);
  paintRowLabels(painter, scene);
  paintRowMarks(painter, scene);
  paintSampleAxis(painter, scene);
  painter.setClipRect(m_plot.adjusted(-2, -2, 2, 2));
  const auto lines = [&](const QRectF& cell, const QColor& color) {
    painter.setPen(QPen(color, 1));
    painter.drawLine(QPointF(m_plot.left(), cell.center().y()), QPointF(m_plot.right(), cell.center().y()));
    painter.drawLine(QPointF(cell.center().x(), m_plot.top()), QPointF(cell.center().x(), m_plot.bottom()));
  };
  const auto rectOf = [&](render::CellIndex cell) {
    const render::PixelRect r = render::cellRect(m_view, cell);
    return QRectF(m_plot.left() + r.x, m_plot.top() + r.y, r.width, r.height);
  };
  if (m_hovered) lines(rectOf(*m_hovered), QColor(255, 255, 255, 120));
  if (m_selected) {
    const QRectF cell = rectOf(*m_selected);
    const double growX = std::max(0.0, kSmallestBox - cell.width()) / 2;
    const double growY = std::max(0.0, kSmallestBox - cell.height()) / 2;
    const QRectF box = cell.adjusted(-growX, -growY, growX, growY).intersected(QRectF(m_plot.adjusted(0, 0, -1, -1)));
    painter.setPen(QPen(Qt::black, 3.5));
    painter.drawRect(box);
    painter.setPen(QPen(Qt::white, 1.6));
    painter.drawRect(box);
  } else if (m_highlightedRow >= 0) {
    const QRectF row = rectOf({m_highlightedRow, 0});
    painter.setPen(QPen(theme.accent, 2));
    painter.drawRect(QRectF(m_plot.left(), row.top(), m_plot.width() - 1, std::max(2.0, row.height())));
  }
  painter.setClipping(false);
  painter.setPen(hasFocus() ? QPen(theme.accent, 1) : QPen(theme.line, 1));
  painter.drawRect(m_plot.adjusted(-1, -1, 0, 0));
}

void HeatmapView::resizeEvent(QResizeEvent*) { layOut(); }

void HeatmapView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) m_imageIsOld = true;
  if (event->type() == QEvent::FontChange) layOut();
  QWidget::changeEvent(event);
}

std::optional<render::CellIndex> HeatmapView::cellUnder(const QPointF& position) const {
  return render::cellAt(m_view, position.x() - m_plot.left(), position.y() - m_plot.top(), rowCount(), columnCount());
}

std::optional<QPoint> HeatmapView::centerOf(render::CellIndex cell) const {
  const render::PixelRect r = render::cellRect(m_view, cell);
  const QPoint center(m_plot.left() + static_cast<int>(r.x + r.width / 2), m_plot.top() + static_cast<int>(r.y + r.height / 2));
  return m_plot.contains(center) ? std::optional(center) : std::nullopt;
}

void HeatmapView::setSelected(std::optional<render::CellIndex> cell) {
  if (m_selected == cell) return;
  m_selected = cell;
  if (cell)
    setViewport(render::showing(m_view, *cell, rowCount(), columnCount()));
  else
    update();
}

void HeatmapView::setRowHighlight(std::int64_t row) {
  if (m_highlightedRow == row) return;
  m_highlightedRow = row;
  update();
}

void HeatmapView::select(render::CellIndex cell) {
  setSelected(cell);
  emit cellHovered(textFor(cell));
  emit cellSelected(cell.row, m_content->columns[static_cast<std::size_t>(cell.column)]);
}

QString HeatmapView::textFor(render::CellIndex cell) const {
  return m_textOf ? m_textOf(cell.row, m_content->columns[static_cast<std::size_t>(cell.column)]) : QString();
}

void HeatmapView::hover(std::optional<render::CellIndex> cell) {
  if (m_hovered == cell) return;
  m_hovered = cell;
  emit cellHovered(cell ? textFor(*cell) : QString());
  update();
}

void HeatmapView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_pressedAt = event->position();
  m_pressedView = m_view;
  m_dragging = false;
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) {
    const QPointF moved = event->position() - m_pressedAt;
    if (moved.manhattanLength() >= kDragFrom) m_dragging = true;
    if (m_dragging) setViewport(render::panned(m_pressedView, moved.x(), moved.y(), rowCount(), columnCount()));
    return;
  }
  hover(cellUnder(event->position()));
}

void HeatmapView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || m_dragging) return;
  if (const auto cell = cellUnder(event->position())) select(*cell);
}

void HeatmapView::leaveEvent(QEvent*) { hover(std::nullopt); }

void HeatmapView::wheelEvent(QWheelEvent* event) {
  const double notches = event->angleDelta().y() / 120.0;
  if (notches == 0 || !m_content) return;
  setViewport(render::zoomed(m_view, std::pow(kWheelStep, notches), event->position().x() - m_plot.left(),
                             event->position().y() - m_plot.top(), rowCount(), columnCount()));
  event->accept();
}

void HeatmapView::zoomBy(double factor) {
  if (!m_content) return;
  double x = m_view.width / 2.0;
  double y = m_view.height / 2.0;
  if (m_selected) {
    const render::PixelRect r = render::cellRect(m_view, *m_selected);
    x = r.x + r.width / 2;
    y = r.y + r.height / 2;
  }
  setViewport(render::zoomed(m_view, factor, x, y, rowCount(), columnCount()));
}

void HeatmapView::showAll() { setViewport(render::wholeMap(rowCount(), columnCount(), m_view.width, m_view.height)); }

void HeatmapView::moveCursor(std::int64_t rows, std::int64_t columns) {
  if (rowCount() == 0 || columnCount() == 0) return;
  render::CellIndex cell = m_selected.value_or(render::CellIndex{std::max<std::int64_t>(0, m_highlightedRow), 0});
  if (m_selected || m_highlightedRow >= 0) {
    cell.row = std::clamp<std::int64_t>(cell.row + rows, 0, rowCount() - 1);
    cell.column = std::clamp<std::int64_t>(cell.column + columns, 0, columnCount() - 1);
  }
  select(cell);
}

void HeatmapView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up: return moveCursor(-1, 0);
    case Qt::Key_Down: return moveCursor(1, 0);
    case Qt::Key_Left: return moveCursor(0, -1);
    case Qt::Key_Right: return moveCursor(0, 1);
    case Qt::Key_PageUp: return moveCursor(-kPage, 0);
    case Qt::Key_PageDown: return moveCursor(kPage, 0);
    case Qt::Key_Home: return moveCursor(0, -columnCount());
    case Qt::Key_End: return moveCursor(0, columnCount());
    case Qt::Key_Plus: return zoomBy(kWheelStep);
    case Qt::Key_Minus: return zoomBy(1 / kWheelStep);
    case Qt::Key_0: return showAll();
    default: QWidget::keyPressEvent(event);
  }
}

bool HeatmapView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && m_content) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto cell = cellUnder(help->pos());
    if (cell)
      QToolTip::showText(help->globalPos(), textFor(*cell), this);
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

}  // namespace ulpscope::plots
