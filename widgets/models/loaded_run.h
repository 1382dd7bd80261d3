// A run as the views show it: read once, shared, never changed.
#pragma once

#include "core/render/heatmap.h"
#include "core/session/session.h"
#include "core/storage/session_store.h"

#include <QString>

#include <memory>
#include <vector>

namespace ulpscope::models {

struct LoadedRun {
  std::shared_ptr<const session::Session> session;
  const session::RunRecord* run = nullptr;             // in *session
  std::shared_ptr<const storage::RunMetrics> metrics;  // nullptr: not readable, metricsError says why
  QString metricsError;
  std::vector<render::ModuleRow> rows;        // modules with op sites of their own
  std::vector<render::ModuleRow> outputRows;  // modules by what they returned; empty: the run recorded none

  QString id() const;
  QString label() const;     // "run 2: FP16, FP32: encoder.0"
  QString shortName() const;  // "run 2"
  double tolerance() const;  // rtol of the site tolerance: what relative L2 errors are measured against
  // Indices of sites in `path` itself; empty for a module without op sites of its own.
  const std::vector<std::int64_t>& sitesOf(const QString& path) const;
  // Of the module and all below it, in execution order.
  std::vector<std::int64_t> sitesWithin(const QString& path) const;
  // The worst of sitesOf, or of sitesWithin where that is empty: an origin, then a consequence, then the largest error; -1: none.
  std::int64_t worstSite(const QString& path) const;
};

using RunPointer = std::shared_ptr<const LoadedRun>;

// Precondition: run is one of session's.
RunPointer makeLoadedRun(std::shared_ptr<const session::Session> session, const session::RunRecord& run,
                         std::shared_ptr<const storage::RunMetrics> metrics, const QString& metricsError);

struct LoadedSession {
  QString path;
  std::shared_ptr<const session::Session> session;
  RunPointer a;  // the run compared with; nullptr with a single run
  RunPointer b;  // the run in focus; nullptr: a session without runs
  QString readOnlyReason = {};  // why nothing can be written to it; empty: it can
};

// Why a cell of these op sites has no number, in words: a view op, a sample that was left out, whole numbers, nothing to compare.
QString whyNoNumber(const LoadedRun& run, const std::vector<std::int64_t>& sites, std::int64_t sample);
// "FP16", "BF16": the run's low format.
QString lowFormat(const session::RunRecord& run);
// "1 non-finite origin, 3 flips": what the step strip says of a run.
QString outcome(const session::RunRecord& run);
// "verdict: fail (criteria revision 1)", or that there is none: an exploratory session, a run judged by an earlier revision.
QString verdictLine(const session::Session& session, const session::RunRecord& run);
// Largest relative L2 error over the sites; NaN when nothing was compared.
double worstError(const session::RunRecord& run);

}  // namespace ulpscope::models
