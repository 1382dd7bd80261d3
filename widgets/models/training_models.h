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
  enum Column { kStep, kOptimizer, kOutcome, kFirst, kLoss, kScaleBefore, kScaleAfter, kGradNorm, kZeroShare, kClippedNorm, kFoundInf, kRate, kUpdates, kColumnCount };
  // kStepRole: the step. kModuleRole: path of the module of the first non-finite value; not set: none is known. kSkippedRole: bool.
  enum Role { kStepRole = kKeyRole + 1, kModuleRole, kSkippedRole };

  explicit LedgerModel(QObject* parent = nullptr);
  void setLedger(const std::vector<session::LedgerLine>& ledger);
  const session::LedgerLine& lineAt(int row) const { return m_ledger[static_cast<std::size_t>(row)]; }
  int rowOfStep(std::int64_t step) const;  // the first; -1: none
  // Whether a column says nothing that another does not: one optimizer for all lines, found_inf as skipped, norms that nothing clipped,
  // no finding in any line, nothing recorded.
  bool isRedundant(Column column) const;
  // "Step 3, adam: skipped. aten::linear in head: inf in the gradient of its output"; of a line without a finding what was done.
  QString lineText(int row) const;
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
// row: the step, -1: of none. Every cell's tooltip and accessible description is the whole sentence.
class TrainingFindingsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kStep, kKind, kName, kWhere, kWhat, kColumnCount };
  explicit TrainingFindingsModel(QObject* parent = nullptr);
  void setRun(const TrainingPointer& training, std::size_t run);  // nullptr: no rows
  bool hasPlaces() const;  // whether any row says where
  QVariant data(const QModelIndex& index, int role) const override;
};

// "inf in the gradient, block.fc2": what a narrow column says of it.
QString firstNonfiniteBrief(const session::FirstNonfinite& first);

}  // namespace ulpscope::models
