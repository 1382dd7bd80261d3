// The decisions table in the order of a column, restricted to small reference margins.
#pragma once

#include "widgets/models/number_order.h"

#include <limits>

namespace ulpscope::models {

class DecisionOrder : public NumberOrder {
  Q_OBJECT

 public:
  explicit DecisionOrder(QObject* parent = nullptr) : NumberOrder(parent) {}
  void setMarginBelow(double below);  // +inf: every row

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  double m_below = std::numeric_limits<double>::infinity();
};

}  // namespace ulpscope::models
