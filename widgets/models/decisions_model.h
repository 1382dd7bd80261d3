// Flipped decisions and samples without one, or all of them (the table twin of the margin plot). Key of a row: the sample's index.
#pragma once

#include "widgets/models/row_table_model.h"
#include "widgets/models/sample_outcome.h"

namespace ulpscope::models {

class DecisionsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kSample, kReference, kCandidate, kReferenceMargin, kCandidateMargin, kKind, kEffect, kFirstSite, kPossible, kNoise };
  enum class Show { flips, all };

  explicit DecisionsModel(QObject* parent = nullptr);
  void setRun(const RunPointer& run);
  void setDecided(const DecidedPointer& decided);  // of the run: names for what did not flip; null: not known
  void setShow(Show show);

 private:
  void refresh();

  RunPointer m_run;
  DecidedPointer m_decided;
  Show m_show = Show::flips;
};

}  // namespace ulpscope::models
