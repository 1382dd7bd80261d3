#include "app/engine/requests.h"

#include "app/engine/run_target.h"
#include "core/protocol/message.h"
#include "core/storage/run_edit.h"

#include <filesystem>

namespace ulpscope::worker {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

session::RunRequest withAbsolutePaths(session::RunRequest request) {
  for (std::string* path : {&request.modelPath, &request.inputsPath, &request.labelsPath, &request.classNamesPath, &request.sessionPath}) *path = absolute(*path);
  return request;
}

}  // namespace

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const auto resolved = path.empty() ? std::filesystem::path() : std::filesystem::weakly_canonical(path, ignored);
  return ignored ? path : resolved.string();
}

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
  return protocol::toJson(inspection.value());
}

Result<json> answerOpen(engine::Engine& engine, const json& parameters) {
  auto parsed = session::requestFromJson(parameters);
  if (!parsed) return parsed.error();
  auto opened = engine.open(withAbsolutePaths(parsed.value()));
  if (!opened) return opened.error();
  return protocol::toJson(opened.value());
}

Result<json> answerRun(engine::Engine& engine, const json& parameters, engine::RunHooks hooks, std::stop_token stop) {
  auto parsed = session::requestFromJson(parameters);
  if (!parsed) return parsed.error();
  if (const auto live = parameters.find("live"); live == parameters.end() || *live != json(true)) {
    hooks.experiment = {};
    hooks.cells = {};
  }
  return runAndStore(engine, withAbsolutePaths(parsed.value()), std::move(hooks), stop);
}

Result<json> runAndStore(engine::Engine& engine, const session::RunRequest& request, engine::RunHooks hooks, std::stop_token stop) {
  RunTarget target(request);
  // check() waits for another writer, minutes if need be: not without a word.
  if (const std::string holder = storage::lockHolder(request.sessionPath); !holder.empty() && hooks.progress) hooks.progress({"waiting for " + holder, "", "", 0, 0});
  if (auto writable = target.check(); !writable) return writable.error();
  hooks.open = [&](const model::ModelInfo& model, const session::SampleSet& samples) { return target.open(model, samples); };
  auto outcome = engine.run(request, hooks, stop);
  if (!outcome) return outcome.error();
  if (hooks.progress) hooks.progress({"writing", "", "", outcome->run.samplesComplete, outcome->run.samplesComplete});
  auto stored = target.finish(std::move(outcome->run), outcome->metrics, outcome->outputs);
  if (!stored) return stored.error();
  return json{{"session", request.sessionPath}, {"run_id", target.runId()}, {"new_session", target.madeSession()}};
}

}  // namespace ulpscope::worker
