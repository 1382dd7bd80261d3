#include "widgets/models/module_tree_model.h"

#include "core/base/number_text.h"
#include "core/model/model_info.h"
#include "widgets/models/text.h"

#include <limits>

namespace ulpscope::models {

struct ModuleTreeModel::Node {
  QString path;
  QString leaf;
  QString type;
  std::int64_t parameterCount = 0;
  int row = 0;
  Node* parent = nullptr;
  std::vector<std::unique_ptr<Node>> children;
};

namespace {

const QString kStaleWords = QStringLiteral(" (stale: of another policy than the one chosen now)");
constexpr int kNeverRan = std::numeric_limits<int>::max();

std::map<std::string, int> firstSites(const session::RunRecord& run) {
  std::map<std::string, int> first;
  for (int i = 0; i < static_cast<int>(run.sites.size()); ++i) {
    for (std::string path = run.sites[static_cast<std::size_t>(i)].modulePath; !path.empty(); path = model::parentPath(path)) first.try_emplace(path, i);
    first.try_emplace({}, i);
  }
  return first;
}

}  // namespace

ModuleTreeModel::ModuleTreeModel(QObject* parent) : QAbstractItemModel(parent), m_top(std::make_unique<Node>()) {}
ModuleTreeModel::~ModuleTreeModel() = default;

void ModuleTreeModel::setRun(const RunPointer& run) { setContent(run ? run->session : nullptr, run); }

void ModuleTreeModel::setModules(const std::shared_ptr<const session::Session>& session) { setContent(session, nullptr); }

void ModuleTreeModel::setContent(const std::shared_ptr<const session::Session>& session, const RunPointer& run) {
  const auto sameModules = [](const session::Session* a, const session::Session* b) {
    if (a == nullptr || b == nullptr) return false;
    const auto& x = a->model.modules;
    const auto& y = b->model.modules;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& m, const auto& n) { return m.path == n.path && m.typeName == n.typeName; });
  };
  const bool keep = sameModules(m_session.get(), session.get());
  if (!keep) beginResetModel();
  m_session = session;
  m_run = run;
  m_badges = run ? moduleBadges(*run->run) : std::map<std::string, Badge>();
  m_dtypes = run ? moduleDtypes(*run->run) : std::map<std::string, ModuleDtypes>();
  m_firstSite = run ? firstSites(*run->run) : std::map<std::string, int>();
  if (!keep) {
    build();
    endResetModel();
  } else {
    announceChanges(kModule, kBadge);
  }
}

void ModuleTreeModel::setRegions(const Fp32Regions& regions) {
  if (m_regions == regions) return;
  m_regions = regions;
  announceChanges(kFp32, kFp32);
}

void ModuleTreeModel::setStale(bool isStale) {
  if (m_isStale == isStale) return;
  m_isStale = isStale;
  announceChanges(kDtype, kBadge);
}

void ModuleTreeModel::build() {
  m_top = std::make_unique<Node>();
  m_nodeOf.clear();
  if (!m_session) return;
  for (const model::ModuleNode& module : m_session->model.modules) {
    auto node = std::make_unique<Node>();
    node->path = qt(module.path);
    node->type = qt(module.typeName);
    node->parameterCount = module.parameterCount;
    Node* above = m_top.get();
    // The nearest ancestor that is listed: a foreign session may lack a container.
    for (std::string path = module.path; !path.empty();) {
      path = model::parentPath(path);
      const auto at = m_nodeOf.find(qt(path));
      if (at != m_nodeOf.end()) {
        above = at->second;
        break;
      }
    }
    node->leaf = above->path.isEmpty() ? node->path : node->path.mid(above->path.size() + 1);
    node->parent = above;
    node->row = static_cast<int>(above->children.size());
    m_nodeOf[node->path] = node.get();
    above->children.push_back(std::move(node));
  }
}

void ModuleTreeModel::announceChanges(int firstColumn, int lastColumn) {
  std::vector<QModelIndex> parents{QModelIndex()};
  while (!parents.empty()) {
    const QModelIndex at = parents.back();
    parents.pop_back();
    const int rows = rowCount(at);
    if (rows == 0) continue;
    emit dataChanged(index(0, firstColumn, at), index(rows - 1, lastColumn, at));
    for (int row = 0; row < rows; ++row) parents.push_back(index(row, 0, at));
  }
}

const ModuleTreeModel::Node* ModuleTreeModel::nodeOf(const QModelIndex& index) { return static_cast<const Node*>(index.internalPointer()); }

QModelIndex ModuleTreeModel::indexOf(const QString& modulePath, int column) const {
  const auto at = m_nodeOf.find(modulePath);
  return at == m_nodeOf.end() ? QModelIndex() : createIndex(at->second->row, column, at->second);
}

QModelIndex ModuleTreeModel::index(int row, int column, const QModelIndex& parent) const {
  const Node* above = parent.isValid() ? nodeOf(parent) : m_top.get();
  if (row < 0 || row >= static_cast<int>(above->children.size()) || column < 0 || column >= kColumnCount) return {};
  return createIndex(row, column, above->children[static_cast<std::size_t>(row)].get());
}

QModelIndex ModuleTreeModel::parent(const QModelIndex& child) const {
  if (!child.isValid()) return {};
  Node* above = nodeOf(child)->parent;
  return above == nullptr || above == m_top.get() ? QModelIndex() : createIndex(above->row, 0, above);
}

int ModuleTreeModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  return static_cast<int>((parent.isValid() ? nodeOf(parent) : m_top.get())->children.size());
}

int ModuleTreeModel::columnCount(const QModelIndex&) const { return kColumnCount; }

QVariant ModuleTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Node& node = *nodeOf(index);
  if (role == kPathRole) return node.path;
  if (role == kTypeRole) return node.type;
  if (role == kRegionRole) return static_cast<int>(m_regions.stateOf(node.path));
  if (role == kStaleRole) return m_isStale;
  if (role == kExecutionRole) {
    const auto at = m_firstSite.find(core(node.path));
    return at == m_firstSite.end() ? kNeverRan : at->second;
  }
  switch (index.column()) {
    case kModule: return moduleData(node, role);
    case kDtype: return dtypeData(node, role);
    case kRatio: return ratioData(node, role);
    case kBadge: return badgeData(node, role);
    case kFp32: return fp32Data(node, role);
    default: return {};
  }
}

QVariant ModuleTreeModel::moduleData(const Node& node, int role) const {
  switch (role) {
    case Qt::DisplayRole: return node.path.isEmpty() ? modulePathText(node.path) : node.leaf;
    case kSortRole: return node.path;
    case Qt::ToolTipRole: return QStringLiteral("%1 · %2 · %3").arg(modulePathText(node.path), node.type, qt(base::counted(node.parameterCount, "own parameter")));
    case Qt::AccessibleTextRole: return QStringLiteral("%1, %2").arg(modulePathText(node.path), node.type);
    default: return {};
  }
}

QVariant ModuleTreeModel::dtypeData(const Node& node, int role) const {
  const auto at = m_dtypes.find(core(node.path));
  const ModuleDtypes dtypes = at == m_dtypes.end() ? ModuleDtypes() : at->second;
  if (role == Qt::DisplayRole || role == kSortRole) return dtypesText(dtypes);
  if (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole) return dtypesTooltip(dtypes) + (m_isStale ? kStaleWords : QString());
  return {};
}

Badge ModuleTreeModel::badgeOf(const Node& node) const {
  const auto at = m_badges.find(core(node.path));
  return at == m_badges.end() ? Badge() : at->second;
}

QVariant ModuleTreeModel::ratioData(const Node& node, int role) const {
  const Badge badge = badgeOf(node);
  switch (role) {
    case Qt::DisplayRole: return badge.ratioText();
    case kSortRole: return badge.ratioToSort();
    case Qt::TextAlignmentRole: return QVariant(static_cast<int>(Qt::AlignRight | Qt::AlignVCenter));
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: return badge.ratioTooltip() + (m_isStale ? kStaleWords : QString());
    default: return {};
  }
}

QVariant ModuleTreeModel::badgeData(const Node& node, int role) const {
  const Badge badge = badgeOf(node);
  switch (role) {
    case Qt::DisplayRole: return badge.text();
    case kBadgeRole: return QVariant::fromValue(badge);
    case kSortRole: return static_cast<double>(static_cast<int>(badge.kind)) * 1e12 + badge.ratio;
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole: return badge.accessibleText() + (m_isStale ? kStaleWords : QString());
    default: return {};
  }
}

QString ModuleTreeModel::coverText(const QString& modulePath) const {
  const RegionState state = m_regions.stateOf(modulePath);
  return state == RegionState::covered || state == RegionState::coveredDisabled ? regionText(m_regions, modulePath) : QString();
}

QVariant ModuleTreeModel::fp32Data(const Node& node, int role) const {
  const RegionState state = m_regions.stateOf(node.path);
  if (role == Qt::CheckStateRole)
    return state == RegionState::off ? Qt::Unchecked : state == RegionState::partial ? Qt::PartiallyChecked : Qt::Checked;
  if (role == kSortRole) return static_cast<int>(state);
  if (role != Qt::ToolTipRole && role != Qt::AccessibleTextRole) return {};
  return regionText(m_regions, node.path);
}

QVariant ModuleTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::DisplayRole) return QStringList{QStringLiteral("Module"), QStringLiteral("Dtype"), QStringLiteral("× tol."), QStringLiteral("Worst error"), QStringLiteral("FP32")}.value(section);
  if (role == Qt::ToolTipRole)
    return QStringList{QStringLiteral("Module path as named_modules() writes it"), QStringLiteral("Dtype of the module's outputs under autocast; of a module that only groups others, of what ran inside"),
                       QStringLiteral("Worst relative L2 error divided by the tolerance of its op site: over 1 is outside"),
                       QStringLiteral("Worst relative L2 error of the module's op sites; grey: within the site tolerance"),
                       QStringLiteral("Keep in FP32 (autocast disabled locally, inputs cast to FP32): Space; on the parent: Shift+Space; both kinds: context menu")}.value(section);
  return {};
}

Qt::ItemFlags ModuleTreeModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  if (index.column() == kFp32 && m_run) flags |= Qt::ItemIsUserCheckable;
  return flags;
}

bool ModuleTreeModel::setData(const QModelIndex& index, const QVariant&, int role) {
  if (!index.isValid() || index.column() != kFp32 || role != Qt::CheckStateRole) return false;
  emit toggleRequested(nodeOf(index)->path);
  return true;
}

}  // namespace ulpscope::models
