// Verdicts in words, as JSON and as JUnit.
#pragma once

#include "core/session/session.h"

#include <nlohmann/json.hpp>

#include <string>

namespace ulpscope::report {

// "VERDICT pass (criteria revision 1)", a row a criterion, and what was known before they were written.
std::string verdictText(const session::Session& session, const session::Verdict& verdict);
// As in the run document; null: none.
nlohmann::json verdictJson(const session::Session& session, const std::optional<session::Verdict>& verdict);
// A row a criterion under a heading; empty without criteria.
std::string criteriaRows(const session::Verdict& verdict);
// One test case a criterion; the run itself is one where it was not judged as a whole.
std::string verdictJUnit(const session::Session& session, const session::RunRecord& run, const session::Verdict& verdict);
// The same of anything that is judged: `suite` names it, `whole` the case that stands for it as a whole.
std::string verdictJUnit(const std::string& suite, const std::string& whole, const session::Verdict& verdict);

// The locked revisions: when, which, why.
std::string criteriaText(const session::Session& session);

}  // namespace ulpscope::report
