// Trainings, and what goes on from their checkpoints.
#include "app/engine/requests.h"
#include "core/analysis/training_verdict.h"
#include "core/base/hashing.h"
#include "core/protocol/message.h"
#include "core/storage/training_folder.h"
#include "core/storage/training_store.h"

#include <fmt/format.h>

#include <filesystem>

namespace ulpscope::worker {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;
using protocol::TrainRequest;
using storage::TrainingFolder;

Result<session::Recipe> recipeOf(const std::string& path) {
  auto recipe = session::readRecipe(path);
  if (!recipe) return recipe;
  for (std::string* part : {&recipe.value().model, &recipe.value().inputs, &recipe.value().labels, &recipe.value().loss.script}) *part = absolute(*part);
  return recipe;
}

Result<train::Resume> resumeAt(const std::string& path, const std::string& change) {
  auto checkpoint = storage::readCheckpoint(path);
  if (!checkpoint) return checkpoint.error();
  const auto sha256 = base::sha256OfFile(path);
  if (!sha256) return sha256.error();
  return train::Resume{std::move(checkpoint).value(), fs::path(path).filename().string(), sha256.value(), change};
}

// A training that went back goes on only after a look at both precisions on the same set.
Status checkCompared(const std::string& path, const train::Resume& resume) {
  const TrainingFolder folder = TrainingFolder::around(path);
  const auto cases = folder.casesOf(resume.file);
  if (cases.empty() || folder.comparisonOf(resume.file, resume.sha256)) return base::success();
  return Error{ErrorKind::run, fmt::format("a training went back to it from step {}: {}", cases.back().step, cases.back().text), path,
               "first compare FP32 and AMP on the same set: ulpscope train --compare " + path + " --session compared.ulps"};
}

session::Session sessionOf(const session::Recipe& recipe, const std::vector<session::CriteriaRevision>& criteria) {
  session::Session session = storage::newSession(fs::path(recipe.model).stem().string());
  session.creatorVersion = ULPSCOPE_VERSION;
  session.trainingCriteria = criteria;
  return session;
}

// The session that is trained for, once its model and samples are loaded.
train::TrainingHooks hooksFor(const std::string& sessionPath, session::Session& session, train::TrainingHooks hooks) {
  hooks.open = [&session, sessionPath](const model::ModelInfo& model, const session::SampleSet& samples) {
    session.model = model;
    session.samples = samples;
    return storage::checkTrainingFits(sessionPath, session);
  };
  return hooks;
}

// A training without criteria of its own is held against those of its session as well.
Status holdAgainst(const std::vector<session::CriteriaRevision>& criteria, session::Recipe& recipe) {
  if (criteria.empty()) return base::success();
  auto limits = session::trainingCriteriaFromText(criteria.back().canonical);
  if (!limits) return limits.error();
  recipe.criteria = limits.value();
  return base::success();
}

std::optional<session::Verdict> judged(const session::Recipe& recipe, const session::Training& training, const std::vector<session::CriteriaRevision>& criteria) {
  auto verdict = analysis::judgeTraining(recipe, training);
  if (verdict && !criteria.empty()) verdict->revision = criteria.back().number;
  return verdict;
}

// The number and the folder that a training with checkpoints has from its start; given back where nothing came of it.
class Reservation {
 public:
  Reservation(std::string session, int number) : m_session(std::move(session)), m_number(number) {}
  ~Reservation() {
    if (m_number > 0) storage::releaseTraining(m_session, m_number);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  int number() const { return m_number; }

 private:
  std::string m_session;
  int m_number;  // 0: none
};

Result<json> trainAndStore(const TrainRequest& request, const train::TrainingHooks& hooks, std::stop_token stop) {
  const std::string sessionPath = absolute(request.sessionPath);
  auto recipe = recipeOf(request.recipePath);
  if (!recipe) return recipe.error();
  const storage::WriteMode mode = request.append ? storage::WriteMode::share : storage::WriteMode::create;
  // Better now than after minutes of work.
  if (auto writable = storage::checkTrainingWritable(sessionPath, mode); !writable) return writable.error();
  const auto criteria = storage::criteriaForTraining(sessionPath, {session::canonicalText(recipe->criteria), request.revisionReason});
  if (!criteria) return criteria.error();
  if (auto held = holdAgainst(criteria.value(), recipe.value()); !held) return held.error();
  train::TrainOptions options;
  options.isolate = request.isolate;
  options.checkpointEvery = request.checkpointEvery;
  if (!request.resume.empty()) {
    auto resume = resumeAt(absolute(request.resume), request.change);
    if (!resume) return resume.error();
    if (auto compared = checkCompared(absolute(request.resume), resume.value()); !compared) return compared.error();
    options.resume = std::move(resume).value();
  }
  const auto writes = train::writesCheckpoints(recipe.value(), request.checkpointEvery);
  if (!writes) return writes.error();
  const auto number = writes.value() ? storage::reserveTraining(sessionPath, mode) : Result<int>(0);
  if (!number) return number.error();
  const Reservation reservation(sessionPath, number.value());
  if (number.value() > 0) options.checkpointFolder = TrainingFolder::of(sessionPath, number.value()).path();
  session::Session session = sessionOf(recipe.value(), criteria.value());
  auto outcome = train::train(recipe.value(), options, hooksFor(sessionPath, session, hooks), stop);
  if (!outcome) return session::asRecipeFault(outcome.error(), request.recipePath);
  session::Training& training = outcome.value().training;
  training.number = number.value();
  training.verdict = judged(recipe.value(), training, criteria.value());
  auto stored = storage::addTraining(sessionPath, session, std::move(training), mode);
  if (!stored) return stored.error();
  return json{{"session", sessionPath}, {"training", number.value() > 0 ? number.value() : stored->trainings.back().number}};
}

session::RunRequest runOf(const session::Recipe& recipe, const std::string& model, const std::string& inputs, const std::string& sessionPath) {
  session::RunRequest run;
  run.modelPath = model;
  run.inputsPath = inputs;
  run.sessionPath = sessionPath;
  session::RunSettings& settings = run.settings;
  settings.autocast = recipe.autocast->dtype;
  settings.policyTable = recipe.autocast->policyTable;
  settings.mode = recipe.autocast->mode;
  settings.fp32 = recipe.autocast->fp32;
  settings.disable = recipe.autocast->disable;
  settings.castCache = recipe.autocast->castCache;
  settings.batchSize = static_cast<int>(recipe.batchSize);
  settings.seed = recipe.seed;
  const bool ofClasses = recipe.loss.kind == session::LossRecipe::Kind::crossEntropy || recipe.loss.kind == session::LossRecipe::Kind::nll;
  if (ofClasses) settings.decision = session::DecisionRule{session::DecisionRule::Kind::argmax, 1};
  settings.decisionOutput = recipe.loss.output;
  return run;
}

Status needsAutocast(const session::Recipe& recipe, const std::string& path) {
  if (recipe.autocast) return base::success();
  return Error{ErrorKind::usage, "its recipe has no autocast, so there is nothing to compare FP32 with", path, "name a recipe with autocast"};
}

std::string summaryOf(const session::RunRecord& run) {
  std::string text = run.settings.decision.decides() ? fmt::format("{} of {} decisions flip", run.flips.size(), run.decisions.size()) : std::string("no decisions");
  if (run.quality) text += fmt::format(", accuracy {:.2f} % in FP32, {:.2f} % under autocast", 100 * run.quality->referenceAccuracy(), 100 * run.quality->candidateAccuracy());
  return text + fmt::format(", {} with values that are not finite under autocast alone", run.nonfiniteSamples.size());
}

Result<json> compareCheckpoint(engine::Engine& engine, const TrainRequest& request, const engine::RunHooks& hooks, std::stop_token stop) {
  const std::string path = absolute(request.compare), sessionPath = absolute(request.sessionPath);
  const auto recipe = recipeOf(request.recipePath);
  if (!recipe) return recipe.error();
  if (auto has = needsAutocast(recipe.value(), path); !has) return has.error();
  const auto checkpoint = resumeAt(path, "");
  if (!checkpoint) return checkpoint.error();
  const TrainingFolder folder = TrainingFolder::around(path);
  const std::string model = folder.beside(checkpoint->file, ".ts"), inputs = folder.beside(checkpoint->file, "-inputs.h5");
  if (auto exported = train::exportCheckpoint(recipe.value(), checkpoint.value(), model, inputs); !exported) return exported.error();
  const session::RunRequest run = runOf(recipe.value(), model, inputs, sessionPath);
  auto answer = runAndStore(engine, run, hooks, stop);
  if (!answer) return answer;
  const auto session = storage::openSession(sessionPath);
  if (!session) return session.error();
  const std::string summary = summaryOf(*session->latest());
  if (auto noted = folder.write(session::ComparisonRecord{checkpoint->file, checkpoint->sha256, fs::path(sessionPath).filename().string(), session->latest()->id(), summary}); !noted) return noted.error();
  answer.value()["summary"] = summary;
  return answer;
}

// Two results in one session: the run of the step's batch, and the training up to it.
Result<json> replayCase(engine::Engine& engine, const TrainRequest& request, const train::TrainingHooks& hooks, const engine::RunHooks& runHooks, std::stop_token stop) {
  const std::string path = absolute(request.replay), sessionPath = absolute(request.sessionPath);
  auto recipe = recipeOf(request.recipePath);
  if (!recipe) return recipe.error();
  if (auto has = needsAutocast(recipe.value(), path); !has) return has.error();
  const auto item = session::readCase(path);
  if (!item) return item.error();
  const TrainingFolder folder = TrainingFolder::around(path);
  auto resume = resumeAt(folder.file(item->checkpoint), "");
  if (!resume) return resume.error();
  if (resume->sha256 != item->checkpointSha256) return Error{ErrorKind::input, "is not the checkpoint that the case was made from: its SHA-256 differs", folder.file(item->checkpoint), "restore it from a copy"};
  recipe.value().steps = item->step + 1;
  recipe.value().rollback = {};
  train::TrainOptions options;
  options.resume = std::move(resume).value();
  options.replay = train::Replay{item.value(), folder.beside(fs::path(path).filename().string(), ".ts"), folder.beside(fs::path(path).filename().string(), "-inputs.h5")};
  auto outcome = train::train(recipe.value(), options, hooks, stop);
  if (!outcome) return outcome.error();
  session::RunRequest run = runOf(recipe.value(), options.replay->modelFile, options.replay->inputsFile, sessionPath);
  run.settings.trainMode = true;
  if (!item->batches.empty()) run.settings.seed = item->batches.front().seed;  // the same random numbers as in the training's first micro-batch
  auto answer = runAndStore(engine, run, runHooks, stop);
  if (!answer) return answer;
  const auto session = storage::openSession(sessionPath);
  if (!session) return session.error();
  std::vector<session::LedgerLine> lines;
  for (const session::LedgerLine& line : outcome->training.runs.front().ledger)
    if (line.step >= item->fromStep) lines.push_back(line);
  const std::string ended = outcome->training.runs.front().error, differs = session::firstDifference(item->lines, lines);
  const std::string difference = differs.empty() ? ended : differs;
  auto stored = storage::addTraining(sessionPath, session.value(), std::move(outcome.value().training), storage::WriteMode::append);
  if (!stored) return stored.error();
  answer.value()["training"] = stored->trainings.back().number;
  answer.value()["reproduced"] = difference.empty();
  answer.value()["difference"] = difference;
  return answer;
}

}  // namespace

Result<json> answerTrain(engine::Engine& engine, const json& parameters, const train::TrainingHooks& hooks, const engine::RunHooks& runHooks, std::stop_token stop) {
  const auto request = protocol::trainRequestFrom(parameters);
  if (!request) return request.error();
  if (!request->compare.empty()) return compareCheckpoint(engine, request.value(), runHooks, stop);
  if (!request->replay.empty()) return replayCase(engine, request.value(), hooks, runHooks, stop);
  return trainAndStore(request.value(), hooks, stop);
}

}  // namespace ulpscope::worker
