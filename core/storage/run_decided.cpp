#include "core/storage/run_decided.h"

#include "core/analysis/decided.h"
#include "core/storage/session_store.h"

#include <algorithm>
#include <set>

namespace ulpscope::storage {
namespace {

using session::RunRecord;
using session::Session;
using Decided = std::vector<std::vector<std::int64_t>>;

// Samples of the session that the rows of an output are of.
std::vector<std::size_t> samplesOf(const Session& session, const RunRecord& run) {
  const std::set<std::string> only(run.settings.onlySamples.begin(), run.settings.onlySamples.end());
  std::vector<std::size_t> samples;
  for (std::size_t i = 0; i < session.samples.ids.size(); ++i)
    if (only.empty() || only.count(session.samples.ids[i]) > 0) samples.push_back(i);
  return samples;
}

}  // namespace

base::Result<Decided> decidedSamples(const std::string& masterPath, const Session& session, const RunRecord& run) {
  const auto outputs = readOutputs(masterPath, session, run.id());
  if (!outputs) return outputs.error();
  const std::string& name = run.settings.decisionOutput;
  const auto output = std::find_if(outputs->begin(), outputs->end(), [&](const OutputTensors& o) { return name.empty() || o.name == name; });
  const auto summary = std::find_if(run.outputs.begin(), run.outputs.end(), [&](const auto& s) { return output != outputs->end() && s.name == output->name; });
  if (summary == run.outputs.end()) return base::Error{base::ErrorKind::input, "stores no output that decides", masterPath + ", " + run.id(), "run it again"};
  const session::SampleAxis axis = session::SampleAxis::fromText(summary->sampleAxis);
  const std::vector<std::size_t> samples = samplesOf(session, run);
  Decided all(session.samples.ids.size());
  if (axis.kind != session::SampleAxis::Kind::plain) return all;
  Decided rows = analysis::decidedIn({output->reference.bytes.data(), output->reference.dtype, output->shape}, axis.axis, run.settings.decision);
  for (std::size_t i = 0; i < std::min(rows.size(), samples.size()); ++i) all[samples[i]] = std::move(rows[i]);
  return all;
}

}  // namespace ulpscope::storage
