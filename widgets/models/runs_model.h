// All runs of the session side by side. Key of a row: the run's id.
#pragma once

#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

class RunsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kShown, kRun, kName, kChanges, kVerdict, kFirst, kOrigins, kFlips, kNoDecision, kWorst, kStatus, kSeconds, kMade, kPolicy, kColumnCount };
  // kMarksRole: Marks as int, column kShown. kSignRole: a Sign as int, columns kVerdict and kStatus.
  enum Role { kMarksRole = kKeyRole + 1, kSignRole };
  enum Mark { kA = 1, kB = 2, kBaseline = 4 };
  enum class Sign { none, good, bad, open };

  explicit RunsModel(QObject* parent = nullptr);
  // The runs shown as A and B are marked; empty ids mark nothing.
  void setSession(const std::shared_ptr<const session::Session>& session, const QString& idA, const QString& idB);
  void setNamesEditable(bool editable);

  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  // Changes nothing here: asks by renameRequested, for the name stands in the file.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 signals:
  void renameRequested(const QString& runId, const QString& name);

 private:
  const session::RunRecord* runOf(const QModelIndex& index) const;
  int marksOf(const session::RunRecord& run) const;
  std::vector<TableCell> cellsOf(const session::RunRecord& run) const;

  std::shared_ptr<const session::Session> m_session;
  QString m_idA, m_idB;
  bool m_namesEditable = true;
};

// What stands in columns Policy, First non-finite and Differs from A ("+ encoder.0 in FP32"; "nothing").
QString policyText(const session::RunRecord& run);
QString firstNonfiniteText(const session::RunRecord& run);
QString policyChangesText(const std::vector<std::string>& changes);
// "run 2" or "run 2 'wo kept'".
QString runTitle(const session::Session& session, const session::RunRecord& run);

}  // namespace ulpscope::models
