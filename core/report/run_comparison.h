// Two candidates of one experiment: what got better, what got worse.
#pragma once

#include "core/session/session.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ulpscope::report {

struct ComparedRun {
  const session::Session& session;
  const session::RunRecord& run;
  std::string path;  // of the session, as shown
};

// A stored activation of both, candidate against candidate.
struct ComparedCapture {
  std::string site;
  double maxAbs = 0, relL2 = 0;  // NaN: nothing finite in both
  bool identical = false;        // to the last bit
  std::string note;              // why it was not compared; empty: it was
};

// Precondition: comparable (session/comparable.h).
std::string comparisonText(const ComparedRun& a, const ComparedRun& b, const std::vector<ComparedCapture>& captures);
nlohmann::json comparisonDocument(const ComparedRun& a, const ComparedRun& b, const std::vector<ComparedCapture>& captures);

}  // namespace ulpscope::report
