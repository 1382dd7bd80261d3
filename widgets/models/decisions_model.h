// Flipped decisions, or all of them (the table twin of the margin plot). Key of a row: the sample's index.
#pragma once

#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

class DecisionsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum class Show { flips, all };

  explicit DecisionsModel(QObject* parent = nullptr);
  void setRun(const RunPointer& run);
  void setShow(Show show);

 private:
  void refresh();

  RunPointer m_run;
  Show m_show = Show::flips;
};

}  // namespace ulpscope::models
