// What an op site was given, one row a tensor. Key of a row: the site that made it (index into RunRecord::sites); -1: no site did.
#pragma once

#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

class OperandsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kOperand, kFrom, kReferenceDtype, kCandidateDtype, kReferenceMax, kCandidateMax };
  explicit OperandsModel(QObject* parent = nullptr);
  // run nullptr or site -1: no rows.
  void setSite(const RunPointer& run, std::int64_t site);
};

// What there is to say beside the rows: why there are none, or not all; empty: nothing.
QString operandsNote(const LoadedRun& run, std::int64_t site);

}  // namespace ulpscope::models
