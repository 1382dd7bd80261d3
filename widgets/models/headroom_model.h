// The op sites with a range, against the low format: the table twin of the headroom plot. Key of a row: index into RunRecord::sites.
#pragma once

#include "core/render/headroom.h"
#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

class HeadroomModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kOrder, kSite, kHeadroom, kState, kReferenceMax, kCandidateMax, kDtype, kReferenceSmallest, kSubnormal, kFlushed };

  explicit HeadroomModel(QObject* parent = nullptr);
  void setRun(const RunPointer& run, const std::vector<render::HeadroomSite>& sites);
};

}  // namespace ulpscope::models
