// What got better and what got worse from one candidate to another: what window and command line both show.
#pragma once

#include "core/session/session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::report {

// Of two sets of names: those of A alone, of B alone, of both; in the order of A, then of B.
struct Parted {
  std::vector<std::string> cured, made, kept;
};

struct SiteChange {
  std::string site;
  double a = 0, b = 0;
};
// Sites that both runs have, by worst relative L2; those with NaN in either are left out.
struct SiteChanges {
  std::int64_t better = 0, worse = 0, equal = 0;
  std::vector<SiteChange> changes;  // by the factor b/a, the largest worsening first; from 0 counts as the largest
};

// A criterion that either verdict has; empty: that one has not.
struct CriterionChange {
  std::string id;
  std::optional<session::CriterionResult> a, b;
};

struct RunChanges {
  std::vector<std::string> policy;  // session::policyChanges
  Parted origins;                   // op sites where NaN or inf arise
  std::string flipsNotCompared;     // why not: no decision in one, or another rule; empty: they were
  Parted flips;                     // sample ids
  Parted noDecision;                // sample ids
  SiteChanges sites;
  double worstA = 0, worstB = 0;    // worstRelL2
  std::vector<CriterionChange> criteria;  // in the order of A's verdict, then what only B's has
};

// Precondition: comparable (session/comparable.h).
RunChanges changesBetween(const session::RunRecord& a, const session::RunRecord& b);

// Largest relative L2 over the op sites; NaN: nothing was compared.
double worstRelL2(const session::RunRecord& run);

}  // namespace ulpscope::report
