#include "widgets/views/modules_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/views/badge_delegate.h"

#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QScrollBar>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::ModuleTreeModel;
using models::RegionKind;

constexpr int kBadgeWidth = 96;
constexpr int kFp32Width = 54;

}  // namespace

ModulesPanel::ModulesPanel(Workbench& workbench, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_filter(new QLineEdit(this)), m_tree(new QTreeView(this)), m_policy(new QLabel(this)) {
  m_filterModel.setSourceModel(&m_model);
  m_filter->setPlaceholderText(tr("Filter: name, type, >1e-2, nonfinite, fp32"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setAccessibleName(tr("Filter modules"));
  m_tree->setModel(&m_filterModel);
  m_tree->setItemDelegate(new BadgeDelegate(m_tree));
  m_tree->setAccessibleName(tr("Modules"));
  m_tree->setUniformRowHeights(true);
  m_tree->setIndentation(14);
  m_tree->setAllColumnsShowFocus(true);
  m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
  m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QHeaderView* header = m_tree->header();
  header->setStretchLastSection(false);
  header->setSectionResizeMode(ModuleTreeModel::kModule, QHeaderView::Stretch);
  header->setSectionResizeMode(ModuleTreeModel::kBadge, QHeaderView::Fixed);
  header->setSectionResizeMode(ModuleTreeModel::kFp32, QHeaderView::Fixed);
  const int em = fontMetrics().horizontalAdvance(QStringLiteral("from above"));
  header->resizeSection(ModuleTreeModel::kBadge, std::max(kBadgeWidth, em + 36));
  header->resizeSection(ModuleTreeModel::kFp32, kFp32Width);
  m_policy->setWordWrap(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 2, 2, 4);
  layout->setSpacing(6);
  layout->addWidget(m_filter);
  layout->addWidget(m_tree, 1);
  layout->addWidget(m_policy);

  connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
    m_isSelecting = true;  // where a filtered row was current the view goes to its neighbour: no choice of the user's
    m_filterModel.setFilterText(text);
    m_isSelecting = false;
    if (!text.isEmpty()) m_tree->expandAll();
    refreshSelection();
  });
  connect(&m_model, &ModuleTreeModel::toggleRequested, this, [this](const QString& path) { m_workbench.toggle(path, RegionKind::inputsToFp32); });
  connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
    if (m_isSelecting || !current.isValid() || !m_workbench.shownRun()) return;
    const QString path = current.data(ModuleTreeModel::kPathRole).toString();
    m_workbench.selection().select(path, m_workbench.shownRun()->worstSite(path), -1);
  });
  connect(m_tree, &QTreeView::customContextMenuRequested, this, &ModulesPanel::showMenu);
  connect(&workbench, &Workbench::viewChanged, this, &ModulesPanel::refreshRun);
  connect(&workbench, &Workbench::regionsChanged, this, &ModulesPanel::refreshRegions);
  connect(&workbench.selection(), &models::Selection::changed, this, &ModulesPanel::refreshSelection);
}

void ModulesPanel::refreshRun() {
  m_model.setRun(m_workbench.shownRun());
  const QString id = m_workbench.session() ? models::qt(m_workbench.session()->id) : QString();
  if (id != m_sessionId) m_tree->expandToDepth(2);
  m_sessionId = id;
  refreshSelection();
}

void ModulesPanel::refreshRegions() {
  m_model.setRegions(m_workbench.regions());
  const auto& fp32 = m_workbench.regions().fp32();
  const auto& disable = m_workbench.regions().disable();
  QStringList parts;
  if (!fp32.empty()) parts << tr("FP32: %1").arg(models::shortList(fp32, 3));
  if (!disable.empty()) parts << tr("autocast off: %1").arg(models::shortList(disable, 3));
  m_policy->setText(parts.isEmpty() ? tr("Policy: autocast everywhere") : tr("Policy: %1").arg(parts.join(QStringLiteral("; "))));
}

QModelIndex ModulesPanel::viewIndexOf(const QString& modulePath, int column) const {
  return m_filterModel.mapFromSource(m_model.indexOf(modulePath, column));
}

void ModulesPanel::refreshSelection() {
  const auto& path = m_workbench.selection().modulePath();
  const QModelIndex index = path ? viewIndexOf(*path, ModuleTreeModel::kModule) : QModelIndex();
  m_isSelecting = true;
  if (!index.isValid()) {
    m_tree->selectionModel()->clear();
  } else if (m_tree->currentIndex().siblingAtColumn(0) != index) {
    m_tree->setCurrentIndex(index);
    m_tree->scrollTo(index);
    m_tree->horizontalScrollBar()->setValue(0);
  }
  m_isSelecting = false;
}

void ModulesPanel::showMenu(const QPoint& position) {
  const QModelIndex index = m_tree->indexAt(position);
  if (!index.isValid()) return;
  const QString path = index.data(ModuleTreeModel::kPathRole).toString();
  QMenu menu(this);
  const auto add = [&](const QString& text, RegionKind kind) {
    QAction* action = menu.addAction(text);
    action->setCheckable(true);
    action->setChecked(m_workbench.regions().names(path, kind));
    connect(action, &QAction::triggered, this, [this, path, kind] { m_workbench.toggle(path, kind); });
  };
  add(tr("Disable autocast here (inputs to FP32)"), RegionKind::inputsToFp32);
  add(tr("Disable autocast here (inputs as they are)"), RegionKind::inputsAsTheyAre);
  menu.exec(m_tree->viewport()->mapToGlobal(position));
}

}  // namespace ulpscope::views
