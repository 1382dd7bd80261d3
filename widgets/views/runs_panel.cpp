#include "widgets/views/runs_panel.h"

#include "widgets/models/text.h"
#include "widgets/views/findings_delegate.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/run_comparison_view.h"
#include "widgets/views/run_desk.h"
#include "widgets/views/tables.h"

#include <QAction>
#include <QFrame>
#include <QHeaderView>
#include <QMenu>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ulpscope::views {

using models::qt;
using models::RunsModel;

namespace {

QScrollArea* scrolled(QWidget* content, QWidget* parent) {
  auto* scroll = new QScrollArea(parent);
  scroll->setWidget(content);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setAccessibleName(RunsPanel::tr("Run A against run B"));
  return scroll;
}

}  // namespace

RunsPanel::RunsPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  makeTable();
  m_comparison = new RunComparisonView(workbench, this);
  auto* actions = new QWidget(this);
  makeActions(actions);
  m_split = new QSplitter(Qt::Vertical, this);
  m_split->addWidget(m_table);
  m_split->addWidget(scrolled(m_comparison, m_split));
  m_split->setChildrenCollapsible(false);
  m_split->setStretchFactor(0, 3);
  m_split->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 2, 8, 4);
  layout->setSpacing(2);
  layout->addWidget(actions);
  layout->addWidget(m_split, 1);

  for (const auto signal : {&Workbench::sessionChanged, &Workbench::runsChanged}) connect(&m_workbench, signal, this, &RunsPanel::refresh);
  connect(&m_workbench.desk(), &RunDesk::noteChanged, this, &RunsPanel::refreshActions);
  connect(&m_model, &RunsModel::renameRequested, &m_workbench.desk(), &RunDesk::rename);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &RunsPanel::refreshActions);
  refreshActions();
}

void RunsPanel::makeTable() {
  m_order = new QSortFilterProxyModel(this);
  m_order->setSourceModel(&m_model);
  m_order->setSortRole(models::kSortRole);
  m_table = views::makeTable(this, m_order, tr("Runs"));
  m_table->setItemDelegate(new RunsDelegate(m_table));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(RunsModel::kRun, Qt::AscendingOrder);
  m_table->setEditTriggers(QAbstractItemView::EditKeyPressed);
  m_table->setMinimumHeight(m_table->verticalHeader()->defaultSectionSize() * 4 + 4);  // head, two runs, scroll bar
  // Enter and double click: show it.
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (index.column() != RunsModel::kName) act(kShowB);
  });
  connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    if (index.column() == RunsModel::kName) act(kRename);
  });
}

void RunsPanel::makeActions(QWidget* bar) {
  auto* row = new FlowLayout(bar);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2);
  const struct {
    Act act;
    QString text, what;
    QKeySequence keys;
  } all[] = {{kShowA, tr("Show as A"), tr("Compare with this run"), Qt::Key_A},
             {kShowB, tr("Show as B"), tr("Show this run"), Qt::Key_B},
             {kBaseline, tr("Baseline"), tr("Compare every new run with this one"), QKeySequence(tr("Ctrl+B"))},
             {kRename, tr("Rename"), tr("Give the run a name of your own"), Qt::Key_F2},
             {kDelete, tr("Delete"), tr("Take the run away; undo brings it back, and it still counts as tried"), QKeySequence::Delete}};
  for (const auto& each : all) {
    auto* action = new QAction(each.text, m_table);
    action->setShortcut(each.keys);
    action->setShortcutContext(Qt::WidgetShortcut);  // bare letters belong to the table alone
    action->setToolTip(tr("%1 (%2 in the table)").arg(each.what, each.keys.toString(QKeySequence::NativeText)));
    action->setCheckable(each.act == kBaseline);
    connect(action, &QAction::triggered, this, [this, act = each.act] { this->act(act); });
    m_table->addAction(m_actions[each.act] = action);
    auto* button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setFocusPolicy(Qt::TabFocus);
    row->addWidget(button);
  }
  m_deletedMenu = new QMenu(this);
  m_deletedButton = new QToolButton(this);
  m_deletedButton->setMenu(m_deletedMenu);
  m_deletedButton->setPopupMode(QToolButton::InstantPopup);
  m_deletedButton->setToolTip(tr("Deleted runs keep their files and still count as tried. `ulpscope repair --purge` removes the files for good."));
  row->addWidget(m_deletedButton);
}

