#include "commands.h"
#include "core/analysis/event_order.h"
#include "core/analysis/training_verdict.h"
#include "core/base/shell_word.h"
#include "core/report/training_text.h"
#include "core/report/training_verdict_text.h"
#include "core/session/recipe.h"
#include "core/storage/session_care.h"
#include "core/storage/session_store.h"
#include "core/storage/training_folder.h"
#include "core/storage/training_store.h"
#include "engine_client.h"
#include "json_output.h"
#include "train_audit.h"
#include "train_import.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
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
  std::string recipe, session, json, events, audit, log, revisionReason;
  std::string resume, change, replay, compare;
  std::int64_t checkpointEvery = 0;
  bool append = false, isolate = false;

  // The checkpoint, or case, that it begins with.
  const std::string& from() const { return !resume.empty() ? resume : !replay.empty() ? replay : compare; }
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
  if (!words.session.empty()) return words.session;
  const std::string stem = std::filesystem::path(words.from().empty() || !words.resume.empty() ? words.recipe : words.from()).stem().string();
  return stem + (!words.compare.empty() ? "-compared.ulps" : !words.replay.empty() ? "-replayed.ulps" : "-training.ulps");
}

Result<json> askForTraining(const TrainWords& words, const std::string& sessionPath) {
  // What is wrong with the recipe or the target is said before an engine is started.
  const auto recipe = session::readRecipe(words.recipe);
  if (!recipe) return recipe.error();
  const auto mode = words.append ? storage::WriteMode::share : storage::WriteMode::create;
  if (const auto writable = storage::checkTrainingWritable(sessionPath, mode); !writable) return writable.error();
  if (const auto criteria = storage::criteriaForTraining(sessionPath, {session::canonicalText(recipe->criteria), words.revisionReason}); !criteria) return criteria.error();
  auto client = EngineClient::start();
  if (!client) return client.error();
  const protocol::TrainRequest request{words.recipe, sessionPath,  words.append,  words.isolate, words.checkpointEvery,
                                       words.resume, words.replay, words.compare, words.change,  words.revisionReason};
  const RequestManner manner{words.compare.empty() ? "steps" : "samples", words.compare.empty() ? "the steps of this training are lost, but for its checkpoints" : "", kStorePatience};
  auto answer = client.value().ask([&](int id) { return protocol::encodeTrain(id, request); }, words.recipe, manner);
  if (!answer) static_cast<void>(storage::removeDeadParts(sessionPath));  // an engine that was killed could not clear up
  return answer;
}

int exitCodeOf(const session::Training& training) {
  const auto alarmed = [&](const std::string& id) { return !training.runs.empty() && analysis::hasAlarm(training.runs.front(), id); };
  if (training.cancelled) return base::exitCode(ErrorKind::cancelled);
  if (training.rollback || (training.verdict && training.verdict->status == session::JudgedAs::fail)) return 1;
  if (alarmed("fp32_nonfinite") || (!training.runs.empty() && training.runs.front().failed)) return base::exitCode(ErrorKind::run);
  const bool noVerdict = training.verdict && training.verdict->status == session::JudgedAs::notEvaluated;
  return noVerdict || alarmed("nothing_autocast") ? base::exitCode(ErrorKind::inconclusive) : 0;
}

std::string openText(const std::string& sessionPath, const std::string& what) { return fmt::format("Session: {} ({}); open it with: ulpscope gui {}\n", sessionPath, what, base::shellWord(sessionPath)); }

Outcome compared(const TrainWords& words, const std::string& sessionPath, const json& answer) {
  const std::string summary = answer.value("summary", "");
  const auto written = writeJson(words.json, {{"schema", 1}, {"session", sessionPath}, {"run_id", answer.value("run_id", "")}, {"summary", summary}});
  if (words.json != "-") fmt::print("{:<12} {}\n{}Go on with: ulpscope train --resume {}\n", "Compared", summary, openText(sessionPath, "FP32 and autocast at the checkpoint"), base::shellWord(words.compare));
  if (!written) return written.error();
  return 0;
}

std::string replayText(const json& answer) {
  if (answer.value("reproduced", false)) return "Replayed     the same numbers to the last bit; the session's run shows the step's batch op by op\n";
  return "NOT REPRODUCED " + answer.value("difference", "") + "\n";
}

