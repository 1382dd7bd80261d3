// A training as tables: its ledger, its trajectories side by side, and what is to be said of one.
#pragma once

#include "core/session/training.h"
#include "widgets/models/row_table_model.h"

#include <memory>

namespace ulpscope::models {

using TrainingPointer = std::shared_ptr<const session::Training>;

// A row a step and optimizer. Key of a row: index into Trajectory::ledger.
class LedgerModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kStep, kOptimizer, kLoss, kScaleBefore, kScaleAfter, kFoundInf, kOutcome, kGradNorm, kClippedNorm, kZeroShare, kRate, kUpdates, kFirst, kColumnCount };
  // kStepRole: the step. kModuleRole: path of the module of the first non-finite value; not set: none is known. kSkippedRole: bool.
  enum Role { kStepRole = kKeyRole + 1, kModuleRole, kSkippedRole };

  explicit LedgerModel(QObject* parent = nullptr);
  void setLedger(const std::vector<session::LedgerLine>& ledger);
  const session::LedgerLine& lineAt(int row) const { return m_ledger[static_cast<std::size_t>(row)]; }
  int rowOfStep(std::int64_t step) const;  // the first; -1: none
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<session::LedgerLine> m_ledger;
};

// All trajectories of a training. Key of a row: index into Training::runs.
class TrajectoriesModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit TrajectoriesModel(QObject* parent = nullptr);
  void setTraining(const TrainingPointer& training);
};

// Of one trajectory: violations of the order, alarms, poisoned buffers; of the training: the criteria of its verdict and warnings. Key of a
// row: the step, -1: of none.
class TrainingFindingsModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit TrainingFindingsModel(QObject* parent = nullptr);
  void setRun(const TrainingPointer& training, std::size_t run);  // nullptr: no rows
};

// "autocast on, scaling off"; of other names with what is on: "recipe (autocast on, scaling on)".
QString trajectoryTitle(const session::Trajectory& run);
// "56 of 60 steps applied  ·  skipped: 1, 3, 35, 50  ·  loss 0.25 to 0.235  ·  scale 65,536 at the end".
QString trajectorySummary(const session::Trajectory& run);
// "Verdict: fail"; empty: the recipe has no criteria.
QString trainingVerdictText(const session::Training& training);
QString scaleText(double scale);  // "65,536", "1.70e+38"

}  // namespace ulpscope::models
