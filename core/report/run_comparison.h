// Two candidates of one experiment: what got better, what got worse.
#pragma once

#include "core/session/session.h"
#include "core/storage/captured_comparison.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ulpscope::report {

struct ComparedRun {
  const session::Session& session;
  const session::RunRecord& run;
  std::string path;  // of the session, as shown
};

// Precondition: comparable (session/comparable.h).
std::string comparisonText(const ComparedRun& a, const ComparedRun& b, const std::vector<storage::ComparedCapture>& captures);
// Valid against resources/schema/comparison.schema.json.
nlohmann::json comparisonDocument(const ComparedRun& a, const ComparedRun& b, const std::vector<storage::ComparedCapture>& captures);

// The same keys, without parts.
nlohmann::json comparisonErrorDocument(const base::Error& error);

}  // namespace ulpscope::report
