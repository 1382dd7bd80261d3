#include "widgets/views/training_desk.h"

#include "core/session/demo.h"
#include "core/storage/training_folder.h"
#include "widgets/models/text.h"
#include "widgets/views/checkpoints_page.h"
#include "widgets/views/train_dialog.h"

#include <QFileInfo>

namespace ulpscope::views {
namespace {

using models::core;
using models::qt;

std::string recipeBeside(const QString& file) { return storage::TrainingFolder::around(core(file)).recipeFile(); }

}  // namespace

TrainingDesk::TrainingDesk(Workbench& workbench, CheckpointsPage* checkpoints, QWidget* window) : QObject(window), m_workbench(workbench), m_window(window) {
  connect(checkpoints, &CheckpointsPage::resumeRequested, this, &TrainingDesk::resume);
  connect(checkpoints, &CheckpointsPage::compareRequested, this, [this](const QString& file) { begin(file, QStringLiteral("-compared"), &protocol::TrainRequest::compare); });
  connect(checkpoints, &CheckpointsPage::replayRequested, this, [this](const QString& file) { begin(file, QStringLiteral("-replayed"), &protocol::TrainRequest::replay); });
}

void TrainingDesk::resume(const QString& checkpointFile, std::int64_t step) {
  const bool isWritable = m_workbench.session() && m_workbench.readOnlyReason().isEmpty();
  auto* dialog = new TrainDialog({qt(recipeBeside(checkpointFile)), isWritable ? m_workbench.sessionPath() : QString(), checkpointFile, step}, m_window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] { m_workbench.train(dialog->request()); });
  dialog->open();
}

// Into a session of its own, beside the one shown.
void TrainingDesk::begin(const QString& file, const QString& suffix, std::string protocol::TrainRequest::* from) {
  const QFileInfo shown(m_workbench.sessionPath());
  protocol::TrainRequest request;
  request.recipePath = recipeBeside(file);
  request.sessionPath = session::freeSessionPath(core(shown.absolutePath()), core(shown.completeBaseName() + suffix));
  request.*from = core(file);
  m_workbench.train(request);
}

}  // namespace ulpscope::views
