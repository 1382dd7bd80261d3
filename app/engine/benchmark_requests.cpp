// Benchmarks: what may be timed, and what becomes of the times.
#include "app/engine/requests.h"
#include "core/analysis/benchmark_admission.h"
#include "core/analysis/training_verdict.h"
#include "core/base/clock.h"
#include "core/engine/benchmark.h"
#include "core/protocol/message.h"
#include "core/session/comparable.h"
#include "core/session/criteria.h"
#include "core/storage/benchmark_store.h"
#include "core/storage/run_verdict.h"
#include "core/storage/training_judged.h"
#include "core/storage/training_store.h"
#include "core/train/step_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ulpscope::worker {
namespace {

using base::Error;
using base::ErrorKind;
using base::ProgressSink;
using base::Result;
using base::Status;
using nlohmann::json;
using protocol::BenchmarkRequest;
using session::Session;
using session::Verdict;
using Kind = session::Criterion::Kind;

// The files must be those that passed.
Status checkUnchanged(const Session& session, const model::ModelInfo& model, const session::SampleSet& samples) {
  Session now;
  now.model = model;
  now.samples = samples;
  const session::RunSettings same;
  auto differences = session::differences(session, same, now, same);
  if (samples.labels != session.samples.labels || samples.targets != session.samples.targets) differences.push_back({"the labels or targets", "those that were judged", "others"});
  if (differences.empty()) return base::success();
  const session::Difference& first = differences.front();
  return Error{ErrorKind::input, fmt::format("the files are not those that passed: {}: {} then, {} now", first.part, first.was, first.is), session.model.path, "put them back, or validate what they are now"};
}

// What both kinds have measured, and how it was judged again.
struct Timed {
  session::BenchmarkConditions conditions;
  std::vector<session::TimedPair> pairs;
  std::vector<std::string> warnings;
  Verdict recheck;
  std::string differs;  // why what was timed is not what was judged; empty: it is
};

// Something of a session that may be timed. The request is of the worker's paths.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual Result<Timed> time(const ProgressSink& progress, std::stop_token stop) = 0;
  virtual Result<session::PeakMemory> peak(engine::TimedSide side, const ProgressSink& progress, std::stop_token stop) = 0;
  virtual const Session& of() const = 0;  // whose it is
};

// A run whose verdict is a pass.
class RunSubject : public Subject {
 public:
  static Result<std::unique_ptr<Subject>> make(engine::Engine& engine, Session session, const BenchmarkRequest& request) {
    const session::RunRecord* run = session.run(request.runId);
    const std::string which = request.sessionPath + ", " + request.runId;
    if (!run) return Error{ErrorKind::usage, "is no run of this session", which, "see the session's runs"};
    if (const auto refusal = analysis::cannotBeTimed(run->settings, which)) return refusal->error;
    const auto verdict = storage::standingVerdict(request.sessionPath, session, *run);
    if (!verdict) return verdict.error();
    if (const auto refusal = analysis::notPassed(verdict.value(), which)) return refusal->error;
    auto criteria = session::criteriaFromText(session.criteria.back().canonical);
    if (!criteria) return criteria.error();
    return std::unique_ptr<Subject>(new RunSubject(engine, std::move(session), request, criteria.value()));
  }

  Result<Timed> time(const ProgressSink& progress, std::stop_token stop) override {
    auto timed = m_engine.time(m_order, progress, std::move(stop));
    if (!timed) return timed.error();
    auto verdict = storage::lockedVerdict(m_session, timed->recheck.run, timed->recheck.outputs);
    if (!verdict) return verdict.error();
    engine::TimedRun& run = timed.value();
    return Timed{std::move(run.conditions), std::move(run.pairs), std::move(run.warnings), std::move(verdict).value(), std::move(run.differs)};
  }
  Result<session::PeakMemory> peak(engine::TimedSide side, const ProgressSink& progress, std::stop_token stop) override { return m_engine.peakMemory(m_order, side, progress, std::move(stop)); }
  const Session& of() const override { return m_session; }

 private:
  engine::Engine& m_engine;
  Session m_session;
  engine::BenchmarkOrder m_order;

  RunSubject(engine::Engine& engine, Session session, const BenchmarkRequest& request, const session::Criteria& criteria) : m_engine(engine), m_session(std::move(session)) {
    m_order.request = requestOf(request, criteria);
    m_order.pairs = request.pairs;
    m_order.threads = request.threads;
    m_order.open = [this](const model::ModelInfo& model, const session::SampleSet& samples) { return checkUnchanged(m_session, model, samples); };
  }

  // The same run again, with what its criteria ask for and no more.
  session::RunRequest requestOf(const BenchmarkRequest& asked, const session::Criteria& criteria) const {
    const auto asksFor = [&](Kind kind) { return std::any_of(criteria.list.begin(), criteria.list.end(), [kind](const session::Criterion& c) { return c.kind == kind; }); };
    session::RunRequest request;
    request.modelPath = m_session.model.path;
    request.inputsPath = m_session.samples.path;
    request.labelsPath = m_session.samples.labelsPath;
    request.classNamesPath = m_session.samples.classNamesPath;
    request.sessionPath = asked.sessionPath;
    session::RunSettings& settings = request.settings = m_session.run(asked.runId)->settings;
    settings.capture.clear();
    settings.referee = settings.verifyProbe = false;
    settings.accumulate.reset();
    settings.noiseFloor = settings.noiseFloor && !criteria.noiseFlipsCount;
    if (!asksFor(Kind::siteMetric) && !asksFor(Kind::nonfinite)) settings.observe = session::Observe::outputs;
    return request;
  }
};

