#include "widgets/models/number_order.h"

#include "widgets/models/text.h"

#include <cmath>

namespace ulpscope::models {

NumberOrder::NumberOrder(QObject* parent) : QSortFilterProxyModel(parent) { setSortRole(kSortRole); }

bool NumberOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(kSortRole), b = right.data(kSortRole);
  if (a.typeId() == QMetaType::QString || b.typeId() == QMetaType::QString) return QSortFilterProxyModel::lessThan(left, right);
  const double x = a.toDouble(), y = b.toDouble();
  // The proxy turns the answer round for a falling order.
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y) ? false : std::isnan(y) == (sortOrder() == Qt::AscendingOrder);
  return x < y;
}

}  // namespace ulpscope::models
