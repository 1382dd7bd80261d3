// Filters and orders the module tree. Words: a name or type, "type:Linear" a type, ">1e-2" the worst error, ">5x" its ratio to the tolerance, "nonfinite" and "fp32" (kept in
// FP32, autocast off) what they say. All words must match; a match keeps its ancestors.
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace ulpscope::models {

class ModuleFilterModel : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  // Of the modules inside one: as named_modules() gives them, by their first op, by name ("2" before "10"), worst first (by error, by its ratio to the tolerance).
  enum class Order { asDefined, execution, name, worstError, ratio, introducedError };

  explicit ModuleFilterModel(QObject* parent = nullptr);
  void setFilterText(const QString& text);
  // A word that cannot be understood, with what is wrong; or that nothing matches; empty: neither.
  QString message() const;
  void setOrder(Order order);
  Order order() const { return m_order; }

 protected:
  bool filterAcceptsRow(int sourceRow, const QModelIndex& sourceParent) const override;
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  QStringList m_words;
  Order m_order = Order::asDefined;
};

}  // namespace ulpscope::models
