#include "widgets/views/modules_panel.h"

#include "core/base/number_text.h"
#include "core/model/model_info.h"
#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"
#include "widgets/views/badge_delegate.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::ModuleTreeModel;
using models::qt;
using models::RegionKind;
using Order = models::ModuleFilterModel::Order;

constexpr int kBadgeWidth = 92;
constexpr int kFp32Width = 48;
constexpr int kShownDepth = 2;  // levels unfolded at first
constexpr int kNameRoom = 78;   // px that a module's name keeps

QString startTip() { return ModulesPanel::tr("Go to the op in which NaN or inf arises first, else to the module that introduces the largest error; again: to the next"); }

}  // namespace

ModulesPanel::ModulesPanel(Workbench& workbench, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_filter(new QLineEdit(this)), m_tree(new QTreeView(this)), m_message(new QLabel(this)), m_policy(new QLabel(this)) {
  m_filterModel.setSourceModel(&m_model);
  m_filter->setPlaceholderText(tr("Filter: name, type:Linear, >1e-2, >5x, nonfinite, fp32"));
  m_filter->setToolTip(tr("Words that all must match: a name or type, type:Linear, >1e-2 (worst error), >5x (times the tolerance), nonfinite, fp32 (out of autocast)"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setAccessibleName(tr("Filter modules"));
  makeTree();
  m_message->setWordWrap(true);
  m_message->setTextFormat(Qt::PlainText);
  m_message->hide();
  m_policy->setWordWrap(true);
  m_policy->setMinimumWidth(10);  // long names have no place to break
  m_policy->setTextFormat(Qt::PlainText);
  m_policy->setMargin(3);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 2, 2, 4);
  layout->setSpacing(6);
  layout->addWidget(m_filter);
  layout->addWidget(m_orderLine = makeOrderLine());
  layout->addWidget(m_tree, 1);
  layout->addWidget(m_message);
  layout->addWidget(m_policy);
  connectViews();
  refreshColors();
}

void ModulesPanel::makeTree() {
  m_tree->setModel(&m_filterModel);
  m_tree->setItemDelegate(new BadgeDelegate(m_tree));
  m_tree->setAccessibleName(tr("Modules"));
  m_tree->setAccessibleDescription(tr("Space: FP32 of the module, Shift+Space: of its parent; the context menu has both kinds"));
  m_tree->setUniformRowHeights(true);
  m_tree->setIndentation(12);
  m_tree->setAllColumnsShowFocus(true);
  m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
  m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_tree->installEventFilter(this);
  QHeaderView* header = m_tree->header();
  header->setStretchLastSection(false);
  header->setMinimumSectionSize(24);
  header->setSectionResizeMode(QHeaderView::Fixed);
  header->setSectionResizeMode(ModuleTreeModel::kModule, QHeaderView::Stretch);
  const auto widthOf = [this](const QString& text) { return fontMetrics().horizontalAdvance(text); };
  header->resizeSection(ModuleTreeModel::kDtype, std::max(widthOf(tr("Dtype")), widthOf(tr("mixed"))) + 18);
  header->resizeSection(ModuleTreeModel::kRatio, std::max(widthOf(tr("× tol.")), widthOf(QStringLiteral("81900"))) + 14);
  header->resizeSection(ModuleTreeModel::kBadge, std::max(kBadgeWidth, widthOf(tr("from above")) + 34));
  header->resizeSection(ModuleTreeModel::kFp32, std::max(kFp32Width, widthOf(tr("FP32")) + 18));
  for (const int column : {ModuleTreeModel::kDtype, ModuleTreeModel::kRatio}) m_widths[column] = header->sectionSize(column);  // hidden, a section has none
  m_tree->viewport()->installEventFilter(this);
}

// In a narrow dock columns give way to the names: first the ratio to the tolerance, whose badge stands beside it, then the dtype.
// Both are in the tooltips of what stays.
void ModulesPanel::fitColumns() {
  const QHeaderView* header = m_tree->header();
  const bool hasRun = m_workbench.shownRun() != nullptr;
  for (const int column : {ModuleTreeModel::kBadge, ModuleTreeModel::kFp32}) m_tree->setColumnHidden(column, !hasRun);
  if (!hasRun) {
    for (const int column : {ModuleTreeModel::kDtype, ModuleTreeModel::kRatio}) m_tree->setColumnHidden(column, true);
    return;
  }
  int room = m_tree->viewport()->width() - kNameRoom - header->sectionSize(ModuleTreeModel::kFp32) - header->sectionSize(ModuleTreeModel::kBadge);
  for (const int column : {ModuleTreeModel::kDtype, ModuleTreeModel::kRatio}) {
    room -= m_widths.value(column);
    if (m_tree->isColumnHidden(column) != (room < 0)) m_tree->setColumnHidden(column, room < 0);
  }
}

QWidget* ModulesPanel::makeOrderLine() {
  auto* line = new QWidget(this);
  m_order = new QComboBox(line);
  m_order->setAccessibleName(tr("Order of modules"));
  m_order->setToolTip(tr("Order of the modules inside each one"));
  for (const auto& [order, words] : {std::pair{Order::asDefined, tr("as defined")}, std::pair{Order::execution, tr("execution")}, std::pair{Order::name, tr("name")},
                                     std::pair{Order::worstError, tr("worst error")}, std::pair{Order::ratio, tr("times tolerance")}, std::pair{Order::introducedError, tr("introduced error")}})
    m_order->addItem(words, static_cast<int>(order));
  m_next = new QToolButton(line);
  m_next->setText(tr("Where it starts"));
  m_next->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_next->setAccessibleName(tr("Go to where it starts"));
  m_next->setToolTip(startTip());
  auto* label = new QLabel(tr("Order"), line);
  label->setBuddy(m_order);
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(label);
  layout->addWidget(m_order);
  layout->addStretch(1);
  layout->addWidget(m_next);
  return line;
}

void ModulesPanel::connectViews() {
  connect(m_filter, &QLineEdit::textChanged, this, &ModulesPanel::applyFilter);
  connect(m_order, &QComboBox::currentIndexChanged, this, [this] {
    m_isSelecting = true;
    m_filterModel.setOrder(static_cast<Order>(m_order->currentData().toInt()));
    m_isSelecting = false;
    if (m_tree->currentIndex().isValid()) m_tree->scrollTo(m_tree->currentIndex());
  });
  connect(m_next, &QToolButton::clicked, this, &ModulesPanel::selectNextStart);
  connect(&m_model, &ModuleTreeModel::toggleRequested, this, [this](const QString& path) { m_workbench.toggle(path, RegionKind::inputsToFp32); });
  connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
    if (m_isSelecting || !current.isValid()) return;
    const QString path = current.data(ModuleTreeModel::kPathRole).toString();
    m_workbench.selection().select(path, m_workbench.shownRun() ? m_workbench.shownRun()->worstSite(path) : -1, -1);
  });
  connect(m_tree, &QTreeView::customContextMenuRequested, this, &ModulesPanel::showMenu);
  connect(&m_workbench, &Workbench::viewChanged, this, &ModulesPanel::refreshRun);
  connect(&m_workbench, &Workbench::regionsChanged, this, &ModulesPanel::refreshRegions);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &ModulesPanel::refreshSelection);
}

