// Filters the module tree: words match path or type, ">1e-2" the worst error, "nonfinite" and "fp32" what they say.
// All words must match; a match keeps its ancestors.
#pragma once

#include <QSortFilterProxyModel>

namespace ulpscope::models {

class ModuleFilterModel : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit ModuleFilterModel(QObject* parent = nullptr);
  void setFilterText(const QString& text);

 protected:
  bool filterAcceptsRow(int sourceRow, const QModelIndex& sourceParent) const override;

 private:
  QStringList m_words;
};

}  // namespace ulpscope::models
