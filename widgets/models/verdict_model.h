// What a run measured against each criterion. Key of a row: the worst sample's index, -1: none.
#pragma once

#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

class VerdictModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit VerdictModel(QObject* parent = nullptr);
  void setRun(const RunPointer& run);  // without a verdict: no rows
};

}  // namespace ulpscope::models
