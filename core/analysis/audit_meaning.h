// Private: what a first difference between two recorded trainings means, and what to do.
#pragma once

#include "core/session/training_ledger.h"

#include <set>
#include <string>

namespace ulpscope::analysis {

struct AuditPlace {
  // Of the step with the difference among those compared: before the resume, its first, its second, or any further.
  enum class When { beforeResume, first, second, later } when = When::first;
  session::LedgerState state = session::LedgerState::loss;
  double relative = 0;                        // |difference| / larger magnitude of two finite numbers; else infinite
  std::set<session::LedgerState> agreeing;    // recorded in both at this step, and equal
  std::set<session::LedgerState> unrecorded;  // not in both, in any compared step
};
std::string meaningOf(const AuditPlace& place);

}  // namespace ulpscope::analysis
