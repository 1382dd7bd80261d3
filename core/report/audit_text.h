// What the audit of two recorded trainings found, for people and programs.
#pragma once

#include "core/analysis/ledger_audit.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ulpscope::report {

// Plain text: what was compared, the first difference with both values and the remedy, the largest differences, settings that differ, what
// was not recorded.
std::string auditText(const analysis::LedgerAudit& audit);
// {"schema": 1, "compared", "first", "states", "settings", ...}; "standing" of a state: "equal", "differs" or "not recorded".
nlohmann::json auditDocument(const analysis::LedgerAudit& audit);

}  // namespace ulpscope::report
