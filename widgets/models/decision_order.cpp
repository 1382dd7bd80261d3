#include "widgets/models/decision_order.h"

#include "widgets/models/decisions_model.h"

#include <cmath>

namespace ulpscope::models {

void DecisionOrder::setMarginBelow(double below) {
  if (m_below == below) return;
  m_below = below;
  invalidateFilter();
}

bool DecisionOrder::filterAcceptsRow(int row, const QModelIndex& parent) const {
  if (std::isinf(m_below)) return true;
  return sourceModel()->index(row, DecisionsModel::kReferenceMargin, parent).data(kSortRole).toDouble() < m_below;
}

}  // namespace ulpscope::models
