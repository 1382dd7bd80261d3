// What is begun from a training's checkpoints: going on from one, comparing at one, replaying the case of a rollback.
#pragma once

#include "widgets/views/workbench.h"

class QWidget;

namespace ulpscope::views {

class CheckpointsPage;

class TrainingDesk : public QObject {
  Q_OBJECT

 public:
  // window: over which the dialog stands.
  TrainingDesk(Workbench& workbench, CheckpointsPage* checkpoints, QWidget* window);

 private:
  void resume(const QString& checkpointFile, std::int64_t step);
  void begin(const QString& file, const QString& suffix, std::string protocol::TrainRequest::* from);

  Workbench& m_workbench;
  QWidget* m_window;
};

}  // namespace ulpscope::views
