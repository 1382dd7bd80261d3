#include "widgets/views/nonfinite_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"
#include "widgets/views/findings_delegate.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ulpscope::views {

using models::NonfiniteModel;
using models::qt;
using models::RegionKind;
using models::RowTableModel;

namespace {

constexpr int kBoxWidth = 52;

// The table's own Ctrl+C copies a row; here it copies the diagnosis.
void moveCopyRow(QTableView* table) {
  for (QAction* action : table->actions())
    if (action->shortcut() == QKeySequence(QKeySequence::Copy)) action->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+C")));
}

}  // namespace

NonfinitePanel::NonfinitePanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_diagnosis = makeLine(this);
  QFont bold = m_diagnosis->font();
  bold.setBold(true);
  m_diagnosis->setFont(bold);
  m_firstValues = makeLine(this);
  m_copy = makeCopyButton();
  makeTables();
  makeActions();
  auto* top = new QHBoxLayout;
  top->addWidget(m_diagnosis, 1);
  top->addWidget(m_copy, 0, Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->setSpacing(4);
  layout->addLayout(top);
  layout->addWidget(m_firstValues);
  layout->addWidget(m_table, 2);
  layout->addWidget(m_showReference);
  layout->addWidget(m_referenceTable, 1);
  layout->addStretch(0);  // takes the room when the tables are hidden

  connect(&m_workbench, &Workbench::viewChanged, this, &NonfinitePanel::refreshRun);
  connect(&m_workbench, &Workbench::regionsChanged, this, [this] {
    m_model.setRegions(m_workbench.regions());
    refreshActions();
  });
  connect(&m_workbench.selection(), &models::Selection::changed, this, &NonfinitePanel::refreshSelection);
  connect(m_copy, &QToolButton::clicked, this, &NonfinitePanel::copyDiagnosis);
  connect(&m_model, &NonfiniteModel::toggleRequested, this, [this](const QString& path) { m_workbench.toggle(path, RegionKind::inputsToFp32); });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &NonfinitePanel::selectRow);
  connect(m_showReference, &QToolButton::toggled, this, &NonfinitePanel::refreshReference);
}

QToolButton* NonfinitePanel::makeCopyButton() {
  auto* copy = new QToolButton(this);
  copy->setText(tr("Copy"));
  copy->setToolTip(tr("Copy the diagnosis (Ctrl+C in the table)"));
  copy->setAccessibleName(tr("Copy the diagnosis"));
  copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  return copy;
}

void NonfinitePanel::makeTables() {
  m_table = makeTable(this, &m_model, tr("Non-finite origins"));
  m_table->setItemDelegateForColumn(NonfiniteModel::kFp32, new RegionDelegate(m_table));
  m_table->horizontalHeader()->moveSection(NonfiniteModel::kFp32, 0);
  m_table->setMinimumHeight(60);
  moveCopyRow(m_table);
  m_showReference = new QToolButton(this);
  m_showReference->setCheckable(true);
  m_showReference->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_showReference->setArrowType(Qt::RightArrow);
  m_referenceTable = makeTable(this, &m_reference, tr("Non-finite values of FP32 itself"));
  m_referenceTable->setMinimumHeight(60);
}

void NonfinitePanel::makeActions() {
  const auto add = [this](const QString& text, const QKeySequence& keys) {
    auto* action = new QAction(text, m_table);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    m_table->insertAction(m_table->actions().value(0), action);
    return action;
  };
  connect(add(tr("Copy diagnosis"), QKeySequence(QKeySequence::Copy)), &QAction::triggered, this, &NonfinitePanel::copyDiagnosis);
  m_instead = add(tr("Keep the root cause's module in FP32 instead"), {});
  connect(m_instead, &QAction::triggered, this, &NonfinitePanel::keepRootCause);
  m_toggle = add(tr("Keep in FP32"), QKeySequence(Qt::Key_Space));
  m_toggle->setCheckable(true);
  connect(m_toggle, &QAction::triggered, this, [this] { m_model.setData(m_table->currentIndex().siblingAtColumn(NonfiniteModel::kFp32), {}, Qt::CheckStateRole); });
}

QString NonfinitePanel::diagnosis() const { return m_diagnosis->text(); }
QString NonfinitePanel::firstValues() const { return m_firstValues->text(); }

void NonfinitePanel::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_copy->setIcon(plots::themedIcon(QStringLiteral("copy"), theme.text, theme.muted));
  QPalette muted = m_firstValues->palette();
  muted.setColor(QPalette::WindowText, theme.muted);
  m_firstValues->setPalette(muted);
}

void NonfinitePanel::copyDiagnosis() {
  QGuiApplication::clipboard()->setText(diagnosis());
  emit m_workbench.notice(tr("Diagnosis copied."));
}

void NonfinitePanel::selectRow(const QModelIndex& current) {
  const models::RunPointer& run = m_workbench.shownRun();
  if (m_isRefreshing || !current.isValid() || !run) return;
  const auto places = m_workbench.findings();
  const FindingPlace& place = places[static_cast<std::size_t>(current.data(RowTableModel::kKeyRole).toInt())];
  m_workbench.selection().select(place.modulePath, place.site, place.sample);
}

