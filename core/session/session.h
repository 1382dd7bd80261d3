// One experiment: a model, a fixed reference set, and the runs made of them.
#pragma once

#include "core/model/model_info.h"
#include "core/session/run_record.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

// The fixed reference set. ids are never empty and all different ("0", "1", ... where the file has none).
struct SampleSet {
  std::string path;    // of the inputs file
  std::string sha256;  // of the inputs file
  std::string labelsPath;
  std::string classNamesPath;
  std::vector<std::string> ids;
  std::vector<std::int64_t> labels;      // empty or one a sample
  std::vector<double> targets;           // of a regression: empty, or the same number for each sample
  std::vector<std::string> classNames;   // may be empty
  std::vector<std::string> kinds;        // empty, or "common", "edge" or "boundary" for each sample
  std::string preprocessing;             // id of what was done to the inputs before; empty: not said
};

struct Session {
  std::string id;            // random, fixed when the session is made
  std::string createdUtc;
  std::string creatorVersion;
  std::int64_t generation = 0;  // raised by one with each write
  std::string title;            // "digits", the model's stem
  model::ModelInfo model;
  SampleSet samples;
  std::vector<RunRecord> runs;  // in order of their numbers
  std::vector<CriteriaRevision> criteria;  // locked ones, in order; empty: exploratory
  std::optional<Lineage> explored;         // the exploratory session before it, if it was named

  bool exploratory() const { return criteria.empty(); }
  // The criteria were written when results on these samples were known: by a revision, or by the session explored before.
  bool criteriaAfterResults() const;
  // Runs over all samples, of this session and of the one explored before on the same samples.
  std::int64_t candidatesTried() const;

  const RunRecord* run(const std::string& runId) const;  // nullptr: none of that id
  const RunRecord* latest() const;                       // nullptr: no runs
  // Class name or the index as text.
  std::string className(std::int64_t index) const;
};

// Index of the settings' changes for people: "FP16, FP32: encoder.0.ffn.wo".
std::string runLabel(const RunRecord& run);

}  // namespace ulpscope::session
