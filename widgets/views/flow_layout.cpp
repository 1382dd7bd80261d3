#include "widgets/views/flow_layout.h"

#include <QWidget>

#include <algorithm>

namespace ulpscope::views {

QLayoutItem* FlowLayout::itemAt(int index) const { return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)].get() : nullptr; }

QLayoutItem* FlowLayout::takeAt(int index) {
  if (index < 0 || index >= count()) return nullptr;
  QLayoutItem* item = m_items[static_cast<std::size_t>(index)].release();
  m_items.erase(m_items.begin() + index);
  return item;
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  place(rect, Move::yes);
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const auto& item : m_items) size = size.expandedTo(item->minimumSize());
  const QMargins margins = contentsMargins();
  return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

int FlowLayout::place(const QRect& rect, Move move) const {
  const QMargins margins = contentsMargins();
  const QRect room = rect.marginsRemoved(margins);
  int x = room.left(), y = room.top(), line = 0;
  for (const auto& item : m_items) {
    if (item->isEmpty()) continue;  // hidden
    const QSize size = item->sizeHint().boundedTo(QSize(std::max(room.width(), item->minimumSize().width()), QWIDGETSIZE_MAX));
    if (x > room.left() && x + size.width() > room.right() + 1) {
      x = room.left();
      y += line + spacing();
      line = 0;
    }
    if (move == Move::yes) item->setGeometry(QRect(QPoint(x, y), size));
    x += size.width() + spacing();
    line = std::max(line, size.height());
  }
  return y + line - rect.top() + margins.bottom();
}

}  // namespace ulpscope::views
