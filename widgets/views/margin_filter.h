// "margin below m": a slider over the margins that there are, and a field for an exact number.
#pragma once

#include <QWidget>

#include <limits>
#include <vector>

class QLineEdit;
class QSlider;

namespace ulpscope::views {

class MarginFilter : public QWidget {
  Q_OBJECT

 public:
  explicit MarginFilter(QWidget* parent = nullptr);
  // As render::marginSteps gives them; empty: nothing to choose, disabled. The limit becomes "all".
  void setSteps(std::vector<double> steps);
  double below() const { return m_below; }  // +inf: all
  void setBelow(double below);

 signals:
  void changed(double below);

 private:
  void readField();
  void showLimit();

  QSlider* m_slider = nullptr;
  QLineEdit* m_field = nullptr;
  std::vector<double> m_steps;
  double m_below = std::numeric_limits<double>::infinity();
};

}  // namespace ulpscope::views