// Writes and prints what came of it; `answer` is the engine's, null where there was none.
Outcome tell(const TrainWords& words, const std::string& sessionPath, const session::Training& training, const json& answer) {
  const auto session = storage::openSession(sessionPath);
  if (!session) return session.error();
  const auto locked = storage::lockedTrainingCriteria(sessionPath, session.value());
  json document = report::trainingDocument(training, locked, sessionPath);
  const bool isReplay = !words.replay.empty();
  for (const char* key : {"run_id", "reproduced", "difference"})
    if (isReplay) document[key] = answer.value(key, json());
  const auto written = writeJson(words.json, document);
  const std::string criteria = report::trainingCriteriaLine(training, locked);
  if (words.json != "-")
    fmt::print("{}{}{}{}{}", isReplay ? replayText(answer) : "", report::trainingSummary(training), criteria.empty() ? "" : "  " + criteria, criteria.empty() ? "" : "\n",
               openText(sessionPath, fmt::format("training {}", training.number)));
  if (!written) return written.error();
  if (training.cancelled) std::fprintf(stderr, "ulpscope: cancelled; what was done until then is stored as training %d of %s\n", training.number, sessionPath.c_str());
  if (isReplay) return answer.value("reproduced", false) ? 0 : base::exitCode(ErrorKind::inconclusive);
  return exitCodeOf(training);
}

Outcome train(const TrainWords& words) {
  const std::string sessionPath = sessionFor(words);
  const auto answer = askForTraining(words, sessionPath);
  if (!answer) return answer.error();
  if (!words.compare.empty()) return compared(words, sessionPath, answer.value());
  const auto number = answer->find("training");
  if (number == answer->end() || !number->is_number_integer()) return Error{ErrorKind::internal, "the engine's answer names no training", words.recipe, ""};
  const auto session = storage::openSession(sessionPath);
  if (!session) return session.error();
  const auto training = storage::readTraining(sessionPath, session.value(), number->get<int>());
  if (!training) return training.error();
  return tell(words, sessionPath, training.value(), answer.value());
}

Outcome importLog(const TrainWords& words) {
  const bool alone = words.recipe.empty() && words.events.empty() && words.audit.empty() && words.from().empty() && words.revisionReason.empty() && !words.isolate && words.checkpointEvery == 0;
  if (!alone) return Error{ErrorKind::usage, "only reads a log, so nothing but --session, --append and --json goes with it", "--import", "leave the others out"};
  const auto imported = importTraining(words.log, words.session, words.append);
  if (!imported) return imported.error();
  return tell(words, imported->sessionPath, imported->training, json());
}

Error means(const char* option, const std::string& what) { return {ErrorKind::usage, what, option, "leave it out"}; }

// What goes together.
base::Status checkWords(const TrainWords& words) {
  const int ways = static_cast<int>(!words.resume.empty()) + static_cast<int>(!words.replay.empty()) + static_cast<int>(!words.compare.empty());
  if (ways > 1) return means("--resume, --replay, --compare", "exclude each other");
  if (!words.change.empty() && words.resume.empty()) return means("--change", "names what a resume changes");
  const bool once = !words.replay.empty() || !words.compare.empty();
  if (once && words.append) return means("--append", "means nothing here: the result is a session of its own");
  if (once && !words.revisionReason.empty()) return means("--revise-criteria", "means nothing here: the result is a session of its own");
  if (once && words.isolate) return means("--isolate", "means nothing here: nothing is trained beside it");
  if (once && words.checkpointEvery > 0) return means("--checkpoint-every", "means nothing here: no checkpoint is taken");
  return base::success();
}

Outcome trainAction(TrainWords words) {
  if (!words.log.empty()) return importLog(words);
  if (!words.audit.empty()) {
    const bool alone = words.recipe.empty() && words.events.empty() && words.session.empty() && words.from().empty() && !words.append && !words.isolate;
    return alone ? auditTrainings(words.audit, words.json) : Outcome(means("--audit", "only reads records, so nothing but --json goes with it"));
  }
  // The recipe that the checkpoints were trained by lies beside them.
  if (words.recipe.empty() && !words.from().empty()) {
    words.recipe = storage::TrainingFolder::around(words.from()).recipeFile();
    if (!std::filesystem::exists(words.recipe)) return Error{ErrorKind::input, "has no recipe.json beside it", words.from(), "check that this is the file you meant, or name the RECIPE that it was trained by"};
  }
  if (words.recipe.empty() == words.events.empty()) return Error{ErrorKind::usage, "needs a recipe, a log with --check-events or --import, or a folder with --audit", "train", "see ulpscope train --help"};
  if (auto together = checkWords(words); !together) return together.error();
  if (words.events.empty()) return train(words);
  if (words.isolate || words.append || !words.session.empty() || !words.revisionReason.empty())
    return Error{ErrorKind::usage, "only reads a log, so --session, --append, --isolate and --revise-criteria mean nothing", "--check-events", "leave them out"};
  return checkEvents(words);
}

