#include "widgets/plots/tensor_map_view.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::qt;
using render::MapSide;

constexpr int kBarHeight = 8;
constexpr int kGap = 4;
constexpr double kSmallestFrame = 7;  // px of the selection's frame
constexpr double kMostStretched = 5;  // a cell's longer side over its shorter one, where the room is of another shape than the slice
constexpr int kPage = 10;             // cells a page key moves

QString endText(double value) { return qt(std::fabs(value) >= 1000 ? base::groupedNumber(value) : base::shortNumber(value)); }

}  // namespace

TensorMapView::TensorMapView(MapSide side, QWidget* parent) : QWidget(parent), m_side(side) {
  m_title = side == MapSide::reference ? tr("FP32") : side == MapSide::candidate ? tr("AMP") : tr("AMP − FP32");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_AlwaysShowToolTips);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setAccessibleName(side == MapSide::difference ? tr("Map of the difference AMP − FP32") : tr("Map of the values in %1").arg(m_title));
  setAccessibleDescription(tr("Arrow keys move to the next element. The elements that differ most stand in the table of worst elements."));
}

QSize TensorMapView::minimumSizeHint() const {
  const int text = QFontMetrics(font()).height();
  return {90, 2 * text + kBarHeight + 3 * kGap + 60};
}
QSize TensorMapView::sizeHint() const { return minimumSizeHint() + QSize(50, 60); }

const render::ValueScale& TensorMapView::scale() const { return m_side == MapSide::difference ? m_picture->difference : m_picture->values; }

QString TensorMapView::scaleText() const {
  if (!m_picture) return {};
  const QString text = tr("from %1 to %2").arg(endText(scale().low), endText(scale().high));
  return scale().linear == 0 ? text : tr("%1, logarithmic beyond ±%2").arg(text, qt(base::shortNumber(scale().linear)));
}

void TensorMapView::setPicture(const models::TensorPicturePointer& picture) {
  m_picture = picture;
  m_image = {};
  m_selected = m_hovered = -1;
  if (picture && m_side == MapSide::candidate) m_title = tr("AMP %1").arg(models::lowFormat(*picture->look->run->run));
  if (picture) {
    const QString slice = qt(render::sliceText(picture->slice.choice(), picture->slice.shape()));
    setAccessibleDescription(tr("Slice %1, colours %2. Arrow keys move to the next element. The elements that differ most stand in the table of worst elements.").arg(slice, scaleText()));
  }
  update();
}

void TensorMapView::setSelected(std::int64_t element) {
  if (m_selected == element) return;
  m_selected = element;
  update();
}

void TensorMapView::setHovered(std::int64_t element) {
  if (m_hovered == element) return;
  m_hovered = element;
  update();
}

// Cells fill the room, but none is drawn longer than kMostStretched times its other side.
QRect TensorMapView::pictureRect() const {
  const int text = QFontMetrics(font()).height();
  const QRect room(0, text + kGap, width(), std::max(1, height() - 2 * text - kBarHeight - 3 * kGap));
  if (!m_picture || cells().isEmpty()) return room;
  const auto rows = static_cast<double>(cells().rows()), columns = static_cast<double>(cells().columnCount());
  const double tall = room.height() / rows, wide = room.width() / columns, most = kMostStretched * std::min(tall, wide);
  const int w = std::max(1, static_cast<int>(std::lround(std::min(wide, most) * columns)));
  const int h = std::max(1, static_cast<int>(std::lround(std::min(tall, most) * rows)));
  return {room.left() + (room.width() - w) / 2, room.top(), w, h};
}

QRectF TensorMapView::cellRect(render::CellIndex cell) const {
  const QRect picture = pictureRect();
  const double w = picture.width() / static_cast<double>(cells().columnCount()), h = picture.height() / static_cast<double>(cells().rows());
  return {picture.left() + static_cast<double>(cell.column) * w, picture.top() + static_cast<double>(cell.row) * h, w, h};
}

