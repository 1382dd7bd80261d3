// What the log and the ledger of somebody's own loop say of it, as a training like Ulpscope's own.
#pragma once

#include "core/session/training.h"
#include "core/session/training_events.h"
#include "core/session/training_ledger.h"

#include <optional>
#include <string>

namespace ulpscope::analysis {

struct LoopRecord {
  std::string logName;  // the log's file name
  session::EventLog log;
  std::optional<session::RecordedTraining> ledger;  // empty: there is none beside the log
};

// One trajectory, "recorded", with its violations of the order and its alarms. Of a line stands what the ledger has, or follows: a scale of 1 and no growth
// without a scaler, skipped where the optimizer did not step. Without a ledger: which steps there were, and which of them the log says were applied.
// Everything else is LedgerLine::unrecorded, and a warning names what no line has.
// Error kind input: no step, a ledger with steps that the log has not, one that says otherwise than the log whether a step was applied.
base::Result<session::Training> recordedTraining(const LoopRecord& record);

}  // namespace ulpscope::analysis
