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
constexpr double kSmallestBox = 9;   // px of the selection's frame
constexpr int kPage = 10;            // cells a page key moves

// The same part of a map with other counts: what was whole stays whole, what was zoomed in keeps its place and size.
void fit(double& first, double& last, double before, double now) {
  if (last - first >= before || last - first >= now) {
    first = 0;
    last = std::max(1.0, now);
    return;
  }
  const double back = std::max(0.0, last - now);
  first -= back;
  last -= back;
}

}  // namespace

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(260, 160);
  setAccessibleName(tr("Heatmap, modules by samples"));
  setAccessibleDescription(tr("Arrow keys move the cell cursor, Enter unfolds or folds the op sites of its module, plus and minus zoom, 0 shows all. "
                              "The same values stand in the table view."));
}

void HeatmapView::setContent(std::shared_ptr<const models::HeatmapContent> content, const HeatmapLook& look) {
  const std::int64_t rows = rowCount(), columns = columnCount();
  m_content = std::move(content);
  m_image.setContent(m_content);
  m_labelWidth = m_content ? rowLabelWidth(*m_content, QFontMetrics(font())) : 0;
  m_hovered.reset();
  if (rows != rowCount() || columns != columnCount()) {
    m_selected.reset();
    m_highlightedRow = -1;
    fit(m_view.firstRow, m_view.lastRow, static_cast<double>(rows), static_cast<double>(rowCount()));
    fit(m_view.firstColumn, m_view.lastColumn, static_cast<double>(columns), static_cast<double>(columnCount()));
  }
  applyLook(look);
  layOut();
}

void HeatmapView::setLook(const HeatmapLook& look) {
  applyLook(look);
  update();
}

void HeatmapView::applyLook(const HeatmapLook& look) {
  m_look = look;
  m_look.rowMarks.resize(static_cast<std::size_t>(rowCount()));
  m_look.rowFolds.resize(static_cast<std::size_t>(rowCount()));
  m_image.setColors(m_look.range, m_look.map, themeOf(this).forRender());
  m_sceneIsOld = true;
}

void HeatmapView::layOut() {
  // All of it is painted: no need of what lies behind. Where pixels are divided between widgets there is.
  setAttribute(Qt::WA_OpaquePaintEvent, devicePixelRatioF() == std::floor(devicePixelRatioF()));
  const QFontMetrics metrics(font());
  const int left = std::min(m_labelWidth, width() / 3) + kRowMarkWidth + 10;
  const int bottom = 2 * metrics.height() + 14;
  m_plot = QRect(left, kTop, std::max(1, width() - left - kRight), std::max(1, height() - kTop - bottom));
  render::Viewport view = m_view;
  view.width = m_plot.width();
  view.height = m_plot.height();
  setViewport(view);
}

void HeatmapView::setViewport(const render::Viewport& viewport) {
  m_view = viewport;
  m_sceneIsOld = true;
  update();
  emit viewportChanged();
}

HeatmapScene HeatmapView::parts() const { return {*m_content, m_look, m_view, m_plot, themeOf(this), cursorRow()}; }

const QPixmap& HeatmapView::scene() {
  const double ratio = devicePixelRatioF();
  const QSize pixels(static_cast<int>(std::ceil(width() * ratio)), static_cast<int>(std::ceil(height() * ratio)));
  if (!m_sceneIsOld && m_scene.size() == pixels) return m_scene;
  if (m_scene.size() != pixels) m_scene = QPixmap(pixels);
  m_scene.setDevicePixelRatio(ratio);
  QPainter painter(&m_scene);
  painter.setFont(font());
  paintScene(painter);
  m_sceneIsOld = false;
  return m_scene;
}

void HeatmapView::paintScene(QPainter& painter) {
  const Theme& theme = themeOf(this);
  if (rowCount() > 0 && columnCount() > 0) painter.setClipRegion(QRegion(rect()).subtracted(m_plot));  // the map's own pixels are painted anyway
  painter.fillRect(rect(), theme.base);
  // At a ratio that is no whole number the last pixel lies beyond the widget.
  painter.fillRect(QRectF(width() - 1, 0, 2, height() + 1), theme.base);
  painter.fillRect(QRectF(0, height() - 1, width() + 1, 2), theme.base);
  if (rowCount() == 0 || columnCount() == 0) return;
  const HeatmapScene scene = parts();
  paintRowLabels(painter, scene);
  paintRowMarks(painter, scene);
  paintSampleAxis(painter, scene);
}

const QImage& HeatmapView::mapImage() {
  const double ratio = devicePixelRatioF();
  render::Viewport pixels = m_view;
  pixels.width = std::max(1, static_cast<int>(std::lround(m_plot.width() * ratio)));
  pixels.height = std::max(1, static_cast<int>(std::lround(m_plot.height() * ratio)));
  pixels.pixelRatio = std::max(1, static_cast<int>(std::lround(ratio)));
  return m_image.image(pixels, ratio, [this](QPainter& painter) {
    painter.setFont(font());
    painter.translate(-m_plot.topLeft());
    const HeatmapScene scene = parts();
    paintGlyphs(painter, scene);
    paintGroups(painter, scene);
  });
}

QRectF HeatmapView::rectOf(render::CellIndex cell) const {
  const render::PixelRect r = render::cellRect(m_view, cell);
  return {m_plot.left() + r.x, m_plot.top() + r.y, r.width, r.height};
}

