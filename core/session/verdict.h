// Whether a run passes criteria, the criteria's lock, and what was known when they were written.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

enum class JudgedAs { pass, fail, notEvaluated };
std::string name(JudgedAs status);  // "pass", "fail", "not evaluated"

struct CriterionResult {
  std::string id;
  double measured = 0;      // NaN: not evaluated
  double limit = 0;
  double ratio = 0;         // measured / limit, or the reverse where more is better: above 1 fails
  std::string worstSample;  // id; empty: of no sample, or not known
  JudgedAs status = JudgedAs::notEvaluated;
  std::string note;         // why it was not evaluated, or what the number counts
};

struct Verdict {
  JudgedAs status = JudgedAs::notEvaluated;
  std::string reason;  // why the run is not judged as a whole: it is partial, the reference is no baseline, ...; empty: it is
  std::vector<CriterionResult> criteria;
  int revision = 0;    // of the session's criteria; 0: criteria that are not locked in it
  std::string sha256;  // of the criteria
};

// Criteria as locked in a session. A revision is never taken back.
struct CriteriaRevision {
  int number = 1;
  std::string lockedUtc;
  std::string sha256;      // of `canonical`
  std::string canonical;   // JSON
  bool afterResults = false;  // runs of the session were known
  std::string reason;      // of a revision
};
// Error kind input when the text is not the one that was locked: it finds accidents, not forgers.
base::Status checkUntouched(const CriteriaRevision& revision);

// The exploratory session that a validation comes from.
struct Lineage {
  std::string sessionId, title;
  std::int64_t runs = 0;      // over all samples
  std::string samplesSha256;  // of its inputs file
  bool sameSamples = false;   // as this session's
};

nlohmann::json toJson(const std::optional<Verdict>& verdict);  // null: none
nlohmann::json toJson(const std::vector<CriteriaRevision>& revisions);
nlohmann::json toJson(const std::optional<Lineage>& lineage);
// All read back what toJson wrote and throw nlohmann::json::exception on anything else.
std::optional<Verdict> verdictFromJson(const nlohmann::json& json);
std::vector<CriteriaRevision> revisionsFromJson(const nlohmann::json& json);
std::optional<Lineage> lineageFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
