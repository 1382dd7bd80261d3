// The ops where NaN or inf first arise. Key of a row: index into RunRecord::nonfiniteOrigins.
#pragma once

#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

class NonfiniteModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit NonfiniteModel(QObject* parent = nullptr);
  void setRun(const RunPointer& run);
};

QString countsText(const session::NonfiniteCounts& counts);  // "3 NaN, 1 +inf"; "none"
QString samplesText(const session::NonfiniteFinding& finding);

}  // namespace ulpscope::models
