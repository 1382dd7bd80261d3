// Where a training can be taken up again, was taken up, and was taken back: as marks of a timeline and as a table.
#pragma once

#include "widgets/models/row_table_model.h"
#include "widgets/models/training_models.h"

namespace ulpscope::models {

struct TimelineMark {
  enum class Kind { goodCheckpoint, badCheckpoint, resumed, rolledBack } kind = Kind::goodCheckpoint;
  double at = 0;    // on the step axis: what is taken after n steps lies between step n - 1 and step n
  QString label;    // of a line: the change's name, or what happened
  QString tooltip;  // one line: file, differences, rule
};
// By `at`, of what lies at one place checkpoints first.
std::vector<TimelineMark> timelineOf(const session::Training& training);

// A row a checkpoint, resume and rollback, by step. Key of a row: its place.
class CheckpointsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kAfter, kWhat, kGood, kFile, kDetails, kColumnCount };
  // kActionRole: an Action as int; kFileRole: the file that it works on, a name in the training's folder of checkpoints; kStepsRole: steps done.
  enum Role { kActionRole = kKeyRole + 1, kFileRole, kStepsRole };
  enum Action { kNothing, kResume, kReplay };

  explicit CheckpointsModel(QObject* parent = nullptr);
  void setTraining(const TrainingPointer& training);
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  struct Entry {
    std::int64_t steps = 0;
    Action action = kNothing;
    QString file;
    std::vector<TableCell> cells;
  };
  static std::vector<Entry> entriesOf(const session::Training& training);

  std::vector<Entry> m_entries;
};

}  // namespace ulpscope::models
