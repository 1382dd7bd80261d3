#include "widgets/views/operators_panel.h"

#include "widgets/models/number_order.h"
#include "widgets/models/text.h"
#include "widgets/views/tables.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {

using models::core;
using models::OperatorsModel;
using models::qt;

OperatorsPanel::OperatorsPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_order = new models::NumberOrder(this);
  m_order->setSourceModel(&m_model);
  m_table = makeTable(this, m_order, tr("Ops of the model, and what autocast does to each"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(-1, Qt::AscendingOrder);  // as they stand in the code
  m_notes = new QLabel(this);
  m_notes->setWordWrap(true);
  m_notes->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->setSpacing(4);
  layout->addWidget(makeHead());
  layout->addWidget(m_table, 1);
  layout->addWidget(m_notes);

  connect(&m_workbench, &Workbench::sessionChanged, this, &OperatorsPanel::forget);
  connect(&m_workbench.engine(), &jobs::EngineProcess::greeted, this, &OperatorsPanel::fillTargets);
  connect(&m_workbench.engine(), &jobs::EngineProcess::inspected, this, &OperatorsPanel::fill);
  connect(&m_workbench.engine(), &jobs::EngineProcess::inspectFailed, this, [this](const base::Error& error) {
    if (m_asked.empty()) return;  // of a session that is no longer shown
    m_asked.clear();
    say(qt(error.message()));
  });
  connect(m_target, &QComboBox::currentIndexChanged, this, &OperatorsPanel::ask);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &OperatorsPanel::selectModule);
}

QWidget* OperatorsPanel::makeHead() {
  auto* head = new QWidget(this);
  m_summary = new QLabel(head);
  m_summary->setWordWrap(true);
  m_target = new QComboBox(head);
  m_target->setAccessibleName(tr("Whose autocast"));
  m_target->setToolTip(tr("Whose autocast lists: a device's newest, or those of another PyTorch series"));
  m_target->addItem(tr("cuda (newest)"), QStringLiteral("cuda"));
  m_target->addItem(tr("cpu (newest)"), QStringLiteral("cpu"));
  auto* label = new QLabel(tr("Autocast of:"), head);
  label->setBuddy(m_target);
  auto* layout = new QHBoxLayout(head);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_summary, 1);
  layout->addWidget(label);
  layout->addWidget(m_target);
  return head;
}

// The series that the engine knows, once it has said so.
void OperatorsPanel::fillTargets() {
  const QSignalBlocker quiet(m_target);
  for (const QString& table : m_workbench.engine().policyTables())
    if (m_target->findData(table) < 0) m_target->addItem(table, table);
}

QString OperatorsPanel::summary() const { return m_summary->text(); }
QString OperatorsPanel::notes() const { return m_notes->text(); }

void OperatorsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  ask();
}

void OperatorsPanel::forget() {
  const auto& session = m_workbench.session();
  if (session && m_asked.starts_with(session->model.path + '\n')) return;  // the same model, another run of it
  m_asked.clear();
  m_model.clear();
  say({});
  if (isVisible()) ask();
}

void OperatorsPanel::say(const QString& text) {
  m_model.clear();
  m_summary->setText(text);
  m_notes->clear();
}

void OperatorsPanel::ask() {
  const auto& session = m_workbench.session();
  if (!session || !isVisible()) return;
  if (const QString why = m_workbench.whyNoRerun(); !why.isEmpty()) return say(tr("An engine reads the ops from a model's code: %1").arg(why));
  const std::string target = core(m_target->currentData().toString());
  const std::string asked = session->model.path + '\n' + target;
  if (asked == m_asked) return;
  m_asked = asked;
  say(m_workbench.isRunning() ? tr("The engine answers when the run is done…") : tr("Asking the engine…"));
  m_workbench.engine().inspect(session->model.path, target);
}

void OperatorsPanel::fill(const protocol::Inspection& inspection) {
  if (m_asked.empty()) return;
  m_model.setInspection(inspection);
  m_summary->setText(models::operatorsSummary(m_model.operators(), qt(inspection.policyTable)));
  QStringList notes;
  for (const std::string& note : protocol::targetNotes(inspection.target)) notes << qt(note);
  const auto& session = m_workbench.session();
  if (session && !(session->model.fingerprint == inspection.model.fingerprint)) notes.prepend(tr("the model's file is another than this session's runs had"));
  m_notes->setText(notes.join(QStringLiteral("  ·  ")));
  fitColumns(m_table);
}

// The first module that has the op: the table stays where it is.
void OperatorsPanel::selectModule() {
  const QModelIndex current = m_table->currentIndex();
  if (!current.isValid() || !m_table->hasFocus()) return;
  const auto row = static_cast<std::size_t>(current.data(models::RowTableModel::kKeyRole).toLongLong());
  if (row < m_model.operators().size()) m_workbench.selection().select(qt(m_model.operators()[row].modulePaths.front()), -1, -1);
}

}  // namespace ulpscope::views
