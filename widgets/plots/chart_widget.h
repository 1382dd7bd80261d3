// What the plots of our own painting have in common as widgets: focus, tooltips, theme, a legend.
#pragma once

#include "widgets/plots/marks.h"

#include <QWidget>

#include <vector>

namespace ulpscope::plots {

class ChartWidget : public QWidget {
  Q_OBJECT

 public:
  ChartWidget(const QString& accessibleName, QWidget* parent);
  virtual std::vector<LegendEntry> legend() const = 0;
  QString legendText() const;

 signals:
  void legendChanged();

 protected:
  // Places what is drawn; the size, the font or the theme is another one.
  virtual void layOut() = 0;
  void paintFocus(QPainter& painter) const;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
};

}  // namespace ulpscope::plots
