#include "widgets/views/flow_layout.h"

#include <QWidget>

#include <algorithm>
#include <utility>
#include <vector>

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

// Items of a line stand on one middle, as labels beside fields do.
int FlowLayout::place(const QRect& rect, Move move) const {
  const QMargins margins = contentsMargins();
  const QRect room = rect.marginsRemoved(margins);
  int x = room.left(), y = room.top(), line = 0;
  std::vector<std::pair<QLayoutItem*, QRect>> placed;  // of the line
  const auto endLine = [&] {
    for (const auto& [item, at] : placed)
      if (move == Move::yes) item->setGeometry(at.translated(0, (line - at.height()) / 2));
    placed.clear();
  };
  for (const auto& item : m_items) {
    if (item->isEmpty()) continue;  // hidden
    const QSize size = item->sizeHint().boundedTo(QSize(std::max(room.width(), item->minimumSize().width()), QWIDGETSIZE_MAX));
    if (x > room.left() && x + size.width() > room.right() + 1) {
      endLine();
      x = room.left();
      y += line + spacing();
      line = 0;
    }
    placed.emplace_back(item.get(), QRect(QPoint(x, y), size));
    x += size.width() + spacing();
    line = std::max(line, size.height());
  }
  endLine();
  return y + line - rect.top() + margins.bottom();
}

}  // namespace ulpscope::views
