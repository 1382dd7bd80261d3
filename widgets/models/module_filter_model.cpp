#include "widgets/models/module_filter_model.h"

#include "core/render/sample_order.h"
#include "widgets/models/module_tree_model.h"
#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ulpscope::models {
namespace {

using RegionState = ModuleTreeModel::RegionState;

const QString kTypeWord = QStringLiteral("type:");

bool isLimit(const QString& word) { return word.startsWith(u'>'); }

bool isRatio(const QString& word) { return word.endsWith(u'x'); }

std::optional<double> limitOf(const QString& word) {
  bool isNumber = false;
  const double limit = QStringView(word).mid(1).chopped(isRatio(word) ? 1 : 0).toDouble(&isNumber);
  return isNumber ? std::optional(limit) : std::nullopt;
}

bool isOutOfAutocast(const QModelIndex& module) {
  const auto state = static_cast<RegionState>(module.data(ModuleTreeModel::kRegionRole).toInt());
  return state != RegionState::off && state != RegionState::partial;
}

bool wordMatches(const QString& word, const QModelIndex& module, const Badge& badge) {
  const QString type = module.data(ModuleTreeModel::kTypeRole).toString();
  if (isLimit(word)) {
    const std::optional<double> limit = limitOf(word);
    return !limit || badge.kind >= Badge::Kind::consequence || (isRatio(word) ? badge.largestRatio : badge.relL2) > *limit;
  }
  if (word == u"nonfinite" || word == u"non-finite") return badge.kind >= Badge::Kind::consequence;
  if (word == u"fp32") return isOutOfAutocast(module);
  if (word.startsWith(kTypeWord)) return type.contains(QStringView(word).mid(kTypeWord.size()), Qt::CaseInsensitive);
  return module.data(ModuleTreeModel::kPathRole).toString().contains(word, Qt::CaseInsensitive) || type.contains(word, Qt::CaseInsensitive);
}

Badge badgeOf(const QModelIndex& module) { return module.siblingAtColumn(ModuleTreeModel::kBadge).data(ModuleTreeModel::kBadgeRole).value<Badge>(); }

}  // namespace

ModuleFilterModel::ModuleFilterModel(QObject* parent) : QSortFilterProxyModel(parent) {
  setRecursiveFilteringEnabled(true);
  setDynamicSortFilter(true);
}

void ModuleFilterModel::setFilterText(const QString& text) {
  m_words = text.simplified().toLower().split(u' ', Qt::SkipEmptyParts);
  invalidateFilter();
}

QString ModuleFilterModel::message() const {
  for (const QString& word : m_words)
    if (isLimit(word) && !limitOf(word)) return QStringLiteral("%1: not a number after >; write >1e-2 or >5x").arg(word);
  if (m_words.isEmpty() || rowCount() > 0) return {};
  return QStringLiteral("No module matches %1. Words that all must match: a name, type:Linear, >1e-2, >5x, nonfinite, fp32.").arg(m_words.join(QStringLiteral(" and ")));
}

void ModuleFilterModel::setOrder(Order order) {
  m_order = order;
  invalidate();
  sort(order == Order::asDefined ? -1 : 0);
}

bool ModuleFilterModel::filterAcceptsRow(int sourceRow, const QModelIndex& sourceParent) const {
  const QModelIndex module = sourceModel()->index(sourceRow, ModuleTreeModel::kModule, sourceParent);
  const Badge badge = badgeOf(module);
  return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) { return wordMatches(word, module, badge); });
}

bool ModuleFilterModel::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const auto number = [](const QModelIndex& module, int role) { return module.data(role).toInt(); };
  switch (m_order) {
    case Order::asDefined: break;
    case Order::execution: return number(left, ModuleTreeModel::kExecutionRole) < number(right, ModuleTreeModel::kExecutionRole);
    case Order::name: return render::naturallyLess(core(left.data().toString()), core(right.data().toString()));
    case Order::worstError: return badgeOf(right) < badgeOf(left);
    case Order::ratio: return badgeOf(left).ratioToSort() > badgeOf(right).ratioToSort();
    case Order::introducedError: {
      const auto error = [](const QModelIndex& module) {
        const double introduced = badgeOf(module).introduced;
        return std::isnan(introduced) ? -1.0 : introduced;
      };
      return error(left) > error(right);
    }
  }
  return left.row() < right.row();
}

}  // namespace ulpscope::models