// One step of the undo stack: the cause's module in, the module where it shows out.
void NonfinitePanel::keepRootCause() {
  const QModelIndex current = m_table->currentIndex();
  const QVariant cause = current.data(NonfiniteModel::kRootPathRole);
  if (!current.isValid() || !cause.isValid()) return;
  const QString path = current.data(NonfiniteModel::kPathRole).toString();
  m_workbench.undoStack().beginMacro(tr("keep %1 in FP32").arg(models::modulePathText(cause.toString())));
  if (path != cause.toString() && m_workbench.regions().names(path, RegionKind::inputsToFp32)) m_workbench.toggle(path, RegionKind::inputsToFp32);
  if (!m_workbench.regions().names(cause.toString(), RegionKind::inputsToFp32)) m_workbench.toggle(cause.toString(), RegionKind::inputsToFp32);
  m_workbench.undoStack().endMacro();
}

void NonfinitePanel::refreshRun() {
  m_isRefreshing = true;
  m_model.setRun(m_workbench.shownRun());
  m_reference.setRun(m_workbench.shownRun());
  fitColumns(m_table);
  m_table->setColumnWidth(NonfiniteModel::kFp32, std::max(kBoxWidth, m_table->columnWidth(NonfiniteModel::kFp32)));
  refreshReference();
  m_isRefreshing = false;
  refreshSelection();
}

void NonfinitePanel::refreshReference() {
  const models::RunPointer& run = m_workbench.shownRun();
  const std::int64_t count = m_reference.rowCount();
  const auto explained = run ? std::count_if(run->run->referenceNonfinite.begin(), run->run->referenceNonfinite.end(), [](const auto& f) { return !f.explainedBy.empty(); }) : 0;
  m_showReference->setText(tr("FP32's own non-finite values (%1, %2 of them intended)").arg(count).arg(explained));
  m_showReference->setToolTip(tr("No fault of autocast: what FP32 has too, and which rule calls it intended"));
  m_showReference->setArrowType(m_showReference->isChecked() ? Qt::DownArrow : Qt::RightArrow);
  m_showReference->setVisible(count > 0);
  m_referenceTable->setVisible(count > 0 && m_showReference->isChecked());
  fitColumns(m_referenceTable);
}

void NonfinitePanel::refreshDiagnosis() {
  const models::RunPointer& run = m_workbench.shownRun();
  const bool hasFinding = run && !run->run->nonfiniteOrigins.empty();
  m_copy->setVisible(hasFinding);
  m_table->setVisible(hasFinding);
  m_firstValues->setVisible(run != nullptr);
  if (!run) return m_diagnosis->clear();
  m_firstValues->setText(hasFinding ? models::firstValuesText(*run->run) : tr("Looked at %1.").arg(models::lookedAtText(*run->run)));
  if (hasFinding) return m_diagnosis->setText(qt(run->run->nonfiniteOrigins[static_cast<std::size_t>(std::max(0, selectedOrigin()))].diagnosis));
  const std::size_t outputs = run->run->nonfiniteSamples.size();  // of a run that looked at outputs only
  m_diagnosis->setText(outputs == 0 ? tr("%1: no NaN or inf that FP32 does not have.").arg(run->label())
                                    : tr("%1: outputs of %2 are non-finite where FP32's are not.").arg(run->label(), qt(base::counted(static_cast<std::int64_t>(outputs), "sample"))));
}

void NonfinitePanel::refreshActions() {
  const QModelIndex current = m_table->currentIndex();
  const QString path = current.data(NonfiniteModel::kPathRole).toString();
  const QVariant cause = current.data(NonfiniteModel::kRootPathRole);
  m_toggle->setEnabled(current.isValid() && m_model.flags(current.siblingAtColumn(NonfiniteModel::kFp32)).testFlag(Qt::ItemIsUserCheckable));
  m_toggle->setText(current.isValid() ? tr("Keep %1 in FP32").arg(models::modulePathText(path)) : tr("Keep in FP32"));
  m_toggle->setChecked(current.isValid() && m_workbench.regions().names(path, RegionKind::inputsToFp32));
  m_instead->setVisible(cause.isValid());
  m_instead->setEnabled(cause.isValid() && !m_workbench.regions().names(cause.toString(), RegionKind::inputsToFp32));
  if (cause.isValid()) m_instead->setText(tr("Keep the root cause's module in FP32 instead (%1)").arg(models::modulePathText(cause.toString())));
}

void NonfinitePanel::refreshSelection() {
  m_isRefreshing = true;
  const int originRow = selectedOrigin();
  if (originRow < 0)
    m_table->selectionModel()->clear();
  else if (m_table->currentIndex().row() != originRow)
    m_table->setCurrentIndex(m_model.index(originRow, NonfiniteModel::kFp32));
  refreshDiagnosis();
  refreshActions();
  m_isRefreshing = false;
}

// An input and a parameter have no site: among several of a module the row that is current counts.
int NonfinitePanel::selectedOrigin() const {
  const auto places = m_workbench.findings();  // the origins first
  const models::RunPointer& run = m_workbench.shownRun();
  const int origins = run ? static_cast<int>(run->run->nonfiniteOrigins.size()) : 0;  // the table may still have those of the run before
  const models::Selection& selection = m_workbench.selection();
  int found = -1;
  for (int row = std::min(m_model.rowCount(), origins) - 1; row >= 0; --row) {
    const FindingPlace& place = places[static_cast<std::size_t>(row)];
    if (selection.modulePath() == place.modulePath && selection.site() == place.site && (found < 0 || found != m_table->currentIndex().row())) found = row;
  }
  return found;
}

}  // namespace ulpscope::views
