#include "commands.h"
#include "core/analysis/event_order.h"
#include "core/report/training_text.h"
#include "core/session/recipe.h"
#include "core/storage/session_care.h"
#include "core/storage/session_store.h"
#include "core/storage/training_store.h"
#include "engine_client.h"
#include "json_output.h"
#include "run_command_line.h"
#include "train_audit.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

// A training that is cancelled stores the steps that it did.
constexpr std::chrono::seconds kStorePatience{10};

struct TrainWords {
  std::string recipe, session, json, events, audit;
  bool append = false, isolate = false;
};

json violationsJson(const std::vector<analysis::OrderViolation>& violations) {
  json list = json::array();
  for (const auto& v : violations)
    list.push_back({{"step", v.step}, {"event", v.event}, {"optimizer", v.optimizer}, {"run", v.run}, {"rule", analysis::name(v.rule)}, {"text", analysis::explanation(v.rule)}});
  return list;
}

// A log of somebody's own loop: nothing runs.
Outcome checkEvents(const TrainWords& words) {
  const auto log = session::readEventLog(words.events);
  if (!log) return log.error();
  const auto violations = analysis::checkOrder(log.value());
  if (!words.json.empty())
    if (auto written = writeJson(words.json, {{"schema", 1}, {"events", log->events.size()}, {"violations", violationsJson(violations)}}); !written) return written.error();
  if (words.json != "-") fmt::print("{}: {} events\n{}", words.events, log->events.size(), report::orderText(violations));
  return 0;
}

std::string sessionFor(const TrainWords& words) {
  return words.session.empty() ? std::filesystem::path(words.recipe).stem().string() + "-training.ulps" : words.session;
}

Result<int> askForTraining(const TrainWords& words, const std::string& sessionPath) {
  // What is wrong with the recipe or the target is said before an engine is started.
  if (const auto recipe = session::readRecipe(words.recipe); !recipe) return recipe.error();
  const auto mode = words.append ? storage::WriteMode::share : storage::WriteMode::create;
  if (const auto writable = storage::checkTrainingWritable(sessionPath, mode); !writable) return writable.error();
  auto client = EngineClient::start();
  if (!client) return client.error();
  const auto answer = client.value().ask([&](int id) { return protocol::encodeTrain(id, {words.recipe, sessionPath, words.append, words.isolate}); }, words.recipe, kStorePatience);
  if (!answer) {
    static_cast<void>(storage::removeDeadParts(sessionPath));  // an engine that was killed could not clear up
    return answer.error();
  }
  const auto number = answer->find("training");
  if (number == answer->end() || !number->is_number_integer()) return Error{ErrorKind::internal, "the engine's answer names no training", words.recipe, ""};
  return number->get<int>();
}

int exitCodeOf(const session::Training& training) {
  if (training.verdict && training.verdict->status == session::JudgedAs::fail) return 1;
  if (training.cancelled) return base::exitCode(ErrorKind::cancelled);
  return training.verdict && training.verdict->status == session::JudgedAs::notEvaluated ? base::exitCode(ErrorKind::inconclusive) : 0;
}

Outcome train(const TrainWords& words) {
  const std::string sessionPath = sessionFor(words);
  const auto number = askForTraining(words, sessionPath);
  if (!number) return number.error();
  const auto session = storage::openSession(sessionPath);
  if (!session) return session.error();
  const auto training = storage::readTraining(sessionPath, session.value(), number.value());
  if (!training) return training.error();
  json document = session::trainingDocument(training.value());
  document["session"] = sessionPath;
  const auto written = writeJson(words.json, document);
  if (words.json != "-") fmt::print("{}Session: {} (training {}); open it with: ulpscope gui {}\n", report::trainingSummary(training.value()), sessionPath, number.value(), shellWord(sessionPath));
  if (!written) return written.error();
  return exitCodeOf(training.value());
}

Outcome trainAction(const TrainWords& words) {
  if (!words.audit.empty()) {
    const bool alone = words.recipe.empty() && words.events.empty() && words.session.empty() && !words.append && !words.isolate;
    return alone ? auditTrainings(words.audit, words.json) : Outcome(Error{ErrorKind::usage, "only reads records, so nothing but --json goes with it", "--audit", "leave the rest out"});
  }
  if (words.recipe.empty() == words.events.empty()) return Error{ErrorKind::usage, "needs a recipe, a log with --check-events, or a folder with --audit", "train", "see ulpscope train --help"};
  if (words.events.empty()) return train(words);
  if (words.isolate || words.append || !words.session.empty()) return Error{ErrorKind::usage, "only reads a log, so --session, --append and --isolate mean nothing", "--check-events", "leave them out"};
  return checkEvents(words);
}

constexpr const char* kHelp =
    "Trains a model by a recipe, and accounts for every update: skipped steps, scale, gradients, order.\n\n"
    "RECIPE.json, its paths relative to itself (resources/schema/recipe.schema.json has every key):\n"
    "  {\"model\": \"model.ts\", \"inputs\": \"inputs.h5\", \"loss\": {\"kind\": \"cross_entropy\"}, \"steps\": 200, \"batch_size\": 32,\n"
    "   \"optimizers\": [{\"type\": \"Adam\", \"lr\": 0.001}], \"autocast\": {\"dtype\": \"float16\"}, \"scaler\": {\"init_scale\": 65536}}\n\n"
    "Examples:\n"
    "  ulpscope train recipe.json --session training.ulps\n"
    "  ulpscope train recipe.json --session training.ulps --isolate     autocast off/on x scaling off/on, from the same start\n"
    "  ulpscope train --check-events loop.jsonl                         the order of calls of your own Python loop\n"
    "  ulpscope train --audit DIR                                       what a resumed run did not restore\n";

}  // namespace

void addTrain(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("train", std::string(kHelp) + kAuditHelp);
  auto words = std::make_shared<TrainWords>();
  command->add_option("RECIPE", words->recipe, "the recipe (JSON)");
  command->add_option("--session", words->session, "where to store it (default: RECIPE's name with -training.ulps)")->type_name("OUT");
  command->add_flag("--append", words->append, "add to the session, made where it does not exist");
  command->add_flag("--isolate", words->isolate, "also the other cells of autocast off/on x scaling off/on, and without the FP32 regions");
  command->add_option("--check-events", words->events, "check the order of a log of your own loop (JSON lines); trains nothing")->type_name("LOG");
  command->add_option("--audit", words->audit, "compare the records of an uninterrupted and a resumed run in DIR, bit by bit; trains nothing")->type_name("DIR");
  command->add_option("--json", words->json, "write the training document to F ('-': standard output)")->type_name("F");
  command->callback([words, &invocation] { invocation.action = [words] { return trainAction(*words); }; });
}

}  // namespace ulpscope::cli