constexpr const char* kHelp =
    "Trains a model by a recipe, and accounts for every update: skipped steps, scale, gradients, order.\n\n"
    "RECIPE.json, its paths relative to itself (resources/schema/recipe.schema.json has every key):\n"
    "  {\"model\": \"model.ts\", \"inputs\": \"inputs.h5\", \"loss\": {\"kind\": \"cross_entropy\"}, \"steps\": 200, \"batch_size\": 32,\n"
    "   \"optimizers\": [{\"type\": \"Adam\", \"lr\": 0.001}], \"autocast\": {\"dtype\": \"float16\"}, \"scaler\": {\"init_scale\": 65536}}\n\n"
    "Its criteria are locked in the session by the first training that has any: later ones are held against the same.\n\n"
    "Examples:\n"
    "  ulpscope train recipe.json --session training.ulps\n"
    "  ulpscope train recipe.json --session training.ulps --isolate     autocast off/on x scaling off/on, from the same start\n"
    "  ulpscope train recipe.json --session t.ulps --checkpoint-every 50\n"
    "  ulpscope train --resume t.ulps.d/train-0001.checkpoints/step-00000100.h5 --session t.ulps --append\n"
    "  ulpscope train --check-events loop.jsonl                         the order of calls of your own Python loop\n"
    "  ulpscope train --import loop.jsonl --session loop.ulps           the same and its ledger as a training of a session\n"
    "  ulpscope train --audit DIR                                       what a resumed run did not restore\n\n"
    "A log for --check-events, its head and the first calls (resources/schema/events.schema.json has every event):\n"
    "  {\"ulpscope_events\": 1, \"optimizers\": [\"adam\"], \"scaler\": true, \"autocast\": true, \"accumulation\": 1}\n"
    "  {\"iteration\": 0, \"event\": \"zero_grad\", \"optimizer\": \"adam\"}\n"
    "  {\"iteration\": 0, \"event\": \"autocast_begin\"}\n"
    "  {\"iteration\": 0, \"event\": \"forward\"}\n";

}  // namespace

void addTrain(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("train", std::string(kHelp) + kImportHelp + kAuditHelp);
  auto words = std::make_shared<TrainWords>();
  command->add_option("RECIPE", words->recipe, "the recipe (JSON)");
  command->add_option("--session", words->session, "where to store it (default: RECIPE's name with -training.ulps)")->type_name("OUT");
  command->add_flag("--append", words->append, "add to the session, made where it does not exist");
  command->add_flag("--isolate", words->isolate, "also the other cells of autocast off/on x scaling off/on, and without the FP32 regions");
  command->add_option("--checkpoint-every", words->checkpointEvery, "take a checkpoint each N steps, and before the first and after the last (default: as the recipe says)")->type_name("N")->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}));
  command->add_option("--resume", words->resume, "go on from a checkpoint, to the last bit as if nothing had happened; RECIPE is then the recipe.json beside it unless you name one")->type_name("CHECKPOINT");
  command->add_option("--change", words->change, "with --resume: the name of what RECIPE changes in precision or scaling; recorded and shown")->type_name("NAME");
  command->add_option("--replay", words->replay, "do the step again that made a training go back: trains up to it and runs its batch op by op")->type_name("CASE");
  command->add_option("--compare", words->compare, "run the model as it stands in a checkpoint on the recipe's inputs, FP32 and autocast; trains nothing")->type_name("CHECKPOINT");
  command->add_option("--revise-criteria", words->revisionReason, "the recipe's criteria take the place of the session's, and every verdict by them says so")->type_name("REASON");
  command->add_option("--check-events", words->events, "check the order of a log of your own loop (JSON lines); trains nothing")->type_name("LOG");
  command->add_option("--import", words->log, "take the log of your own loop, and the ledger beside it, into a session, which the window shows; trains nothing")->type_name("LOG");
  command->add_option("--audit", words->audit, "compare the records of an uninterrupted and a resumed run in DIR, bit by bit; trains nothing")->type_name("DIR");
  command->add_option("--json", words->json, "write the training document (resources/schema/training.schema.json) to F ('-': standard output)")->type_name("F");
  command->callback([words, &invocation] { invocation.action = [words] { return trainAction(*words); }; });
}

}  // namespace ulpscope::cli