std::optional<render::CellIndex> TensorMapView::cellOf(std::int64_t element) const {
  if (!m_picture) return std::nullopt;
  const auto place = m_picture->slice.placeOf(element);
  if (!place) return std::nullopt;
  return render::CellIndex{place->row / m_picture->maps.block, place->column / m_picture->maps.block};
}

std::optional<QPoint> TensorMapView::centerOf(std::int64_t element) const {
  const auto cell = cellOf(element);
  return cell ? std::optional(cellRect(*cell).center().toPoint()) : std::nullopt;
}

std::int64_t TensorMapView::elementIn(render::CellIndex cell) const {
  return render::elementOfCell(m_picture->slice, m_picture->look->reference(), m_picture->look->candidate(), {m_side, m_picture->maps.block, cell});
}

std::int64_t TensorMapView::elementUnder(const QPointF& position) const {
  if (!m_picture || cells().isEmpty()) return -1;
  const QRect picture = pictureRect();
  const auto row = static_cast<std::int64_t>(std::floor((position.y() - picture.top()) * static_cast<double>(cells().rows()) / picture.height()));
  const auto column = static_cast<std::int64_t>(std::floor((position.x() - picture.left()) * static_cast<double>(cells().columnCount()) / picture.width()));
  if (row < 0 || column < 0 || row >= cells().rows() || column >= cells().columnCount()) return -1;
  return elementIn({row, column});
}

void TensorMapView::updateImage(const QRect& rect) {
  const double ratio = devicePixelRatioF();
  const render::PixelSize size{std::max(1, static_cast<int>(std::lround(rect.width() * ratio))), std::max(1, static_cast<int>(std::lround(rect.height() * ratio))),
                               std::max(1, static_cast<int>(std::lround(ratio)))};
  if (m_image.size() == QSize(size.width, size.height) && m_image.text() == themeOf(this).window.name()) return;
  const std::vector<std::uint8_t> rgba = render::tensorPixels(cells(), size, {scale(), colorMap(), themeOf(this).forRender()});
  m_image = QImage(rgba.data(), size.width, size.height, size.width * 4, QImage::Format_RGBA8888).copy();
  m_image.setDevicePixelRatio(ratio);
  m_image.setText(QString(), themeOf(this).window.name());
}

void TensorMapView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = themeOf(this);
  painter.setPen(hasFocus() ? theme.accent : theme.muted);
  const int text = painter.fontMetrics().height();
  const QString title = m_picture && scale().linear > 0 ? tr("%1 · log").arg(m_title) : m_title;
  painter.drawText(QRect(0, 0, width(), text), Qt::AlignHCenter | Qt::AlignVCenter, painter.fontMetrics().elidedText(title, Qt::ElideRight, width()));
  if (!m_picture) return;
  const QRect picture = pictureRect();
  if (cells().isEmpty()) {
    painter.drawText(picture, Qt::AlignCenter, tr("no elements"));
    return;
  }
  updateImage(picture);
  painter.drawImage(picture.topLeft(), m_image);
  painter.setPen(hasFocus() ? theme.accent : theme.line);
  painter.drawRect(picture.adjusted(0, 0, -1, -1));
  if (m_hovered >= 0 && m_hovered != m_selected) paintFrame(painter, m_hovered, false);
  if (m_selected >= 0) paintFrame(painter, m_selected, true);
  paintScale(painter, picture);
}

// Dark around light, so that it is seen on every colour.
void TensorMapView::paintFrame(QPainter& painter, std::int64_t element, bool isSelected) const {
  const auto cell = cellOf(element);
  if (!cell) return;
  QRectF frame = cellRect(*cell);
  const double dx = std::max(0.0, (kSmallestFrame - frame.width()) / 2), dy = std::max(0.0, (kSmallestFrame - frame.height()) / 2);
  frame.adjust(-dx, -dy, dx, dy);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(QColor(0, 0, 0, isSelected ? 255 : 130), 1));
  painter.drawRect(frame.adjusted(-1.5, -1.5, 1.5, 1.5));
  painter.setPen(QPen(QColor(255, 255, 255, isSelected ? 255 : 170), isSelected ? 2 : 1));
  painter.drawRect(frame);
}

