#include "widgets/views/criteria_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/views/tables.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::qt;
using models::RowTableModel;

QString summaryOf(const session::Session& session, const session::RunRecord& run) {
  if (session.exploratory())
    return CriteriaPanel::tr("This session is exploratory: nothing was fixed beforehand, so there is no verdict. \"Validate this…\" locks criteria and runs the same experiment into a session of its own.");
  QString text = models::verdictLine(session, run);
  if (run.verdict && !run.verdict->reason.empty()) text += QStringLiteral(" · ") + qt(run.verdict->reason);
  text += QStringLiteral(" · ") + CriteriaPanel::tr("locked %1, SHA-256 %2").arg(qt(session.criteria.back().lockedUtc), qt(session.criteria.back().sha256.substr(0, 12)));
  text += QStringLiteral(" · ") + CriteriaPanel::tr("%1 tried on this set").arg(qt(base::counted(session.candidatesTried(), "candidate")));
  if (session.explored && session.explored->sameSamples) text += QStringLiteral(" · ") + CriteriaPanel::tr("criteria written after exploring these samples (%1)").arg(qt(session.explored->title));
  return text;
}

}  // namespace

CriteriaPanel::CriteriaPanel(Workbench& workbench, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_summary(new QLabel(this)), m_validate(new QPushButton(tr("Validate this…"), this)),
      m_revise(new QPushButton(tr("Revise…"), this)) {
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setWordWrap(true);
  m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_validate->setToolTip(tr("Fix limits first, then run the same experiment again and judge it"));
  m_revise->setToolTip(tr("Lock other criteria; the earlier ones stay in the session, and every verdict says that results had been seen"));
  m_table = makeTable(this, &m_model, tr("Criteria"));
  auto* top = new QHBoxLayout;
  top->addWidget(m_summary, 1);
  top->addWidget(m_validate, 0, Qt::AlignTop);
  top->addWidget(m_revise, 0, Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addLayout(top);
  layout->addWidget(m_table, 1);
  layout->addStretch(0);  // takes the room when the table is hidden
  connect(m_validate, &QPushButton::clicked, this, &CriteriaPanel::validateRequested);
  connect(m_revise, &QPushButton::clicked, this, &CriteriaPanel::reviseRequested);
  connect(&workbench, &Workbench::viewChanged, this, &CriteriaPanel::refresh);
  connect(&workbench, &Workbench::runningChanged, this, &CriteriaPanel::refresh);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    const qlonglong sample = current.data(RowTableModel::kKeyRole).toLongLong();
    if (current.isValid() && sample >= 0) m_workbench.selection().selectSample(sample);
  });
  refresh();
}

QString CriteriaPanel::summary() const { return m_summary->text(); }

void CriteriaPanel::refresh() {
  const models::RunPointer& run = m_workbench.shownRun();
  m_model.setRun(run);
  m_table->setVisible(m_model.rowCount() > 0);
  fitColumns(m_table);
  m_summary->setText(run ? summaryOf(*run->session, *run->run) : QString());
  const bool isExploratory = run && run->session->exploratory();
  m_validate->setVisible(isExploratory);
  m_revise->setVisible(run && !isExploratory);
  m_validate->setEnabled(!m_workbench.isRunning());
  m_revise->setEnabled(!m_workbench.isRunning());
}

}  // namespace ulpscope::views
