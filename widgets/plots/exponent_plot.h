// Histogram of binary exponents: FP32 filled, AMP outlined, the low format's limits as labelled lines.
#pragma once

#include "widgets/models/tensor_look.h"

#include <QWidget>

class QBrush;
class QCustomPlot;
class QPen;

namespace ulpscope::plots {

class ExponentPlot : public QWidget {
  Q_OBJECT

 public:
  explicit ExponentPlot(QWidget* parent = nullptr);
  void setLook(const models::TensorLookPointer& look);  // nullptr: empty
  void setMarked(double value);                         // a tick at the selected element's exponent; NaN, 0 or infinite: none
  // What is drawn: exponents of the axis and labels of the limits in it.
  int firstExponent() const { return m_first; }
  int lastExponent() const { return m_last; }
  QStringList limitLabels() const { return m_limitLabels; }

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void rebuild();
  void styleAxes();
  void fitAxes();
  void addBars(const analysis::ExponentHistogram& counts, const QPen& pen, const QBrush& brush);
  void addLimits();

  QCustomPlot* m_plot;
  models::TensorLookPointer m_look;
  double m_marked = 0;
  int m_first = 0, m_last = 0;
  double m_top = 1;
  QStringList m_limitLabels;
};

}  // namespace ulpscope::plots