void TensorMapView::paintScale(QPainter& painter, const QRect& picture) const {
  const Theme& theme = themeOf(this);
  const QRect bar(0, picture.bottom() + 1 + kGap, width(), kBarHeight);
  for (int x = 0; x < bar.width(); ++x) painter.fillRect(QRect(bar.left() + x, bar.top(), 1, bar.height()), toColor(render::colorAt(colorMap(), x / std::max(1.0, bar.width() - 1.0))));
  painter.setPen(theme.muted);
  QFont small = font();
  small.setPointSizeF(font().pointSizeF() * 0.9);
  painter.setFont(small);
  const QRect line(0, bar.bottom() + 1 + kGap / 2, width(), painter.fontMetrics().height());
  const QString low = endText(scale().low), high = endText(scale().high);
  painter.drawText(line, Qt::AlignLeft | Qt::AlignTop, low);
  painter.drawText(line, Qt::AlignRight | Qt::AlignTop, high);
  const QString middle = m_side == MapSide::difference ? tr("0 (equal: grey)") : QString();
  const QFontMetrics metrics = painter.fontMetrics();
  const int room = width() - 2 * std::max(metrics.horizontalAdvance(low), metrics.horizontalAdvance(high)) - 2 * kGap;
  const QString text = metrics.horizontalAdvance(middle) <= room ? middle : m_side == MapSide::difference ? QStringLiteral("0") : QString();
  painter.drawText(line, Qt::AlignHCenter | Qt::AlignTop, text);
}

void TensorMapView::mousePressEvent(QMouseEvent* event) {
  const std::int64_t element = elementUnder(event->position());
  if (event->button() == Qt::LeftButton && element >= 0) emit elementChosen(element);
}

void TensorMapView::mouseMoveEvent(QMouseEvent* event) { emit elementHovered(elementUnder(event->position())); }
void TensorMapView::leaveEvent(QEvent*) { emit elementHovered(-1); }

// To the next cell that way which holds an element: the gaps between tiles are stepped over.
void TensorMapView::moveBy(std::int64_t rows, std::int64_t columns) {
  if (!m_picture || cells().isEmpty()) return;
  const auto now = cellOf(m_selected);
  if (!now) {
    if (const std::int64_t first = elementIn({0, 0}); first >= 0) emit elementChosen(first);
    return;
  }
  render::CellIndex cell{std::clamp<std::int64_t>(now->row + rows, 0, cells().rows() - 1), std::clamp<std::int64_t>(now->column + columns, 0, cells().columnCount() - 1)};
  const std::int64_t stepRow = rows > 0 ? 1 : rows < 0 ? -1 : 0, stepColumn = columns > 0 ? 1 : columns < 0 ? -1 : 0;
  while (cell.row >= 0 && cell.column >= 0 && cell.row < cells().rows() && cell.column < cells().columnCount()) {
    if (const std::int64_t element = elementIn(cell); element >= 0) {
      if (element != m_selected) emit elementChosen(element);
      return;
    }
    cell.row += stepRow;
    cell.column += stepColumn;
  }
}

void TensorMapView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up: return moveBy(-1, 0);
    case Qt::Key_Down: return moveBy(1, 0);
    case Qt::Key_Left: return moveBy(0, -1);
    case Qt::Key_Right: return moveBy(0, 1);
    case Qt::Key_PageUp: return moveBy(-kPage, 0);
    case Qt::Key_PageDown: return moveBy(kPage, 0);
    default: QWidget::keyPressEvent(event);
  }
}

bool TensorMapView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && m_picture) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::int64_t element = elementUnder(help->pos());
    if (element >= 0)
      QToolTip::showText(help->globalPos(), models::elementLine(*m_picture->look, element), this);
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

}  // namespace ulpscope::plots