// A training whose verdict is a pass: its step.
class TrainingSubject : public Subject {
 public:
  static Result<std::unique_ptr<Subject>> make(Session session, const BenchmarkRequest& request) {
    const std::string which = fmt::format("{}, training {}", request.sessionPath, request.training);
    const auto training = storage::readTraining(request.sessionPath, session, request.training);
    if (!training) return training.error();
    if (const auto refusal = analysis::cannotBeTimed(training.value(), which)) return refusal->error;
    const auto judged = storage::judgedTraining(request.sessionPath, session, request.training);
    if (!judged) return judged.error();
    if (const auto refusal = analysis::notPassed(judged->training.verdict, which)) return refusal->error;
    auto recipe = session::recipeFromJson(json::parse(training->recipe, nullptr, /*allow_exceptions=*/false));
    if (!recipe) return recipe.error();
    recipe.value().model = session.model.path;
    recipe.value().inputs = session.samples.path;
    recipe.value().labels = session.samples.labelsPath;
    if (auto criteria = session::trainingCriteriaFromText(judged->locked.back().canonical)) recipe.value().criteria = criteria.value();
    return std::unique_ptr<Subject>(new TrainingSubject(std::move(session), request, std::move(recipe).value(), judged->locked.back().number));
  }

  Result<Timed> time(const ProgressSink& progress, std::stop_token stop) override {
    auto timed = train::timeSteps(m_order, progress, std::move(stop));
    if (!timed) return timed.error();
    Verdict verdict = analysis::judgeTraining(m_order.recipe, timed->recheck).value_or(Verdict{});
    verdict.revision = m_revision;
    return Timed{std::move(timed.value().conditions), std::move(timed.value().pairs), std::move(timed.value().warnings), std::move(verdict), ""};
  }
  Result<session::PeakMemory> peak(engine::TimedSide side, const ProgressSink& progress, std::stop_token stop) override { return train::peakMemoryOfSteps(m_order, side, progress, std::move(stop)); }
  const Session& of() const override { return m_session; }

 private:
  Session m_session;
  train::StepOrder m_order;
  int m_revision;

  TrainingSubject(Session session, const BenchmarkRequest& request, session::Recipe recipe, int revision) : m_session(std::move(session)), m_revision(revision) {
    m_order.recipe = std::move(recipe);
    m_order.pairs = request.pairs;
    m_order.threads = request.threads;
    m_order.open = [this](const model::ModelInfo& model, const session::SampleSet& samples) { return checkUnchanged(m_session, model, samples); };
  }
};

Result<std::unique_ptr<Subject>> subjectOf(engine::Engine& engine, const BenchmarkRequest& request) {
  auto session = storage::openSession(request.sessionPath);
  if (!session) return session.error();
  return request.runId.empty() ? TrainingSubject::make(std::move(session).value(), request) : RunSubject::make(engine, std::move(session).value(), request);
}

json withheld(const std::string& why, const Verdict& verdict) { return {{"withheld", why}, {"verdict", toJson(std::optional(verdict))}}; }

// A session that cannot be written takes nothing from what was measured.
json stored(const std::string& path, const Session& session, const session::Benchmark& benchmark) {
  const auto now = storage::addBenchmark(path, session.id, benchmark);
  if (now) return {{"benchmark", session::toJson(now->benchmarks.back())}, {"not_stored", ""}};
  return {{"benchmark", session::toJson(benchmark)}, {"not_stored", now.error().message()}};
}

Result<json> timesOf(Subject& subject, const BenchmarkRequest& request, const ProgressSink& progress, std::stop_token stop) {
  auto timed = subject.time(progress, std::move(stop));
  if (!timed) return timed.error();
  Timed& found = timed.value();
  if (const auto refusal = analysis::notPassed(found.recheck, ""))
    return withheld(fmt::format("what passed when it was validated, timed with {} threads and judged again {}", found.conditions.threads, refusal->error.what), found.recheck);
  if (!found.differs.empty()) {
    found.recheck.status = session::JudgedAs::notEvaluated;
    found.recheck.reason = "what was timed is not what was judged: " + found.differs;
    return withheld(found.recheck.reason, found.recheck);
  }
  session::Benchmark benchmark;
  benchmark.createdUtc = base::utcNow();
  benchmark.runId = request.runId;
  benchmark.training = request.runId.empty() ? request.training : 0;
  benchmark.conditions = std::move(found.conditions);
  benchmark.conditions.ulpscope = ULPSCOPE_VERSION;
  benchmark.pairs = std::move(found.pairs);
  benchmark.reference = request.reference;
  benchmark.candidate = request.candidate;
  benchmark.recheck = std::move(found.recheck);
  benchmark.warnings = std::move(found.warnings);
  return stored(request.sessionPath, subject.of(), benchmark);
}

}  // namespace

Result<json> answerBenchmark(engine::Engine& engine, const json& parameters, const ProgressSink& progress, std::stop_token stop) {
  auto parsed = protocol::benchmarkRequestFrom(parameters);
  if (!parsed) return parsed.error();
  BenchmarkRequest& request = parsed.value();
  request.sessionPath = absolute(request.sessionPath);
  const auto subject = subjectOf(engine, request);
  if (!subject) return subject.error();
  if (request.part == BenchmarkRequest::Part::times) return timesOf(*subject.value(), request, progress, std::move(stop));
  const auto side = request.part == BenchmarkRequest::Part::candidateMemory ? engine::TimedSide::candidate : engine::TimedSide::reference;
  const auto memory = subject.value()->peak(side, progress, std::move(stop));
  if (!memory) return memory.error();
  return json{{"memory", session::toJson(memory.value())}};
}

}  // namespace ulpscope::worker