void RunsPanel::act(Act act) {
  const QString id = currentRun();
  const auto& session = m_workbench.session();
  if (id.isEmpty() || !session) return;
  const QString a = m_workbench.runA() ? m_workbench.runA()->id() : QString(), b = m_workbench.runB() ? m_workbench.runB()->id() : QString();
  switch (act) {
    case kShowA: return id == b ? m_workbench.showRuns(id, a) : m_workbench.showRuns(id, b);
    case kShowB: return id == a ? m_workbench.showRuns(b, id) : m_workbench.showRuns(a, id);
    case kBaseline: return m_workbench.desk().chooseBaseline(session->baseline() && qt(session->baseline()->id()) == id ? QString() : id);
    case kRename: return m_table->edit(m_table->currentIndex().siblingAtColumn(RunsModel::kName));
    case kDelete: return m_workbench.desk().remove(id);
    case kActCount: break;
  }
}

QString RunsPanel::currentRun() const { return m_table->currentIndex().data(RunsModel::kKeyRole).toString(); }

QModelIndex RunsPanel::indexOf(const QString& runId, int column) const {
  const int row = m_model.rowOfKey(runId);
  return row < 0 ? QModelIndex() : m_order->mapFromSource(m_model.index(row, column));
}

void RunsPanel::selectRun(const QString& runId) { m_table->setCurrentIndex(indexOf(runId, RunsModel::kRun)); }

// To a run that just ended or came from elsewhere; not to one that was looked at already.
bool RunsPanel::followsB(const QString& idA, const QString& idB) {
  const QString session = m_workbench.session() ? qt(m_workbench.session()->id) : QString();
  const QStringList before = std::exchange(m_shown, {session, idA, idB});
  return !idB.isEmpty() && !before.isEmpty() && (before.front() != session || !before.contains(idB));
}

void RunsPanel::refresh() {
  const auto& session = m_workbench.session();
  const QString before = currentRun();
  const int row = m_table->currentIndex().row();
  const QString idA = m_workbench.runA() ? m_workbench.runA()->id() : QString(), idB = m_workbench.runB() ? m_workbench.runB()->id() : QString();
  const bool follows = followsB(idA, idB);
  m_model.setSession(session, idA, idB);
  fitColumns(m_table);
  // A new run is current. Where the current run went, the one that took its place is next; at first, the one shown.
  const QModelIndex same = indexOf(follows ? idB : before, RunsModel::kRun);
  const int count = m_order->rowCount();
  m_table->setCurrentIndex(same.isValid() ? same : row >= 0 && count > 0 ? m_order->index(std::min(row, count - 1), RunsModel::kRun) : indexOf(idB, RunsModel::kRun));
  m_comparison->refresh();
  refreshDeleted();
  refreshActions();
}

void RunsPanel::refreshDeleted() {
  const auto& session = m_workbench.session();
  const std::size_t count = session ? session->deleted.size() : 0;
  m_deletedButton->setVisible(count > 0);
  m_deletedButton->setText(tr("Deleted (%1)").arg(count));
  m_deletedButton->setAccessibleName(tr("Deleted runs, to restore"));
  m_deletedMenu->clear();
  if (!session) return;
  for (const session::DeletedRun& deleted : session->deleted)
    m_deletedMenu->addAction(tr("Restore %1: %2").arg(models::runTitle(*session, deleted.run), models::policyText(deleted.run)).replace(u'&', QStringLiteral("&&")), &m_workbench.desk(),
                             [this, id = qt(deleted.run.id())] { m_workbench.desk().restore(id); });
}

void RunsPanel::refreshActions() {
  const QString id = currentRun();
  const auto& session = m_workbench.session();
  const bool hasRun = session && !id.isEmpty();
  const QString readOnly = m_workbench.desk().readOnlyReason();
  const QString a = m_workbench.runA() ? m_workbench.runA()->id() : QString(), b = m_workbench.runB() ? m_workbench.runB()->id() : QString();
  m_actions[kShowA]->setEnabled(hasRun && id != a && (id != b || !a.isEmpty()));
  m_actions[kShowB]->setEnabled(hasRun && id != b);
  for (const Act act : {kBaseline, kRename, kDelete}) {
    m_actions[act]->setEnabled(hasRun && readOnly.isEmpty());
    m_actions[act]->setStatusTip(readOnly);
  }
  m_actions[kBaseline]->setChecked(hasRun && session->baseline() && qt(session->baseline()->id()) == id);
  m_deletedMenu->setEnabled(readOnly.isEmpty());
  m_model.setNamesEditable(readOnly.isEmpty());
}

void RunsPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int row = m_table->verticalHeader()->defaultSectionSize();
  const bool isLow = height() < 14 * row && width() > 26 * row;
  m_split->setOrientation(isLow ? Qt::Horizontal : Qt::Vertical);
}

QString RunsPanel::comparison() const { return m_comparison->text(); }

}  // namespace ulpscope::views
