// A table in the order of a column's sort values: numbers as numbers, NaN last in both directions, equal ones in the order before.
#pragma once

#include <QSortFilterProxyModel>

namespace ulpscope::models {

class NumberOrder : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit NumberOrder(QObject* parent = nullptr);

 protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

}  // namespace ulpscope::models
