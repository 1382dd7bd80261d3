#include "widgets/views/scan_actions.h"

#include "widgets/models/sample_outcome.h"

namespace ulpscope::views {

using models::ScanChoice;
using session::ScanKind;

ScanActions::ScanActions(Workbench& workbench, QObject* parent) : QObject(parent), m_workbench(workbench) {
  for (int i = 0; i < ScanChoice::kSlotCount; ++i) {
    auto* action = new QAction(this);
    connect(action, &QAction::triggered, this, [this, i] { use(static_cast<ScanChoice::Slot>(i)); });
    m_all << action;
  }
  auto* near = new QAction(this);
  connect(near, &QAction::triggered, this, &ScanActions::useForNear);
  m_all << near;
  connect(&workbench.selection(), &models::Selection::changed, this, &ScanActions::refresh);
  connect(&workbench, &Workbench::viewChanged, this, &ScanActions::refresh);
  refresh();
}

QString ScanActions::selectedId() const {
  const auto& session = m_workbench.session();
  const std::int64_t sample = m_workbench.selection().sample();
  return session && sample >= 0 && sample < static_cast<std::int64_t>(session->samples.ids.size()) ? models::sampleId(*session, sample) : QString();
}

void ScanActions::refresh() {
  const QString id = selectedId(), whyNot = models::whyNoScan(m_workbench.shownRun(), {});
  const QString texts[] = {tr("Boundary: from sample %1"), tr("Boundary: to sample %1"), tr("Boundary: %1 as third sample (plane)"), tr("Boundary: nearest flip from sample %1")};
  for (int i = 0; i < m_all.size(); ++i) {
    m_all[i]->setText(id.isEmpty() ? texts[i].arg(QStringLiteral("…")) : texts[i].arg(id));
    m_all[i]->setEnabled(!id.isEmpty() && whyNot.isEmpty());
    m_all[i]->setToolTip(whyNot.isEmpty() ? m_all[i]->text() : whyNot);
  }
}

// The tab comes to the front once the choice is whole; until then the list stays, to choose the next one from.
void ScanActions::use(ScanChoice::Slot slot) {
  ScanChoice& choice = m_workbench.scanChoice();
  if (slot == ScanChoice::kThird) choice.setKind(ScanKind::plane);
  else if (choice.kind() == ScanKind::near) choice.setKind(ScanKind::segment);
  choice.setSample(slot, selectedId());
  const QString problem = models::scanProblem(choice, *m_workbench.session());
  if (problem.isEmpty()) return choice.finish();
  emit m_workbench.notice(tr("Boundary, %1: sample %2. %3 (Ctrl+B shows the tab)").arg(ScanChoice::slotName(slot), selectedId(), problem));
}

void ScanActions::useForNear() {
  ScanChoice& choice = m_workbench.scanChoice();
  choice.setKind(ScanKind::near);
  choice.setSample(ScanChoice::kFrom, selectedId());
  choice.finish();
}

}  // namespace ulpscope::views
