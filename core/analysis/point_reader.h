// What the runs decide at the points of a scan, read off their scores.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/error.h"
#include "core/session/scan_points.h"
#include "core/session/settings.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::analysis {

// The decisions that came up, numbered in the order in which they did.
class DecisionTable {
 public:
  int numberOf(session::ScanDecision decision);
  const std::vector<session::ScanDecision>& all() const { return m_all; }

 private:
  std::vector<session::ScanDecision> m_all;
  std::map<std::string, int> m_numbers;
};

// FP32 in another order, against itself.
struct NoiseAtPoint {
  int decision = session::kNoDecision;
  double error = 0;  // largest |difference| of the scores
};

// Both runs at one point, and what FP32's own noise is there, once it was measured.
struct LookedAt {
  session::PairAtPoint pair;         // scores: of every class
  int noise = session::kNoDecision;  // kNoDecision too where there is no noise floor
  bool measured = false;
  void take(const NoiseAtPoint& found, int errorsToFlip);
};

// One decision at least a sample: of several positions (decisions.h) it is the values of all of them, its margin their smallest. A NaN among
// the scores of any position: no decision, margin NaN. With tie rule flag a tie anywhere is a decision of its own.
class PointReader {
 public:
  PointReader(const session::DecisionRule& rule, session::TieRule tie, int sampleAxis) : m_rule(rule), m_tie(tie), m_sampleAxis(sampleAxis) {}

  // Of one shape, which must fit the rule as analysis::decide checks it. Gives the first `count` samples. Error kind run: a tie where ties are
  // refused.
  base::Result<std::vector<LookedAt>> read(const TensorView& reference, const TensorView& candidate, std::int64_t count);
  std::vector<NoiseAtPoint> readNoise(const TensorView& reference, const TensorView& other, std::int64_t count);

  const std::vector<session::ScanDecision>& decisions() const { return m_table.all(); }
  bool keepsScores() const { return m_keepsScores; }  // false: they became too many, or there are several decisions a sample

 private:
  struct OneRun {
    int decision = session::kNoDecision;
    double margin = 0;
    bool tied = false;
  };

  session::DecisionRule m_rule;
  session::TieRule m_tie;
  int m_sampleAxis;
  DecisionTable m_table;
  std::size_t m_keptScores = 0;
  bool m_keepsScores = true;

  OneRun decided(const TensorView& view, std::int64_t sample);
  double errorBetween(const TensorView& a, const TensorView& b, std::int64_t sample) const;
  void keepScores(session::PairAtPoint& pair, const TensorView& reference, const TensorView& candidate, std::int64_t sample);
  LookedAt look(const TensorView& reference, const TensorView& candidate, std::int64_t sample, bool& tied);
};

// Which classes' scores are shown: all of them up to kShownClasses, else those that came first or second (top-k: up to the first outside) most
// often, ascending. `points` lose the scores of the others, or all where some have none or they are more than kMostScores.
std::vector<std::int64_t> trimScores(const std::vector<session::PairAtPoint*>& points, const session::DecisionRule& rule);

}  // namespace ulpscope::analysis
