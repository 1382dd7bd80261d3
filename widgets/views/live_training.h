// The training that goes on, as its ledger's lines come in.
#pragma once

#include "widgets/models/training_models.h"
#include "widgets/views/workbench.h"

#include <QTimer>

namespace ulpscope::views {

class LiveTraining : public QObject {
  Q_OBJECT

 public:
  explicit LiveTraining(Workbench& workbench, QObject* parent = nullptr);
  bool isOn() const { return m_training != nullptr; }
  models::TrainingPointer snapshot() const;  // nullptr: none goes on
  // Which trajectory is to be seen: the one that is being trained; while that is FP32 the one before it, beside which its loss stands. -1: none.
  int runToShow() const;

 signals:
  void begun();
  void changed();  // not for every line: as often as showing them is worth it
  void ended();

 private:
  void onRunning();
  void add(const protocol::LedgerUpdate& update);

  Workbench& m_workbench;
  std::unique_ptr<session::Training> m_training;
  QTimer m_timer;
};

}  // namespace ulpscope::views
