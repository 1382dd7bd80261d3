// What stands outside the colour map: exact zero, NaN, +inf, -inf, not run; and in B - A what is finite again.
#pragma once

#include "core/render/heatmap.h"

#include <QWidget>

namespace ulpscope::views {

class LegendWidget : public QWidget {
  Q_OBJECT

 public:
  explicit LegendWidget(QWidget* parent = nullptr);
  void setIsDifference(bool isDifference);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<render::CellKind> kinds() const;
  bool m_isDifference = false;
};

}  // namespace ulpscope::views
