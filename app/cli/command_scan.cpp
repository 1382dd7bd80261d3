#include "commands.h"
#include "core/base/shell_word.h"
#include "core/report/scan_text.h"
#include "core/session/sample_choice.h"
#include "core/session/scan.h"
#include "core/storage/scan_store.h"
#include "core/storage/session_care.h"
#include "core/storage/session_store.h"
#include "engine_client.h"
#include "json_output.h"
#include "option_number.h"
#include "run_command_line.h"
#include "run_options.h"
#include "session_runs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <memory>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;
using session::ScanKind;

struct ScanWords {
  std::string session, from, to, run, model, inputs, decision, decisionOutput, tie, json;
  std::string steps = "1001", grid = "64", margin = "0", limit = "1", batchSize, show;
  std::vector<std::string> near, plane, fp32, disable;
  bool followsGradients = false;  // --near was said, with samples or without
  bool noNoiseFloor = false, noSave = false, list = false;
  std::string idle;  // an option that was given and means nothing beside the others

  bool isSegment() const { return !from.empty() || !to.empty(); }
};

Error usage(const std::string& which, const std::string& what, const std::string& remedy) { return {ErrorKind::usage, what, which, remedy}; }

Result<double> decimal(const std::string& text, const std::string& option) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return value;
  return usage(option + " " + text, "is no number", "for instance " + option + " 0.5");
}

// Ids as they stand; several in one word as --only-samples takes them.
Result<std::vector<std::string>> idsOf(const std::vector<std::string>& words) {
  std::vector<std::string> ids;
  for (const std::string& word : words) {
    if (word.empty() || word == "all") continue;  // empty: CLI11's word for --near alone
    auto some = session::sampleIdsIn(word);
    if (!some) return usage("--near " + word, some.error().what, "for instance --near '[\"a,1\",\"b\"]'");
    ids.insert(ids.end(), some->begin(), some->end());
  }
  return ids;
}

Status setSamples(const ScanWords& words, session::ScanRequest& request) {
  const int ways = static_cast<int>(words.isSegment()) + static_cast<int>(words.followsGradients) + static_cast<int>(!words.plane.empty());
  if (ways != 1) return usage("scan", ways == 0 ? "from where? --from A --to B, --near or --plane A B C is missing" : "--from and --to, --near and --plane exclude each other", "see `ulpscope scan --help`");
  if (words.isSegment()) {
    if (words.from.empty() || words.to.empty()) return usage(words.from.empty() ? "--from" : "--to", "is missing", "a segment has two ends: --from A --to B");
    request.samples = {words.from, words.to};
  }
  if (!words.plane.empty()) {
    request.kind = ScanKind::plane;
    request.samples = words.plane;
  }
  if (words.followsGradients) {
    request.kind = ScanKind::near;
    auto ids = idsOf(words.near);
    if (!ids) return ids.error();
    request.samples = std::move(ids).value();
  }
  return base::success();
}

Status setNumbers(const ScanWords& words, session::ScanRequest& request) {
  const auto steps = wholeNumber(words.steps, "--steps " + words.steps, {2, static_cast<std::uint64_t>(session::kMostSteps)});
  if (!steps) return steps.error();
  const auto grid = wholeNumber(words.grid, "--grid " + words.grid, {2, static_cast<std::uint64_t>(session::kMostGrid)});
  if (!grid) return grid.error();
  const auto margin = decimal(words.margin, "--margin"), limit = decimal(words.limit, "--limit");
  if (!margin) return margin.error();
  if (!limit) return limit.error();
  request.steps = static_cast<std::int64_t>(steps.value());
  request.grid = static_cast<std::int64_t>(grid.value());
  request.margin = margin.value();
  request.limit = limit.value();
  if (words.batchSize.empty()) return base::success();
  const auto batch = wholeNumber(words.batchSize, "--batch-size " + words.batchSize, {1, 1'000'000});
  if (!batch) return batch.error();
  request.batchSize = static_cast<int>(batch.value());
  return base::success();
}

Result<session::ScanRequest> requestOf(const ScanWords& words) {
  session::ScanRequest request;
  request.sessionPath = words.session;
  request.modelPath = words.model;
  request.inputsPath = words.inputs;
  request.fp32 = words.fp32;
  request.disable = words.disable;
  request.decision = words.decision;
  request.decisionOutput = words.decisionOutput;
  request.tie = words.tie;
  request.noiseFloor = !words.noNoiseFloor;
  request.store = !words.noSave;
  for (const auto& set : {setSamples, setNumbers})
    if (auto good = set(words, request); !good) return good.error();
  if (auto good = session::checkScanRequest(request); !good) return good.error();
  return request;
}

