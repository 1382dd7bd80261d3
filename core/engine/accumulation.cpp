#include "core/engine/accumulation.h"

#include "core/engine/run_decisions.h"

#include <algorithm>
#include <limits>
#include <set>

namespace ulpscope::engine {
namespace {

// The reference's outputs of one batch.
std::vector<NamedTensor> referenceOf(const OutputCollector& outputs, std::size_t batch) {
  std::vector<NamedTensor> named;
  for (const OutputCollector::Output& output : outputs.outputs())
    if (batch < output.reference.size()) named.push_back({output.name, output.reference[batch]});
  return named;
}

double orNone(const std::optional<double>& value) { return value.value_or(std::numeric_limits<double>::quiet_NaN()); }

std::set<std::string> idsOf(const std::vector<session::Flip>& flips) {
  std::set<std::string> ids;
  for (const session::Flip& flip : flips) ids.insert(flip.sampleId);
  return ids;
}

}  // namespace

AccumulationRun::AccumulationRun(const RunFrame& frame, const OutputCollector& outputs, CandidateRun candidate)
    : m_frame(frame), m_own(outputs), m_run(std::move(candidate)), m_other(frame.settings.autocast, frame.axes) {}

base::Status AccumulationRun::measure(RunProgress& progress, std::stop_token stop) {
  for (std::size_t i = 0; i < m_frame.batches.size(); ++i) {
    const Batch& batch = m_frame.batches[i];
    if (stop.stop_requested()) return cancelledError();
    progress.at(batch, 0, "", "");
    const SideResult other = m_run(batch);
    if (other.failed)
      return base::Error{base::ErrorKind::run, "the candidate fails when sums are added up in another way: " + other.error, whereText(other), "run it without --accumulate"};
    m_other.add(batch, referenceOf(m_own, i), flattenOutputs(other.value));
  }
  return base::success();
}

session::Accumulation AccumulationRun::summary(const session::RunRecord& run, const session::SampleSet& samples) const {
  session::Accumulation range;
  const auto own = m_own.summaries(), other = m_other.summaries();
  for (std::size_t i = 0; i < std::min(own.size(), other.size()); ++i)
    if (own[i].relL2 || other[i].relL2)
      range.outputs.push_back({own[i].name, orNone(own[i].relL2), orNone(other[i].relL2), orNone(own[i].maxAbs), orNone(other[i].maxAbs)});
  const auto decided = flipsOf(run.settings, m_other, samples);
  if (!decided) return range;
  range.flips = static_cast<std::int64_t>(run.flips.size());
  range.flipsOtherwise = static_cast<std::int64_t>(decided->flips.size());
  const std::set<std::string> mine = idsOf(run.flips), theirs = idsOf(decided->flips);
  for (const std::string& id : samples.ids)
    if (mine.count(id) != theirs.count(id)) range.depends.push_back(id);
  return range;
}

}  // namespace ulpscope::engine
