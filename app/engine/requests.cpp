#include "app/engine/requests.h"

#include "core/base/clock.h"
#include "core/protocol/message.h"
#include "core/storage/run_writer.h"
#include "core/storage/session_store.h"

#include <filesystem>
#include <optional>

namespace ulpscope::worker {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;

// Runs of one session must be comparable: nothing but the precision policy may differ.
Status checkSameExperiment(const session::Session& session, const session::RunRequest& request, const model::ModelInfo& model,
                           const session::SampleSet& samples) {
  const auto differs = [&](const std::string& what, const std::string& was, const std::string& is) {
    return Error{ErrorKind::run, what + " differs: " + was.substr(0, 16) + " in the session, " + is.substr(0, 16) + " now", request.sessionPath,
                 "compare runs of one experiment; write a new session with --session"};
  };
  if (session.model.fingerprint.codeSha256 != model.fingerprint.codeSha256)
    return differs("the model's code", session.model.fingerprint.codeSha256, model.fingerprint.codeSha256);
  if (session.model.fingerprint.weightsSha256 != model.fingerprint.weightsSha256)
    return differs("the model's weights", session.model.fingerprint.weightsSha256, model.fingerprint.weightsSha256);
  if (session.samples.sha256 != samples.sha256) return differs("the inputs file", session.samples.sha256, samples.sha256);
  if (session.runs.empty()) return base::success();
  const session::RunSettings& first = session.runs.front().settings;
  const session::RunSettings& now = request.settings;
  if (first.trainMode != now.trainMode) return differs("train/eval mode", first.trainMode ? "train" : "eval", now.trainMode ? "train" : "eval");
  if (first.batchSize != now.batchSize) return differs("the batch size", std::to_string(first.batchSize), std::to_string(now.batchSize));
  if (first.seed != now.seed) return differs("the seed", std::to_string(first.seed), std::to_string(now.seed));
  if (first.batchAxis != now.batchAxis) return differs("the batch axes of the inputs", json(first.batchAxis).dump(), json(now.batchAxis).dump());
  return base::success();
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const auto resolved = path.empty() ? std::filesystem::path() : std::filesystem::weakly_canonical(path, ignored);
  return ignored ? path : resolved.string();
}

session::RunRequest withAbsolutePaths(session::RunRequest request) {
  for (std::string* path : {&request.modelPath, &request.inputsPath, &request.labelsPath, &request.classNamesPath, &request.sessionPath}) *path = absolute(*path);
  return request;
}

Result<session::Session> sessionFor(const session::RunRequest& request) {
  // Better now than after minutes of work; addRun checks again when it writes.
  const auto mode = request.append ? storage::WriteMode::append : storage::WriteMode::create;
  if (auto writable = storage::checkWritable(request.sessionPath, mode); !writable) return writable.error();
  if (request.append) return storage::openSession(request.sessionPath);
  return storage::newSession(std::filesystem::path(request.modelPath).stem().string());
}

}  // namespace

Result<json> answerHello(const json& parameters) {
  const auto wanted = parameters.find("protocol");
  if (wanted != parameters.end() && *wanted != protocol::kVersion)
    return Error{ErrorKind::run, "the client speaks protocol " + wanted->dump() + ", this engine " + std::to_string(protocol::kVersion), "protocol",
                 "use programs of one version"};
  const engine::EngineFacts facts = engine::Engine::facts();
  return json{{"protocol", protocol::kVersion}, {"version", ULPSCOPE_VERSION},  {"libtorch", facts.libtorchVersion},
          {"policy_tables", facts.policyTables}, {"threads", facts.threads}, {"blas", facts.blas}};
}

Result<json> answerInspect(engine::Engine& engine, const json& parameters) {
  if (!parameters.is_object() || !parameters.contains("model") || !parameters["model"].is_string())
    return Error{ErrorKind::internal, "inspect needs a model", "protocol", ""};
  auto inspection = engine.inspect(parameters["model"], parameters.value("target", "cuda"));
  if (!inspection) return inspection.error();
  json ops = json::array();
  for (const auto& op : inspection->ops)
    ops.push_back({{"module", op.modulePath}, {"op", op.op}, {"overload", op.overload}, {"source", op.source}, {"class", op.policyClass}, {"other_tables", op.otherTables}});
  return json{{"model", model::toJson(inspection->model)}, {"ops", ops}, {"policy_table", inspection->policyTable}, {"warnings", inspection->warnings}};
}

Result<json> answerRun(engine::Engine& engine, const json& parameters, const base::ProgressSink& progress, std::stop_token stop) {
  auto parsed = session::requestFromJson(parameters);
  if (!parsed) return parsed.error();
  const session::RunRequest request = withAbsolutePaths(parsed.value());
  auto session = sessionFor(request);
  if (!session) return session.error();
  std::optional<storage::RunWriter> writer;
  const auto open = [&](const model::ModelInfo& model, const session::SampleSet& samples) -> Result<storage::RunWriter*> {
    session::Session current = session.value();
    if (request.append) {
      if (auto same = checkSameExperiment(current, request, model, samples); !same) return same.error();
    } else {
      current.model = model;
      current.samples = samples;
      current.creatorVersion = ULPSCOPE_VERSION;
    }
    auto begun = storage::RunWriter::begin(request.sessionPath, std::move(current), request.append ? storage::WriteMode::append : storage::WriteMode::create);
    if (!begun) return begun.error();
    writer.emplace(std::move(begun).value());
    return &*writer;
  };
  auto outcome = engine.run(request, {progress, open}, stop);
  if (!outcome) return outcome.error();
  if (progress) progress({"writing", "", "", outcome->run.samplesComplete, outcome->run.samplesComplete});
  auto stored = writer->finish(std::move(outcome->run), outcome->metrics, outcome->outputs);
  if (!stored) return stored.error();
  return json{{"session", request.sessionPath}, {"run_id", stored->latest()->id()}};
}

}  // namespace ulpscope::worker
