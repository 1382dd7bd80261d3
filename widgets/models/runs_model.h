// All runs of the session side by side. Key of a row: the run's id.
#pragma once

#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

class RunsModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit RunsModel(QObject* parent = nullptr);
  // The runs shown as A and B are marked; empty ids mark nothing.
  void setSession(const std::shared_ptr<const session::Session>& session, const QString& idA, const QString& idB);
};

// What stands in columns Policy and First non-finite, for the comparison line above the table.
QString policyText(const session::RunRecord& run);
QString firstNonfiniteText(const session::RunRecord& run);

}  // namespace ulpscope::models