void ModulesPanel::applyFilter(const QString& text) {
  if (!m_isFiltered && !text.isEmpty()) {
    m_expanded.clear();
    rememberExpanded({});
  }
  m_isSelecting = true;  // where a filtered row was current the view goes to its neighbour: no choice of the user's
  m_filterModel.setFilterText(text);
  if (!text.isEmpty()) m_tree->expandAll();
  if (m_isFiltered && text.isEmpty()) {
    m_tree->collapseAll();
    for (const QString& path : m_expanded) m_tree->expand(viewIndexOf(path, ModuleTreeModel::kModule));
  }
  m_isFiltered = !text.isEmpty();
  m_isSelecting = false;
  refreshMessage();
  refreshSelection();
}

void ModulesPanel::rememberExpanded(const QModelIndex& parent) {
  for (int row = 0; row < m_filterModel.rowCount(parent); ++row) {
    const QModelIndex index = m_filterModel.index(row, 0, parent);
    if (!m_tree->isExpanded(index)) continue;
    m_expanded << index.data(ModuleTreeModel::kPathRole).toString();
    rememberExpanded(index);
  }
}

void ModulesPanel::refreshRun() {
  const bool hasRun = m_workbench.shownRun() != nullptr;
  hasRun ? m_model.setRun(m_workbench.shownRun()) : m_model.setModules(m_workbench.session());
  m_orderLine->setVisible(hasRun);  // what it orders by is known of runs
  fitColumns();
  const QString id = m_workbench.session() ? qt(m_workbench.session()->id) : QString();
  if (id != m_sessionId) m_tree->expandToDepth(kShownDepth);
  m_sessionId = id;
  const models::RunPointer& run = m_workbench.shownRun();
  const bool hasStart = run && !models::startingPoints(*run->session, *run->run).empty();
  m_next->setEnabled(hasStart);
  m_next->setToolTip(hasStart ? startTip() : tr("No NaN or inf arises in this run, and it did not measure introduced errors (--observe full does)"));
  refreshRegions();
  refreshMessage();
  refreshSelection();
}

void ModulesPanel::refreshRegions() {
  m_model.setRegions(m_workbench.regions());
  m_model.setStale(m_workbench.isStale());
  const auto& fp32 = m_workbench.regions().fp32();
  const auto& disable = m_workbench.regions().disable();
  QStringList parts;
  if (!fp32.empty()) parts << tr("FP32: %1").arg(models::shortList(fp32, 3));
  if (!disable.empty()) parts << tr("autocast off: %1").arg(models::shortList(disable, 3));
  if (!m_workbench.shownRun()) {
    const auto& session = m_workbench.session();
    const bool isLoop = session && session->samples.ids.empty();
    m_policy->setText(isLoop ? tr("A training loop in Python was recorded here: of its model only the type is known.") : tr("The model was not run in this session: New run… (Ctrl+N) looks into its modules."));
    return refreshColors();
  }
  QString text = parts.isEmpty() ? tr("Policy: autocast everywhere") : tr("Policy: %1").arg(parts.join(QStringLiteral("; ")));
  if (m_workbench.isStale()) text += tr("\nStale: dtypes and errors are %1's, of another policy").arg(m_workbench.runB()->shortName());
  m_policy->setText(text);
  refreshColors();
}