Result<json> askForScan(const session::ScanRequest& request) {
  if (request.store)
    if (auto writable = storage::checkWritable(request.sessionPath, storage::WriteMode::append); !writable) return writable.error();
  auto client = EngineClient::start();
  if (!client) return client.error();
  auto answer = client.value().ask([&](int id) { return protocol::encodeScan(id, request); }, shownPath(request.sessionPath), {"inputs", "", std::chrono::milliseconds(100)});
  if (!answer && request.store) static_cast<void>(storage::removeDeadParts(request.sessionPath));  // an engine that was killed could not clear up
  return answer;
}

// From the session where it was stored, else from the answer.
Result<session::Scan> scanOf(const json& answer, const session::ScanRequest& request) {
  try {
    if (answer.contains("record")) return session::scanFromJson(answer.at("record"));
    const auto session = storage::openSession(request.sessionPath);
    if (!session) return session.error();
    return storage::readScan(request.sessionPath, session.value(), answer.at("scan"));
  } catch (const json::exception& e) {
    return Error{ErrorKind::internal, std::string("the engine's answer is no scan: ") + e.what(), request.sessionPath, ""};
  }
}

Outcome print(const ScanWords& words, const session::Scan& scan, const session::Session& session) {
  const auto written = writeJson(words.json, session::scanDocument(scan, words.session));
  if (words.json != "-") {
    fmt::print("{}", report::scanSummary(scan, session.samples));
    if (scan.number > 0) fmt::print("Session: {} (scan {}); open it with: ulpscope gui {}\n", words.session, scan.number, base::shellWord(words.session));
  }
  if (!written) return written.error();
  return 0;
}

Outcome showStored(const ScanWords& words, const session::Session& session) {
  if (words.list) {
    fmt::print("{}", report::scanListText(session));
    return 0;
  }
  const auto number = wholeNumber(words.show, "--show " + words.show, {1, 9999});
  if (!number) return number.error();
  const auto scan = storage::readScan(words.session, session, static_cast<int>(number.value()));
  return scan ? print(words, scan.value(), session) : Outcome(scan.error());
}

// The first option that was given and means nothing beside the kind of scan.
std::string idleOption(const CLI::App& command, const ScanWords& words) {
  std::vector<std::string> idle;
  if (!words.isSegment()) idle.push_back("--steps");
  if (words.plane.empty()) idle.insert(idle.end(), {"--grid", "--margin"});
  if (!words.followsGradients) idle.push_back("--limit");
  if (words.list || !words.show.empty())
    idle.insert(idle.end(), {"--run", "--fp32", "--disable", "--decision", "--decision-output", "--tie", "--batch-size", "--no-noise-floor", "--model", "--inputs", "--no-save"});
  if (words.list) idle.insert(idle.end(), {"--show", "--json"});
  for (const std::string& option : idle)
    if (command.count(option) > 0) return option;
  return {};
}

Outcome scanAction(const ScanWords& words) {
  if (!words.idle.empty()) {
    const std::string with = words.list ? "--list" : !words.show.empty() ? "--show" : words.followsGradients ? "--near" : !words.plane.empty() ? "--plane" : "--from and --to";
    return usage(words.idle, "says nothing beside " + with, "leave it out");
  }
  if (words.session.empty()) return usage("scan", "which session? SESSION is missing", "for instance: ulpscope scan model-fp16.ulps --from 3 --to 17");
  const bool stored = words.list || !words.show.empty();
  if (stored && (words.isSegment() || words.followsGradients || !words.plane.empty())) return usage(words.list ? "--list" : "--show", "only reads the session", "leave out --from, --to, --near and --plane");
  auto request = stored ? Result<session::ScanRequest>(session::ScanRequest()) : requestOf(words);
  if (!request) return request.error();
  const auto session = storage::openSession(words.session);
  if (!session) return session.error();
  if (stored) return showStored(words, session.value());
  const auto run = runNamed(session.value(), words.run, words.session);
  if (!run) return run.error();
  request.value().runId = run.value()->id();
  const auto answer = askForScan(request.value());
  if (!answer) return answer.error();
  const auto scan = scanOf(answer.value(), request.value());
  if (!scan) return scan.error();
  const Outcome printed = print(words, scan.value(), session.value());
  if (!printed || !answer->contains("not_stored")) return printed;
  const Error notStored = base::errorFromJson(answer->at("not_stored"));
  std::fprintf(stderr, "ulpscope: %s\n", notStored.message().c_str());  // the document of the scan stays
  return base::exitCode(notStored.kind);
}

