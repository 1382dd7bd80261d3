#include "commands.h"
#include "core/analysis/benchmark_admission.h"
#include "core/analysis/speed.h"
#include "core/report/benchmark_text.h"
#include "core/storage/run_verdict.h"
#include "core/storage/training_judged.h"
#include "core/storage/training_store.h"
#include "engine_client.h"
#include "json_output.h"
#include "option_number.h"
#include "session_runs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

namespace ulpscope::cli {
namespace {

using analysis::BenchmarkRefusal;
using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;
using protocol::BenchmarkRequest;
using Part = BenchmarkRequest::Part;

constexpr std::uint64_t kMostPairs = 100000, kMostThreads = 1024;

struct BenchWords {
  std::string session, run, pairs, threads, json;
  bool training = false;  // its latest training's step instead of a run's forward
};

// What was asked for, and the verdict it hangs on.
struct Order {
  BenchmarkRequest request;
  std::optional<session::Verdict> verdict;
  std::optional<BenchmarkRefusal> refusal;
};

std::string nativeRunOf(const session::Session& session) {
  for (auto run = session.runs.rbegin(); run != session.runs.rend(); ++run)
    if (run->settings.mode == session::Mode::native && run->settings.onlySamples.empty()) return run->id();
  return "";
}

Result<Order> trainingOrder(const BenchWords& words, const session::Session& session) {
  if (!words.run.empty()) return Error{ErrorKind::usage, "names a run, and a training's step is timed", "--run " + words.run, "leave it out, or --train"};
  if (session.trainings.empty()) return Error{ErrorKind::usage, "has no training", words.session, "leave --train out, or train into it (`ulpscope train --append`)"};
  Order order;
  order.request.sessionPath = words.session;
  order.request.training = session.trainings.back().number;
  const auto training = storage::readTraining(words.session, session, order.request.training);
  if (!training) return training.error();
  const std::string which = fmt::format("{}, training {}", words.session, order.request.training);
  order.refusal = analysis::cannotBeTimed(training.value(), which);
  if (order.refusal) return order;
  auto judged = storage::judgedTraining(words.session, session, order.request.training);
  if (!judged) return judged.error();
  order.verdict = std::move(judged.value().training.verdict);
  order.refusal = analysis::notPassed(order.verdict, which);
  return order;
}

Result<Order> orderFor(const BenchWords& words, const session::Session& session) {
  if (words.training || (!session.hasResults() && !session.trainings.empty() && words.run.empty())) return trainingOrder(words, session);
  const auto run = runNamed(session, words.run, words.session);
  if (!run) return run.error();
  Order order;
  order.request.sessionPath = words.session;
  order.request.runId = run.value()->id();
  const std::string which = words.session + ", " + run.value()->id();
  order.refusal = analysis::cannotBeTimed(run.value()->settings, which);
  if (const std::string native = nativeRunOf(session); order.refusal && words.run.empty() && !native.empty() && native != order.request.runId) order.refusal->error.remedy = "time another run of it: --run " + native;
  if (order.refusal) return order;
  auto verdict = storage::standingVerdict(words.session, session, *run.value());
  if (!verdict) return verdict.error();
  order.verdict = std::move(verdict).value();
  order.refusal = analysis::notPassed(order.verdict, which);
  return order;
}

base::Status readNumbers(const BenchWords& words, BenchmarkRequest& request) {
  if (!words.pairs.empty()) {
    const auto pairs = wholeNumber(words.pairs, "--pairs " + words.pairs, {static_cast<std::uint64_t>(analysis::kFewestPairs), kMostPairs});
    if (!pairs) return pairs.error();
    request.pairs = static_cast<int>(pairs.value());
  }
  if (words.threads.empty()) return base::success();
  const auto threads = wholeNumber(words.threads, "--threads " + words.threads, {1, kMostThreads});
  if (!threads) return threads.error();
  request.threads = static_cast<int>(threads.value());
  return base::success();
}

// Nothing was measured, or nothing that may be told.
Outcome without(const BenchWords& words, const std::string& status, const Error& why, const std::optional<session::Verdict>& verdict, int exitCode) {
  std::fprintf(stderr, "ulpscope: %s\n", why.message().c_str());
  if (auto written = writeJson(words.json, report::noBenchmarkDocument(status, why.message(), verdict, words.session)); !written) return written.error();
  return exitCode;
}

// Each part has an engine of its own, so that no other part's memory is in its peak.
Result<json> ask(const BenchmarkRequest& request) {
  auto client = EngineClient::start();
  if (!client) return client.error();
  return client.value().ask([&](int id) { return protocol::encodeBenchmark(id, request); }, request.sessionPath);
}

Result<session::PeakMemory> memoryOf(BenchmarkRequest request, Part part) {
  request.part = part;
  const auto answer = ask(request);
  if (!answer) return answer.error();
  return session::peakMemoryFromJson(answer->at("memory"));
}

Result<json> measure(BenchmarkRequest request) try {
  for (const Part part : {Part::referenceMemory, Part::candidateMemory}) {
    const auto memory = memoryOf(request, part);
    if (!memory) return memory.error();
    (part == Part::referenceMemory ? request.reference : request.candidate) = memory.value();
  }
  request.part = Part::times;
  return ask(request);
} catch (const json::exception& e) {
  return Error{ErrorKind::internal, std::string("the engine's answer is malformed: ") + e.what(), request.sessionPath, ""};
}

Outcome shown(const BenchWords& words, const json& answer) try {
  if (answer.contains("withheld")) {
    const auto verdict = session::verdictFromJson(answer.at("verdict"));
    const bool failed = verdict && verdict->status == session::JudgedAs::fail;
    const Error why{ErrorKind::inconclusive, answer.at("withheld"), words.session, "no speed is told"};
    return without(words, "withheld", why, verdict, failed ? 1 : base::exitCode(ErrorKind::inconclusive));
  }
  const session::Benchmark benchmark = session::benchmarkFromJson(answer.at("benchmark"));
  const auto written = writeJson(words.json, report::benchmarkDocument(benchmark, words.session));
  if (words.json != "-") fmt::print("{}", report::benchmarkText(benchmark));
  if (const std::string why = answer.at("not_stored"); !why.empty()) std::fprintf(stderr, "ulpscope: the benchmark is not stored: %s\n", why.c_str());
  if (!written) return written.error();
  return 0;
} catch (const json::exception& e) {
  return Error{ErrorKind::internal, std::string("the engine's answer is malformed: ") + e.what(), words.session, ""};
}

Outcome benchAction(const BenchWords& words) {
  const auto session = storage::openSession(words.session);
  if (!session) return session.error();
  auto order = orderFor(words, session.value());
  if (!order) return order.error();
  if (auto numbers = readNumbers(words, order.value().request); !numbers) return numbers.error();
  if (order->refusal) return without(words, "refused", order->refusal->error, order->verdict, order->refusal->exitCode);
  const auto answer = measure(order->request);
  if (!answer) return answer.error();
  return shown(words, answer.value());
}

constexpr const char* kHelp =
    "Times a run's policy against FP32, once its verdict is a pass: forwards without interception, and peak memory.\n\n"
    "Refused, with the reason: a run that fails its criteria (1) or was not judged by any (5); one that is emulated or was recorded, since nothing\n"
    "can be claimed about speed, and files that are no longer those that passed (3).\n\n"
    "Alternating pairs of forwards on the same batches with the same threads, after a warm-up; the median of FP32's time over autocast's, and an interval\n"
    "that assumes no distribution. An interval that holds 1 is \"no difference shown\". The run is then judged again as it was timed: where it does not\n"
    "pass, no speed is told (1, or 5). The result stands in the session, with everything it hangs on. Let the machine rest meanwhile.\n\n"
    "With --train, and in a session that holds only trainings: the step of its latest training, gathering its batch, forward, loss, backward and update;\n"
    "the recipe is trained again as it was timed.\n\n"
    "Examples:\n"
    "  ulpscope run model.ts --inputs inputs.h5 --mode native --autocast bf16 --criteria criteria.json --session release.ulps\n"
    "  ulpscope bench release.ulps\n"
    "  ulpscope bench release.ulps --run run_0002 --threads 1 --pairs 100 --json bench.json\n"
    "  ulpscope bench training.ulps --train\n";

}  // namespace

void addBench(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("bench", kHelp);
  auto words = std::make_shared<BenchWords>();
  command->add_option("SESSION", words->session, "the session (.ulps)")->required();
  command->add_option("--run", words->run, "run to time: run_0002 or 2 (default: the latest over all samples)")->type_name("RUN");
  command->add_flag("--train", words->training, "time the step of the latest training instead");
  command->add_option("--pairs", words->pairs, fmt::format("pairs of forwards, at least {} (default {})", analysis::kFewestPairs, BenchmarkRequest{}.pairs))->type_name("N");
  command->add_option("--threads", words->threads, "threads of each side (default: as many as LibTorch takes on this machine)")->type_name("N");
  command->add_option("--json", words->json, "write the benchmark (resources/schema/bench.schema.json) to F ('-': standard output)")->type_name("F");
  command->callback([words, &invocation] { invocation.action = [words] { return benchAction(*words); }; });
}

}  // namespace ulpscope::cli
