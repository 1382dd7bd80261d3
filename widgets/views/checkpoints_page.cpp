#include "widgets/views/checkpoints_page.h"

#include "widgets/views/tables.h"

#include <QAction>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {

using Model = models::CheckpointsModel;

CheckpointsPage::CheckpointsPage(QWidget* parent) : QWidget(parent), m_table(makeTable(this, &m_model, tr("Checkpoints"))) {
  wrapLastColumn(m_table);
  m_table->setToolTip(tr("Enter resumes from a checkpoint, or replays the case of a rollback; the context menu has all that can be done"));
  m_resume = addDeed(tr("Resume from here…"), Model::kResume, tr("Train on from the checkpoint, as it was or with a named change"), &CheckpointsPage::resume);
  m_compare = addDeed(tr("Compare here"), Model::kResume, tr("Run the model as it stands in the checkpoint, FP32 and autocast, into a session of its own; trains nothing"), &CheckpointsPage::compare);
  m_replay = addDeed(tr("Replay this case"), Model::kReplay, tr("Train up to the step that made the training go back and run its batch op by op, into a session of its own"), &CheckpointsPage::replay);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  for (const Deed& deed : m_deeds) buttons->addWidget(deed.button);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(m_table, 1);
  layout->addLayout(buttons);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CheckpointsPage::refresh);
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    const int action = index.data(Model::kActionRole).toInt();
    if (action == Model::kResume) resume();
    if (action == Model::kReplay) replay();
  });
  refresh();
}

QPushButton* CheckpointsPage::addDeed(const QString& text, Model::Action needs, const QString& meaning, void (CheckpointsPage::*act)()) {
  auto* button = new QPushButton(text, this);
  auto* entry = new QAction(text, m_table);
  connect(button, &QPushButton::clicked, this, act);
  connect(entry, &QAction::triggered, this, act);
  m_table->addAction(entry);
  m_deeds << Deed{button, entry, needs, meaning};
  return button;
}

void CheckpointsPage::setTraining(const models::TrainingPointer& training, const QString& folder) {
  m_folder = folder;
  m_notOurs = training && training->recorded ? models::qt(session::cannotTrainAgain(*training->recorded)) : QString();
  m_model.setTraining(training);
  fitColumns(m_table);
  refresh();
}

void CheckpointsPage::setBusy(bool busy) {
  m_isBusy = busy;
  refresh();
}

int CheckpointsPage::count() const { return m_model.rowCount(); }

QString CheckpointsPage::currentFile() const {
  const QString name = m_table->currentIndex().data(Model::kFileRole).toString();
  return name.isEmpty() ? QString() : QStringLiteral("%1/%2").arg(m_folder, name);
}

QString CheckpointsPage::whyNot(Model::Action needs) const {
  if (!m_notOurs.isEmpty()) return m_notOurs;
  const QModelIndex current = m_table->currentIndex();
  if (!current.isValid() || current.data(Model::kActionRole).toInt() != needs) return needs == Model::kResume ? tr("select a checkpoint") : tr("select a rollback");
  if (m_isBusy) return tr("a run is going on; wait for it or cancel it (Shift+F5)");
  if (!QFileInfo(currentFile()).isFile()) return tr("%1 is not there; it belongs into %2").arg(current.data(Model::kFileRole).toString(), m_folder);
  return {};
}

void CheckpointsPage::refresh() {
  for (const Deed& deed : m_deeds) {
    const QString why = whyNot(deed.needs);
    const QString tip = why.isEmpty() ? deed.meaning : tr("%1: %2").arg(deed.meaning, why);
    deed.button->setEnabled(why.isEmpty());
    deed.button->setToolTip(tip);
    deed.button->setAccessibleDescription(tip);
    deed.entry->setEnabled(why.isEmpty());
  }
}

void CheckpointsPage::resume() {
  if (whyNot(Model::kResume).isEmpty()) emit resumeRequested(currentFile(), m_table->currentIndex().data(Model::kStepsRole).toLongLong());
  refresh();
}

void CheckpointsPage::compare() {
  if (whyNot(Model::kResume).isEmpty()) emit compareRequested(currentFile());
  refresh();
}

void CheckpointsPage::replay() {
  if (whyNot(Model::kReplay).isEmpty()) emit replayRequested(currentFile());
  refresh();
}

}  // namespace ulpscope::views
