#include "core/engine/scan_settings.h"

#include "core/base/nearest_names.h"
#include "core/engine/run_decisions.h"

#include <algorithm>
#include <filesystem>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using session::RunRecord;
using session::RunSettings;

// What a scan adds may stand in the run already.
void addNew(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& item : more)
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

Error otherFile(const std::string& what, const std::string& path, const std::string& option) {
  return {ErrorKind::run, what, path, "scan the session's own: name the file as it was with " + option + " F, or run again into a new session"};
}

const session::OutputSummary* outputOf(const RunSettings& settings, const RunRecord& run) {
  const auto isNamed = [&](const session::OutputSummary& output) { return output.name == settings.decisionOutput; };
  const auto isRead = [&](const session::OutputSummary& output) { return readsDtype(settings.decision, output.dtype); };
  const bool named = !settings.decisionOutput.empty(), exact = settings.decision.kind == session::DecisionRule::Kind::exact;
  const auto found = named ? std::find_if(run.outputs.begin(), run.outputs.end(), isNamed) : std::find_if(run.outputs.begin(), run.outputs.end(), isRead);
  if (found != run.outputs.end()) return &*found;
  return !named && exact && !run.outputs.empty() ? &run.outputs.front() : nullptr;
}

Error noOutput(const RunSettings& settings, const RunRecord& run) {
  std::vector<std::string> names;
  for (const session::OutputSummary& output : run.outputs) names.push_back(output.name);
  const std::string remedy = names.empty() ? run.id() + " has no outputs: name another with --run" : run.id() + " has " + base::quotedChoice(names) + "; name one with --decision-output";
  if (!settings.decisionOutput.empty()) return {ErrorKind::usage, "is no output of the model", "--decision-output " + settings.decisionOutput, remedy};
  return {ErrorKind::usage, "no output has floating-point scores", "--decision " + settings.decision.text(), remedy};
}

Status checkDecides(const session::ScanRequest& request, const RunSettings& settings, const RunRecord& run) {
  if (!settings.decision.decides())
    return Error{ErrorKind::usage, run.id() + " decides nothing (--decision " + settings.decision.text() + "), so there is no boundary", request.sessionPath, "say by which rule: --decision argmax, topk:K or threshold:T"};
  if (request.kind == session::ScanKind::near && settings.decision.errorsToFlip() == 0)
    return Error{ErrorKind::usage, "whole numbers have no margin that could shrink", "--near, --decision " + settings.decision.text(),
                 "scan from one sample to another with --from and --to, or say --decision argmax of an output with scores"};
  return base::success();
}

}  // namespace

Result<const RunRecord*> scannedRun(const session::ScanRequest& request, const session::Session& session) {
  if (session.runs.empty()) return Error{ErrorKind::inconclusive, "holds no run, so nothing says by which policy to scan", request.sessionPath, "add one with `ulpscope run ... --append`"};
  if (!request.runId.empty()) {
    const RunRecord* named = session.run(request.runId);
    return named ? Result<const RunRecord*>(named) : Error{ErrorKind::usage, "is no run of " + request.sessionPath, request.runId, "name another with --run"};
  }
  const auto whole = std::find_if(session.runs.rbegin(), session.runs.rend(), [](const RunRecord& run) { return run.settings.onlySamples.empty(); });
  return whole == session.runs.rend() ? &session.runs.back() : &*whole;
}

Result<RunSettings> scanSettings(const session::ScanRequest& request, const RunRecord& run) {
  RunSettings settings = run.settings;
  settings.policyTable = run.policyTable;
  settings.observe = session::Observe::outputs;
  settings.capture.clear();
  settings.onlySamples.clear();
  settings.referee = settings.verifyProbe = false;
  settings.noiseFloor = request.noiseFloor;
  if (request.batchSize > 0) settings.batchSize = request.batchSize;
  if (!request.decision.empty()) {
    settings.decision = session::parseDecisionRule(request.decision).value();
    settings.decisionOutput.clear();
  }
  if (!request.decisionOutput.empty()) settings.decisionOutput = request.decisionOutput;
  if (!request.tie.empty()) settings.tie = *session::tieRuleFromName(request.tie);
  addNew(settings.fp32, request.fp32);
  addNew(settings.disable, request.disable);
  if (auto decides = checkDecides(request, settings, run); !decides) return decides.error();
  const session::OutputSummary* output = outputOf(settings, run);
  if (!output) return noOutput(settings, run);
  settings.decisionOutput = output->name;
  return settings;
}

Result<int> scannedAxis(const RunSettings& settings, const RunRecord& run) {
  const session::SampleAxis axis = session::SampleAxis::fromText(outputOf(settings, run)->sampleAxis);
  if (axis.kind == session::SampleAxis::Kind::plain) return axis.axis;
  return Error{ErrorKind::run, "no axis of it counts the samples one by one, so no decision can be read", "output '" + settings.decisionOutput + "'", "choose another --decision-output"};
}

Status checkThere(const std::string& path, const std::string& option) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return base::success();
  return Error{ErrorKind::input, "does not exist, and the session was made from it", path, "say where it is now with " + option + " F"};
}

Status checkSameFiles(const session::Session& session, const model::ModelInfo& model, const session::SampleSet& samples) {
  if (model.fingerprint.codeSha256 != session.model.fingerprint.codeSha256) return otherFile("is not the session's model: its code differs", model.path, "--model");
  if (model.fingerprint.weightsSha256 != session.model.fingerprint.weightsSha256) return otherFile("is not the session's model: its weights differ", model.path, "--model");
  if (samples.sha256 != session.samples.sha256) return otherFile("is not the session's inputs file: its SHA-256 differs", samples.path, "--inputs");
  return base::success();
}

}  // namespace ulpscope::engine