void ModulesPanel::refreshMessage() {
  m_message->setText(m_filterModel.message());
  m_message->setVisible(!m_message->text().isEmpty() && m_workbench.shownRun() != nullptr);
}

void ModulesPanel::refreshColors() {
  const plots::Theme& theme = plots::themeOf(this);
  const bool isStale = m_workbench.isStale();
  m_policy->setStyleSheet(isStale ? QStringLiteral("QLabel { background: %1; color: %2; border-radius: 4px; }").arg(theme.warnPill.name(), theme.warn.name()) : QString());
  m_next->setIcon(plots::themedIcon(QStringLiteral("next"), theme.text, theme.muted));
  m_message->setStyleSheet(QStringLiteral("QLabel { color: %1; }").arg(theme.bad.name()));
}

void ModulesPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refreshColors();
}

QString ModulesPanel::message() const { return m_message->isHidden() ? QString() : m_message->text(); }
QString ModulesPanel::policyText() const { return m_policy->text(); }

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

void ModulesPanel::selectNextStart() {
  const models::RunPointer& run = m_workbench.shownRun();
  if (!run) return;
  std::vector<models::StartingPoint> points = models::startingPoints(*run->session, *run->run);
  std::erase_if(points, [this](const models::StartingPoint& at) { return !viewIndexOf(qt(at.modulePath), 0).isValid(); });
  if (points.empty()) {
    emit m_workbench.notice(m_isFiltered ? tr("No module that the filter shows introduces an error.") : tr("No module introduces an error."));
    return;
  }
  const models::Selection& selection = m_workbench.selection();
  std::size_t next = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (selection.modulePath() == qt(points[i].modulePath) && selection.site() == points[i].site) next = (i + 1) % points.size();
  const models::StartingPoint& at = points[next];
  m_workbench.selection().select(qt(at.modulePath), at.site, at.sample);
  const QString what = at.diagnosis.empty() ? tr("%1 introduces an error of %2").arg(models::modulePathText(qt(at.modulePath)), qt(base::shortNumber(at.error))) : qt(at.diagnosis);
  emit m_workbench.notice(tr("Where it starts, %1 of %2: %3").arg(next + 1).arg(points.size()).arg(what));
}

void ModulesPanel::toggleCurrent(Qt::KeyboardModifiers modifiers) {
  const QModelIndex current = m_tree->currentIndex();
  if (!current.isValid() || !m_workbench.shownRun()) return;
  const QModelIndex target = modifiers & Qt::ShiftModifier && current.parent().isValid() ? current.parent() : current;
  m_workbench.toggle(target.data(ModuleTreeModel::kPathRole).toString(), RegionKind::inputsToFp32);
}

// In whatever column the cursor stands; the tree's own Space would reach the checkbox's column alone.
bool ModulesPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_tree->viewport() && event->type() == QEvent::Resize) fitColumns();
  if (watched != m_tree || event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() != Qt::Key_Space || key->modifiers() & ~Qt::ShiftModifier) return false;
  toggleCurrent(key->modifiers());
  return true;
}

void ModulesPanel::showMenu(const QPoint& position) {
  QModelIndex index = m_tree->indexAt(position);
  if (!index.isValid()) index = m_tree->currentIndex();  // the menu key
  if (!index.isValid() || !m_workbench.shownRun()) return;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fillMenu(*menu, index.data(ModuleTreeModel::kPathRole).toString());
  menu->popup(m_tree->viewport()->mapToGlobal(position));
}

void ModulesPanel::fillMenu(QMenu& menu, const QString& modulePath) {
  const QString cover = m_model.coverText(modulePath);
  if (!cover.isEmpty()) menu.addAction(tr("%1; change it there").arg(cover))->setEnabled(false);
  const auto add = [&](const QString& module, const QString& path, RegionKind kind) {
    QAction* action = menu.addAction(models::regionAction(kind, module));
    action->setToolTip(models::regionMeaning(kind));
    action->setCheckable(true);
    action->setChecked(m_workbench.regions().names(path, kind));
    action->setEnabled(path != modulePath || cover.isEmpty());
    connect(action, &QAction::triggered, this, [this, path, kind] { m_workbench.toggle(path, kind); });
  };
  menu.setToolTipsVisible(true);
  add({}, modulePath, RegionKind::inputsToFp32);
  add({}, modulePath, RegionKind::inputsAsTheyAre);
  if (modulePath.isEmpty()) return;
  menu.addSeparator();
  const QString parent = qt(model::parentPath(models::core(modulePath)));
  add(models::modulePathText(parent), parent, RegionKind::inputsToFp32);
}

}  // namespace ulpscope::views
