#include "widgets/models/module_filter_model.h"

#include "widgets/models/module_tree_model.h"

#include <QRegularExpression>

namespace ulpscope::models {
namespace {

bool wordMatches(const QString& word, const QModelIndex& module, const QModelIndex& badgeIndex) {
  const Badge badge = badgeIndex.data(ModuleTreeModel::kBadgeRole).value<Badge>();
  if (word.startsWith(u'>')) {
    bool isNumber = false;
    const double limit = QStringView(word).mid(1).toDouble(&isNumber);
    return !isNumber || badge.kind >= Badge::Kind::consequence || badge.relL2 > limit;
  }
  if (word == u"nonfinite" || word == u"non-finite") return badge.kind >= Badge::Kind::consequence;
  if (word == u"fp32") return module.data(ModuleTreeModel::kRegionRole).toInt() != static_cast<int>(ModuleTreeModel::RegionState::off);
  return module.data(ModuleTreeModel::kPathRole).toString().contains(word, Qt::CaseInsensitive) ||
         module.data(ModuleTreeModel::kTypeRole).toString().contains(word, Qt::CaseInsensitive);
}

}  // namespace

ModuleFilterModel::ModuleFilterModel(QObject* parent) : QSortFilterProxyModel(parent) {
  setRecursiveFilteringEnabled(true);
  setSortRole(Qt::UserRole + 100);
}

void ModuleFilterModel::setFilterText(const QString& text) {
  m_words = text.simplified().toLower().split(u' ', Qt::SkipEmptyParts);
  invalidateFilter();
}

bool ModuleFilterModel::filterAcceptsRow(int sourceRow, const QModelIndex& sourceParent) const {
  const QModelIndex module = sourceModel()->index(sourceRow, ModuleTreeModel::kModule, sourceParent);
  const QModelIndex badge = sourceModel()->index(sourceRow, ModuleTreeModel::kBadge, sourceParent);
  return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) { return wordMatches(word, module, badge); });
}

}  // namespace ulpscope::models
