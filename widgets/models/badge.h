// What a module's badge says: the worst of its op sites, measured by each site's own tolerance.
#pragma once

#include "core/session/run_record.h"
#include "core/session/session.h"

#include <QMetaType>
#include <QString>

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::models {

struct Badge {
  // In rising order of severity. consequence: non-finite, but it came in from above.
  enum class Kind { none, withinTolerance, overTolerance, farOver, consequence, origin } kind = Kind::none;
  double relL2 = 0;   // of the worst site; NaN: nothing compared
  double ratio = 0;   // relL2 / tolerance; 0: nothing compared
  double introduced = std::numeric_limits<double>::quiet_NaN();  // the largest of the sites; NaN: not evaluated
  double largestRatio = std::numeric_limits<double>::quiet_NaN();  // of all sites, elements that are finite in both runs; NaN: nothing compared
  QString text() const;
  // "50", "+inf" where non-finite values arise or come in (they are outside any tolerance), "–" where nothing was compared.
  QString ratioText() const;
  QString ratioTooltip() const;
  double ratioToSort() const;  // -1: nothing compared
  QString accessibleText() const;  // with the ratio to the tolerance and the introduced error: the tooltip too
  friend bool operator<(const Badge& a, const Badge& b) { return a.kind != b.kind ? a.kind < b.kind : a.ratio < b.ratio; }
};

// From which ratio to the tolerance a badge is red.
inline constexpr double kFarOver = 10;

Badge siteBadge(const session::SiteSummary& site, double tolerance);
// By module path, for every module with op sites in it or below it.
std::map<std::string, Badge> moduleBadges(const session::RunRecord& run);

// Modules by the largest introduced error of their own op sites, largest first: "where it starts". Those that introduce none are left out.
struct IntroducedError {
  std::string modulePath;
  std::int64_t site = -1;  // that introduces it
  double error = 0;
};
std::vector<IntroducedError> rankedByIntroducedError(const session::RunRecord& run);

// Where a run's trouble starts: the ops in which NaN or inf arises, in execution order (no error is larger), then the modules as above.
struct StartingPoint {
  std::string modulePath;
  std::int64_t site = -1;
  std::int64_t sample = -1;  // of an origin, index into the session's samples; -1: none is told apart
  std::string diagnosis;     // of an origin; empty: it is one of introduced error
  double error = 0;          // introduced
};
std::vector<StartingPoint> startingPoints(const session::Session& session, const session::RunRecord& run);

}  // namespace ulpscope::models

Q_DECLARE_METATYPE(ulpscope::models::Badge)
