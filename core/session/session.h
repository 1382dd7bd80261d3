// One experiment: a model, a fixed reference set, and the runs made of them.
#pragma once

#include "core/model/model_info.h"
#include "core/session/benchmark.h"
#include "core/session/run_record.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

// A run that a user took away: whole, until it is purged.
struct DeletedRun {
  RunRecord run;
  std::string deletedUtc;
};

// What is left of a deleted run once its files are gone: its number is never used again, and it was tried.
struct PurgedRun {
  int number = 0;
  bool whole = true;  // over all samples
};

// A training of the session's model on its samples, or a scan between them; its record is a file of its own (storage::readTraining, readScan).
struct RecordEntry {
  int number = 0;  // 1-based, apart from the runs' and from those of the other kind
  std::string createdUtc;
  std::string title;   // "FP16, scaler, 12 of 16 steps skipped"
  std::string sha256;  // of the file
};
using TrainingEntry = RecordEntry;
using ScanEntry = RecordEntry;

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
  std::vector<RunRecord> runs;  // in order of their numbers; deleted ones are not among them
  std::vector<DeletedRun> deleted;         // in order of their numbers
  std::vector<PurgedRun> purged;
  std::map<int, std::string> runNames;     // users' names by run number, those of deleted runs too; never empty texts
  int baselineNumber = 0;                  // the run that others are compared with; 0: none was chosen. It may be deleted
  std::vector<TrainingEntry> trainings;    // in order of their numbers
  std::vector<ScanEntry> scans;            // likewise
  std::vector<CriteriaRevision> trainingCriteria;  // that trainings are judged by, in order; empty: none had any. afterResults: trainings were known
  std::vector<Benchmark> benchmarks;       // in order of their numbers
  std::vector<CriteriaRevision> criteria;  // locked ones, in order; empty: exploratory
  std::optional<Lineage> explored;         // the exploratory session before it, if it was named

  bool exploratory() const { return criteria.empty(); }
  // The criteria were written when results on these samples were known: by a revision, or by the session explored before.
  bool criteriaAfterResults() const;
  // Runs over all samples, deleted ones too, of this session and of the one explored before on the same samples.
  std::int64_t candidatesTried() const;
  std::int64_t candidatesDeleted() const;  // of those, this session's deleted ones
  bool hasResults() const;                 // whether anything ever ran, deleted or not
  bool holdsNothing() const;               // no run ever, no training, no scan, no locked criteria: nobody loses anything with it
  int lastNumber() const;                  // the largest that a run has or had; 0: none
  // The first run, deleted or not: what every other must be comparable with. nullptr: none, or all are purged.
  const RunRecord* firstEver() const;

  const RunRecord* run(const std::string& runId) const;  // nullptr: none of that id
  const RunRecord* latest() const;                       // nullptr: no runs
  const RunRecord* baseline() const;                     // nullptr: none was chosen, or it is deleted
  const DeletedRun* deletedRun(const std::string& runId) const;  // nullptr: none of that id is deleted
  std::string runName(int number) const;                 // the user's; empty: none
  // Class name or the index as text.
  std::string className(std::int64_t index) const;
};

// Index of the settings' changes for people: "FP16, FP32: encoder.0.ffn.wo".
std::string runLabel(const RunRecord& run);

// What a user's name of a run becomes: one line without control characters or spaces around it, at most 120 bytes of whole characters.
std::string cleanRunName(const std::string& text);

}  // namespace ulpscope::session
