#include "widgets/views/runs_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/views/tables.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::qt;

QString comparisonOf(const session::RunRecord& a, const session::RunRecord& b) {
  QStringList parts;
  parts << RunsPanel::tr("first non-finite: %1 → %2").arg(models::firstNonfiniteText(a), models::firstNonfiniteText(b));
  if (b.settings.decision.decides())
    parts << RunsPanel::tr("flips: %1 → %2").arg(a.flips.size()).arg(b.flips.size());
  if (!a.noDecision.empty() || !b.noDecision.empty())
    parts << RunsPanel::tr("without a decision: %1 → %2").arg(a.noDecision.size()).arg(b.noDecision.size());
  parts << RunsPanel::tr("worst error: %1 → %2").arg(qt(base::shortNumber(models::worstError(a))), qt(base::shortNumber(models::worstError(b))));
  return parts.join(QStringLiteral("   ·   "));
}

}  // namespace

RunsPanel::RunsPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_chooseA = new QComboBox(this);
  m_chooseA->setAccessibleName(tr("Run A"));
  m_chooseB = new QComboBox(this);
  m_chooseB->setAccessibleName(tr("Run B"));
  m_comparison = new QLabel(this);
  m_comparison->setWordWrap(true);
  m_comparison->setTextFormat(Qt::PlainText);
  m_comparison->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_table = makeTable(this, &m_model, tr("Runs"));
  auto* top = new QHBoxLayout;
  for (const auto& [text, combo] : {std::pair{tr("A"), m_chooseA}, std::pair{tr("B"), m_chooseB}}) {
    top->addWidget(new QLabel(text, this));
    top->addWidget(combo);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    combo->setMaximumWidth(300);
    top->addSpacing(8);
  }
  top->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addLayout(top);
  layout->addWidget(m_comparison);
  layout->addWidget(m_table, 1);

  connect(&m_workbench, &Workbench::sessionChanged, this, &RunsPanel::refresh);
  for (QComboBox* combo : {m_chooseA, m_chooseB}) connect(combo, &QComboBox::activated, this, &RunsPanel::chooseRuns);
}

void RunsPanel::refresh() {
  const auto& session = m_workbench.session();
  const QString idA = m_workbench.runA() ? m_workbench.runA()->id() : QString();
  const QString idB = m_workbench.runB() ? m_workbench.runB()->id() : QString();
  m_model.setSession(session, idA, idB);
  fitColumns(m_table);
  m_chooseA->clear();
  m_chooseB->clear();
  m_chooseA->addItem(tr("none"), QString());
  for (const session::RunRecord& run : session->runs) {
    const QString text = tr("run %1: %2").arg(run.number).arg(models::policyText(run));
    m_chooseA->addItem(text, qt(run.id()));
    m_chooseB->addItem(text, qt(run.id()));
  }
  m_chooseA->setCurrentIndex(std::max(0, m_chooseA->findData(idA)));
  m_chooseB->setCurrentIndex(m_chooseB->findData(idB));
  m_comparison->setText(comparison());
  m_comparison->setVisible(!comparison().isEmpty());
}

QString RunsPanel::comparison() const {
  const models::RunPointer& a = m_workbench.runA();
  const models::RunPointer& b = m_workbench.runB();
  return a && b ? comparisonOf(*a->run, *b->run) : QString();
}

void RunsPanel::chooseRuns() { m_workbench.showRuns(m_chooseA->currentData().toString(), m_chooseB->currentData().toString()); }

}  // namespace ulpscope::views
