// Lays widgets out like words: as many in a line as fit.
#pragma once

#include <QLayout>

#include <memory>
#include <vector>

namespace ulpscope::views {

class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(QWidget* parent = nullptr) : QLayout(parent) {}

  void addItem(QLayoutItem* item) override { m_items.emplace_back(item); }
  int count() const override { return static_cast<int>(m_items.size()); }
  QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), Move::no); }
  void setGeometry(const QRect& rect) override;
  QSize sizeHint() const override { return minimumSize(); }
  QSize minimumSize() const override;

 private:
  enum class Move { no, yes };
  int place(const QRect& rect, Move move) const;  // the height it takes

  std::vector<std::unique_ptr<QLayoutItem>> m_items;
};

}  // namespace ulpscope::views
