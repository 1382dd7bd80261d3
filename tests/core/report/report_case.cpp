#include "report_case.h"

#include <limits>

namespace ulpscope::test {

session::Session lockedSession(bool late) {
  session::Session s = sampleSession();
  const auto criteria = session::criteriaFromText(R"({"schema": 1, "decisions": {"max_flips": 1}, "nonfinite": {"max_samples": 0}, "outputs": [{"output": "logits", "rel_l2": 0.05}]})").value();
  s.criteria = {{1, "2026-01-31T14:00:00Z", criteria.sha256, criteria.canonical, false, ""}};
  if (late) s.criteria.push_back({2, "2026-02-01T09:00:00Z", criteria.sha256, criteria.canonical, true, "the first were for another model"});
  session::Verdict verdict;
  verdict.status = session::JudgedAs::fail;
  verdict.revision = late ? 2 : 1;
  verdict.sha256 = criteria.sha256;
  using enum session::JudgedAs;
  verdict.criteria = {{"logits.rel_l2", 0.012, 0.05, 0.24, "s17", pass, ""}, {"nonfinite.samples", 2, 0, std::numeric_limits<double>::infinity(), "s142", fail, ""}, {"decisions.flips", 5, 1, 5, "s1", fail, "2 samples without a decision counted"}};
  s.runs.front().verdict = verdict;
  return s;
}

}  // namespace ulpscope::test