void HeatmapView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = themeOf(this);
  const bool isEmpty = rowCount() == 0 || columnCount() == 0;
  // Each pixel is copied once: the map where it stands, the rest from the scene.
  painter.setClipRegion(isEmpty ? QRegion(rect()) : QRegion(rect()).subtracted(m_plot));
  painter.drawPixmap(0, 0, scene());
  painter.setClipping(false);
  if (isEmpty) return;
  painter.drawImage(m_plot.topLeft(), mapImage());
  painter.setClipRect(m_plot.adjusted(-2, -2, 2, 2));
  if (m_hovered) paintCrosshair(painter, m_plot, rectOf(*m_hovered).center());
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
  if (event->type() == QEvent::PaletteChange) applyLook(HeatmapLook(m_look));
  if (event->type() == QEvent::FontChange) {
    m_labelWidth = m_content ? rowLabelWidth(*m_content, QFontMetrics(font())) : 0;
    m_image.makeAnew();
    layOut();
  }
  QWidget::changeEvent(event);
}

std::optional<render::CellIndex> HeatmapView::cellUnder(const QPointF& position) const {
  return render::cellAt(m_view, position.x() - m_plot.left(), position.y() - m_plot.top(), rowCount(), columnCount());
}

std::optional<QPoint> HeatmapView::centerOf(render::CellIndex cell) const {
  const QPoint center = rectOf(cell).center().toPoint();
  return m_plot.contains(center) ? std::optional(center) : std::nullopt;
}

models::CellBlock HeatmapView::visibleBlock() const {
  const auto first = [](double v) { return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(v + 1e-9))); };
  const auto last = [](double v, std::int64_t count) { return std::min(count, static_cast<std::int64_t>(std::ceil(v - 1e-9))); };
  return {first(m_view.firstRow), last(m_view.lastRow, rowCount()), first(m_view.firstColumn), last(m_view.lastColumn, columnCount())};
}

QRect HeatmapView::foldRectOf(std::int64_t row) const {
  if (!m_content) return {};
  for (const LabelPlace& label : labelPlaces(parts(), QFontMetrics(font())))
    if (label.row == row) return label.fold;
  return {};
}

std::int64_t HeatmapView::labelRowUnder(const QPointF& position) const {
  if (!m_content || position.x() >= m_plot.left()) return -1;
  for (const LabelPlace& label : labelPlaces(parts(), QFontMetrics(font())))
    if (position.y() >= label.text.top() && position.y() < label.text.bottom()) return label.row;
  return -1;
}

void HeatmapView::setSelected(std::optional<render::CellIndex> cell) {
  if (m_selected == cell) return;
  const std::int64_t before = cursorRow();
  m_selected = cell;
  m_sceneIsOld = m_sceneIsOld || cursorRow() != before;  // its label
  const render::Viewport view = cell ? render::showing(m_view, *cell, rowCount(), columnCount()) : m_view;
  if (view == m_view)
    update();
  else
    setViewport(view);
}

void HeatmapView::setRowHighlight(std::int64_t row) {
  if (m_highlightedRow == row) return;
  m_highlightedRow = row;
  m_sceneIsOld = true;  // its label
  update();
}

void HeatmapView::select(render::CellIndex cell) {
  setSelected(cell);
  const QString text = textFor(cell);
  setAccessibleDescription(text);  // read out by screen readers as it changes
  emit cellHovered(text);
  emit cellSelected(cell.row, m_content->sampleAt(cell.column));
}

QString HeatmapView::textFor(render::CellIndex cell) const { return m_textOf ? m_textOf(cell.row, m_content->sampleAt(cell.column)) : QString(); }

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
  const std::int64_t label = labelRowUnder(event->position());
  setCursor(label >= 0 && foldRectOf(label).contains(event->position().toPoint()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
  hover(cellUnder(event->position()));
}

void HeatmapView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || m_dragging) return;
  if (const auto cell = cellUnder(event->position())) return select(*cell);
  const std::int64_t row = labelRowUnder(event->position());
  if (row < 0) return;
  if (foldRectOf(row).contains(event->position().toPoint()))
    emit foldToggled(row);
  else
    emit rowSelected(row);
}

void HeatmapView::mouseDoubleClickEvent(QMouseEvent* event) {
  const std::int64_t row = labelRowUnder(event->position());
  if (row >= 0 && !foldRectOf(row).contains(event->position().toPoint())) emit foldToggled(row);
  m_dragging = true;  // its release is no click of its own
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
  const QPointF at = m_selected ? rectOf(*m_selected).center() - QPointF(m_plot.topLeft()) : QPointF(m_view.width / 2.0, m_view.height / 2.0);
  setViewport(render::zoomed(m_view, factor, at.x(), at.y(), rowCount(), columnCount()));
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
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (cursorRow() >= 0) emit foldToggled(cursorRow());
      return;
    case Qt::Key_Plus: return zoomBy(kWheelStep);
    case Qt::Key_Minus: return zoomBy(1 / kWheelStep);
    case Qt::Key_0: return showAll();
    default: QWidget::keyPressEvent(event);
  }
}

bool HeatmapView::showTooltip(const QPoint& position, const QPoint& globalPosition) {
  QString text;
  if (const auto cell = cellUnder(position))
    text = m_tooltipOf ? m_tooltipOf(cell->row, m_content->sampleAt(cell->column)) : textFor(*cell);
  else if (const std::int64_t row = labelRowUnder(position); row >= 0)
    text = labelTooltip(*m_content, m_look, row);
  if (text.isEmpty()) return false;
  m_tooltipAt = position;
  QToolTip::showText(globalPosition, text, this);
  return true;
}

void HeatmapView::refreshTooltip() {
  if (QToolTip::isVisible() && m_content && m_hovered && m_hovered == cellUnder(m_tooltipAt)) showTooltip(m_tooltipAt, mapToGlobal(m_tooltipAt));
}

bool HeatmapView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || !m_content) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (!showTooltip(help->pos(), help->globalPos())) QToolTip::hideText();
  return true;
}

}  // namespace ulpscope::plots
