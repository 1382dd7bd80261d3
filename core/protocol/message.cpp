#include "core/protocol/message.h"

#include "core/base/json_text.h"

#include <array>
#include <limits>

namespace ulpscope::protocol {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;
using Kind = Message::Kind;

struct Method {
  Kind kind;
  const char* name;
};
constexpr std::array<Method, 9> kMethods{{{Kind::hello, "hello"},
                                          {Kind::inspect, "inspect"},
                                          {Kind::open, "open"},
                                          {Kind::run, "run"},
                                          {Kind::train, "train"},
                                          {Kind::scan, "scan"},
                                          {Kind::benchmark, "benchmark"},
                                          {Kind::cancel, "cancel"},
                                          {Kind::shutdown, "shutdown"}}};

constexpr std::array<const char*, 3> kParts{"reference_memory", "candidate_memory", "times"};  // as BenchmarkRequest::Part

// Paths and messages of other libraries need not be UTF-8; a bad byte becomes U+FFFD instead of an exception.
std::string line(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

std::string request(int id, const char* method, json params) {
  return line({{"id", id}, {"method", method}, {"params", std::move(params)}});
}

Error notAMessage(const std::string& why) {
  return Error{ErrorKind::internal, "not a message of protocol " + std::to_string(kVersion) + ": " + why, "", ""};
}

// Text as it may stand in an error: one line, short.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kLimit = 80;
  std::string shown(text.substr(0, kLimit));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return "'" + shown + (text.size() > kLimit ? "...'" : "'");
}

Result<Message> parseRequest(const json& object, Message message) {
  const std::string method = object.at("method");
  for (const Method& known : kMethods) {
    if (method != known.name) continue;
    message.kind = known.kind;
    message.body = object.value("params", json::object());
    if (!message.body.is_object()) return notAMessage("params of " + method + " is no object");
    return message;
  }
  return notAMessage("unknown method " + excerpt(method));
}

base::Progress progressFrom(const json& j) {
  base::Progress progress;
  progress.stage = j.at("stage");
  progress.modulePath = j.value("module", "");
  progress.op = j.value("op", "");
  progress.done = j.value("done", std::int64_t{0});
  progress.total = j.value("total", std::int64_t{0});
  if (const auto left = j.find("seconds_left"); left != j.end() && left->is_number()) progress.secondsLeft = *left;
  return progress;
}

Result<Message> parseAnswer(const json& object, Message message) {
  if (object.contains("progress")) {
    message.kind = Kind::progress;
    message.progress = progressFrom(object["progress"]);
    return message;
  }
  if (object.contains("experiment")) {
    auto experiment = experimentFromJson(object["experiment"]);
    if (!experiment) return notAMessage(experiment.error().message());
    message.kind = Kind::experiment;
    message.experiment = std::move(experiment).value();
    return message;
  }
  if (object.contains("cells")) {
    auto cells = cellBlockFromJson(object["cells"]);
    if (!cells) return notAMessage(cells.error().message());
    message.kind = Kind::cells;
    message.cells = std::move(cells).value();
    return message;
  }
  if (object.contains("ledger")) {
    message.kind = Kind::ledger;
    message.ledger = {object["ledger"].at("run"), session::ledgerLineFromJson(object["ledger"].at("line"))};
    return message;
  }
  if (object.contains("result")) {
    message.kind = Kind::result;
    message.body = object["result"];
    return message;
  }
  if (!object.contains("error")) return notAMessage("it has neither method, progress, experiment, cells, ledger, result nor error");
  if (!object["error"].is_object()) return notAMessage("error is no object");
  message.kind = Kind::error;
  message.error = base::errorFromJson(object["error"]);
  return message;
}

}  // namespace

std::string encodeHello(int id) { return request(id, "hello", {{"protocol", kVersion}}); }

std::string encodeInspect(int id, const std::string& modelPath, const std::string& target) {
  return request(id, "inspect", {{"model", modelPath}, {"target", target}});
}

std::string encodeOpen(int id, const session::RunRequest& runRequest) { return request(id, "open", toJson(runRequest)); }

