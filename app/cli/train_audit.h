// `ulpscope train --audit DIR`.
#pragma once

#include "commands.h"

#include <string>

namespace ulpscope::cli {

// Reads the two records in `folder`, prints what differs first and writes it to `json`. No engine.
Outcome auditTrainings(const std::string& folder, const std::string& json);

inline constexpr const char* kAuditHelp =
    "\nAudit of checkpoints: DIR holds two records of one training, named uninterrupted and resumed, each as one of\n"
    "  NAME.ulps     a session: its last training        NAME.json   what train --json wrote\n"
    "  NAME.jsonl    the ledger of your own loop (resources/schema/ledger.schema.json): a first line, then one a step and optimizer,\n"
    "                of which all but step may be left out; digests are any text, of the state as the step begins:\n"
    "    {\"ulpscope_ledger\": 1, \"resumed_at\": 40, \"settings\": {\"torch\": \"2.6.0\"}}\n"
    "    {\"step\": 40, \"optimizer\": \"adam\", \"loss\": 0.25, \"lr\": 0.001, \"scale_before\": 4096, \"growth_tracker\": 7, \"skipped\": false,\n"
    "     \"grad_norm\": 1.5, \"scheduler_steps\": 41, \"rows\": [3, 1], \"rng\": \"9f86\", \"weights\": \"2c26\", \"optimizer_state\": \"fcde\"}\n";

}  // namespace ulpscope::cli