constexpr const char* kHelp =
    "Looks between samples: where FP32 and autocast put the boundary, and how wide the strip is in which they disagree.\n\n"
    "Examples:\n"
    "  ulpscope scan model-fp16.ulps --from 3 --to 17                      from sample 3 to sample 17: crossings to the last float32 step\n"
    "  ulpscope scan model-fp16.ulps --from 3 --to 17 --fp32 encoder.0     the same with a module in FP32\n"
    "  ulpscope scan model-fp16.ulps --near 3,17                           the smallest step along the margin's gradient that flips each run\n"
    "  ulpscope scan model-fp16.ulps --plane 3 17 40                       both runs' decisions on the plane through three samples\n\n"
    "What a run changes and changes back between two points that were looked at is not seen: more --steps, or a finer --grid, may find more.\n";

void addOptions(CLI::App& command, ScanWords& words) {
  command.add_option("SESSION", words.session, "a session with a run; model and inputs must be as they were");
  command.add_option("--from", words.from, "id of the sample at t = 0")->type_name("A");
  command.add_option("--to", words.to, "id of the sample at t = 1")->type_name("B");
  command.add_option("--steps", words.steps, "points of the grid from 0 to 1 (default 1001)")->type_name("N");
  command.add_option("--near", words.near, "from these samples (a,b; default all; JSON where an id has a comma: '[\"a,1\"]') along the margin's gradient, until each run flips")->expected(0, 1)->allow_extra_args(false)->take_all()->type_name("IDS");
  command.add_option("--limit", words.limit, "the largest step of --near, in parts of the input's L2 norm (default 1)")->type_name("R");
  command.add_option("--plane", words.plane, "the plane A + u (B - A) + v (C - A) through three samples")->expected(3)->type_name("A B C");
  command.add_option("--grid", words.grid, "points on a side of the plane (default 64)")->type_name("N");
  command.add_option("--margin", words.margin, "how far the plane goes beyond the samples, in parts of its sides (default 0)")->type_name("M");
  command.add_option("--run", words.run, "whose settings hold (default: the latest over all samples)")->type_name("RUN");
  addList(command, "--fp32", words.fp32, "keep this module in FP32 too (repeatable)")->type_name("PATH");
  addList(command, "--disable", words.disable, "autocast off in this module too, its inputs as they are (repeatable)")->type_name("PATH");
  command.add_option("--decision", words.decision, "another rule than the run's: argmax[:DIM], argmin[:DIM], topk:K[:DIM], threshold:T[:gt|ge], exact")->type_name("R");
  command.add_option("--decision-output", words.decisionOutput, "output that the decision is read off")->type_name("NAME");
  command.add_option("--tie", words.tie, "another tie rule than the run's: first, flag or refuse")->type_name("RULE");
  command.add_option("--batch-size", words.batchSize, "inputs a forward, filled up where there are fewer (default: the run's)")->type_name("N");
  command.add_flag("--no-noise-floor", words.noNoiseFloor, "do not run FP32 once more in another order (faster)");
  command.add_option("--model", words.model, "where the session's model is now")->type_name("F");
  command.add_option("--inputs", words.inputs, "where the session's inputs are now")->type_name("F");
  command.add_flag("--no-save", words.noSave, "do not store the scan in the session");
  command.add_flag("--list", words.list, "list the session's scans; scans nothing");
  command.add_option("--show", words.show, "show one of them; scans nothing")->type_name("N");
  command.add_option("--json", words.json, "write the scan document (resources/schema/scan.schema.json) to F ('-': standard output)")->type_name("F");
}

}  // namespace

void addScan(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("scan", kHelp);
  auto words = std::make_shared<ScanWords>();
  addOptions(*command, *words);
  CLI::Option* near = command->get_option("--near");
  command->callback([words, near, command, &invocation] {
    words->followsGradients = near->count() > 0;
    const bool isKnown = words->list || !words->show.empty() || words->isSegment() || words->followsGradients || !words->plane.empty();
    words->idle = isKnown ? idleOption(*command, *words) : std::string();
    invocation.action = [words] { return scanAction(*words); };
  });
}

}  // namespace ulpscope::cli