std::string encodeRun(int id, const session::RunRequest& runRequest, Live live) {
  json params = toJson(runRequest);
  if (live == Live::yes) params["live"] = true;
  return request(id, "run", std::move(params));
}

std::string encodeTrain(int id, const TrainRequest& r) {
  return request(id, "train", {{"recipe", r.recipePath}, {"session", r.sessionPath}, {"append", r.append}, {"isolate", r.isolate},
                              {"checkpoint_every", r.checkpointEvery}, {"resume", r.resume}, {"replay", r.replay}, {"compare", r.compare}, {"change", r.change}, {"revision_reason", r.revisionReason}});
}

Result<TrainRequest> trainRequestFrom(const json& params) try {
  return TrainRequest{params.at("recipe"), params.at("session"), params.at("append"), params.at("isolate"), params.value("checkpoint_every", std::int64_t{0}),
                      params.value("resume", ""), params.value("replay", ""), params.value("compare", ""), params.value("change", ""), params.value("revision_reason", "")};
} catch (const json::exception& e) {
  return notAMessage(e.what());
}

std::string encodeScan(int id, const session::ScanRequest& r) { return request(id, "scan", toJson(r)); }
std::string encodeBenchmark(int id, const BenchmarkRequest& r) {
  return request(id, "benchmark", {{"part", kParts[static_cast<std::size_t>(r.part)]}, {"session", r.sessionPath}, {"run_id", r.runId}, {"training", r.training},
                                   {"pairs", r.pairs}, {"threads", r.threads}, {"reference_memory", toJson(r.reference)}, {"candidate_memory", toJson(r.candidate)}});
}

Result<BenchmarkRequest> benchmarkRequestFrom(const json& params) try {
  const std::string part = params.at("part");
  for (std::size_t i = 0; i < kParts.size(); ++i)
    if (part == kParts[i])
      return BenchmarkRequest{static_cast<BenchmarkRequest::Part>(i), params.at("session"), params.at("run_id"), params.at("training"), params.at("pairs"), params.at("threads"),
                              session::peakMemoryFromJson(params.at("reference_memory")), session::peakMemoryFromJson(params.at("candidate_memory"))};
  return notAMessage("unknown part " + excerpt(part));
} catch (const json::exception& e) {
  return notAMessage(e.what());
}

std::string encodeCancel(int id, int runId) { return request(id, "cancel", {{"run", runId}}); }
std::string encodeShutdown(int id) { return request(id, "shutdown", json::object()); }

std::string encodeProgress(int id, const base::Progress& p) {
  return line({{"id", id},
               {"progress",
                {{"stage", p.stage}, {"module", p.modulePath}, {"op", p.op}, {"done", p.done}, {"total", p.total},
                 {"seconds_left", p.secondsLeft < 0 ? json(nullptr) : json(p.secondsLeft)}}}});
}

std::string encodeExperiment(int id, const LiveExperiment& experiment) { return line({{"id", id}, {"experiment", toJson(experiment)}}); }
std::string encodeCells(int id, const CellBlock& block) { return line({{"id", id}, {"cells", toJson(block)}}); }
std::string encodeLedger(int id, const LedgerUpdate& update) { return line({{"id", id}, {"ledger", {{"run", update.run}, {"line", session::toJson(update.line)}}}}); }
std::string encodeResult(int id, const json& result) { return line({{"id", id}, {"result", result}}); }
std::string encodeError(int id, const Error& error) { return line({{"id", id}, {"error", base::toJson(error)}}); }

Result<Message> parseMessage(std::string_view text) try {
  if (base::isTooDeep(text)) return notAMessage("it is nested too deep");
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return notAMessage("no JSON object: " + excerpt(text));
  if (!object.contains("id") || !object["id"].is_number_integer()) return notAMessage("it has no whole number as id");
  const double id = object["id"];
  if (id < 0 || id > std::numeric_limits<int>::max()) return notAMessage("its id is out of range");
  Message message;
  message.id = object["id"];
  return object.contains("method") ? parseRequest(object, std::move(message)) : parseAnswer(object, std::move(message));
} catch (const json::exception& e) {
  return notAMessage(e.what());
}

}  // namespace ulpscope::protocol
