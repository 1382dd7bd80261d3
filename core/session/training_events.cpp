#include "core/session/training_events.h"

#include "core/base/file_kind.h"
#include "core/base/json_text.h"
#include "core/base/nearest_names.h"
#include "core/session/json_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

const std::vector<std::string>& eventNames() {
  static const std::vector<std::string> names{"zero_grad", "autocast_begin", "autocast_end",   "forward", "loss",           "scale",     "backward", "unscale_",
                                              "guard",     "clip",           "step", "optimizer_step", "update",  "scheduler_step", "new_scaler", "checkpoint"};
  return names;
}

LoopFacts factsFrom(Section s) {
  LoopFacts facts;
  if (!s.has("ulpscope_events")) s.fail("ulpscope_events", "is missing", "begin the log with its head: {\"ulpscope_events\": 1, \"optimizers\": [\"NAME\"]}");
  if (s.whole("ulpscope_events", 0, 0) != 1) s.fail("ulpscope_events", "is not the version that this program reads", "write 1, or use a newer Ulpscope");
  facts.optimizers = s.texts("optimizers");
  if (facts.optimizers.empty()) s.fail("optimizers", "names no optimizer");
  for (std::size_t i = 0; i < facts.optimizers.size(); ++i)
    if (std::find(facts.optimizers.begin(), facts.optimizers.begin() + static_cast<std::ptrdiff_t>(i), facts.optimizers[i]) != facts.optimizers.begin() + static_cast<std::ptrdiff_t>(i))
      s.fail("optimizers", "'" + facts.optimizers[i] + "' stands twice", "give each optimizer a name of its own");
  facts.hasScaler = s.flag("scaler", true);
  facts.hasAutocast = s.flag("autocast", true);
  facts.accumulation = s.whole("accumulation", 1, 1);
  s.refuseUnknown();
  return facts;
}

std::vector<std::string> savedFrom(Section& s) {
  std::vector<std::string> saved = s.texts("saved");
  for (const std::string& state : saved)
    if (std::find(savableStates().begin(), savableStates().end(), state) == savableStates().end()) s.fail("saved", "'" + state + "' is not one of " + base::quotedChoice(savableStates()));
  return saved;
}

TrainingEvent eventFrom(Section s, const LoopFacts& facts) {
  TrainingEvent event;
  if (!s.has("event")) s.fail("event", "is missing");
  const std::string text = s.text("event");
  const auto kind = eventKindFromName(text);
  if (!kind) s.fail("event", "'" + text + "' is no event", "nearest: " + base::quotedChoice(base::nearestNames(text, eventNames())));
  event.kind = *kind;
  event.iteration = s.whole("iteration", 0, 0);
  event.optimizer = s.text("optimizer");
  if (!event.optimizer.empty() && std::find(facts.optimizers.begin(), facts.optimizers.end(), event.optimizer) == facts.optimizers.end())
    s.fail("optimizer", "'" + event.optimizer + "' is not among the first line's " + base::quotedChoice(facts.optimizers));
  event.scaler = s.text("scaler");
  event.run = s.text("run");
  event.api = s.text("api");
  if (s.hasValue("applied")) event.applied = s.flag("applied", false);
  if (event.kind == EventKind::checkpoint && s.hasValue("saved")) event.saved = savedFrom(s);
  s.refuseUnknown();
  return event;
}

json toJson(const TrainingEvent& e) {
  json line = {{"iteration", e.iteration}, {"event", name(e.kind)}};
  for (const auto& [key, value] : {std::pair("optimizer", &e.optimizer), std::pair("scaler", &e.scaler), std::pair("run", &e.run), std::pair("api", &e.api)})
    if (!value->empty()) line[key] = *value;
  if (e.applied) line["applied"] = *e.applied;
  if (e.saved) line["saved"] = *e.saved;
  return line;
}

}  // namespace

std::string name(EventKind kind) { return eventNames()[static_cast<std::size_t>(kind)]; }

std::optional<EventKind> eventKindFromName(const std::string& name) {
  const auto found = std::find(eventNames().begin(), eventNames().end(), name);
  if (found == eventNames().end()) return std::nullopt;
  return static_cast<EventKind>(found - eventNames().begin());
}

const std::vector<std::string>& savableStates() {
  static const std::vector<std::string> states{"model", "optimizer", "scaler", "scheduler", "rng", "data"};
  return states;
}

Result<RecipeEvent> parseRecipeEvent(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string what = text.substr(0, colon);
  const auto kind = eventKindFromName(what);
  if (!kind) return Error{ErrorKind::usage, "is no event of a training loop", "'" + what + "'", "the events are " + base::quotedChoice(eventNames())};
  return RecipeEvent{*kind, colon == std::string::npos ? "" : text.substr(colon + 1)};
}

Result<EventLog> eventLogFromLines(const std::string& text) {
  EventLog log;
  std::istringstream lines(text);
  std::string line;
  std::size_t number = 0;
  bool hasFacts = false;
  while (std::getline(lines, line)) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      const auto object = base::readJson(line, {"", "write one JSON object a line", number});
      if (!object) return object.error();
      Section section(object.value(), fmt::format("line {}", number));
      if (hasFacts) log.events.push_back(eventFrom(std::move(section), log.facts));
      else log.facts = factsFrom(std::move(section));
      hasFacts = true;
    } catch (const SectionFault& fault) {
      return fault.error;
    }
  }
  if (!hasFacts) return Error{ErrorKind::input, "is empty", "event log", "its first line says {\"ulpscope_events\": 1, \"optimizers\": [...]}"};
  return log;
}

Result<EventLog> readEventLog(const std::string& path) {
  if (auto kind = base::checkFileKind(path); !kind) return kind.error();
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorKind::input, "cannot be opened", path, "check the path"};
  auto log = eventLogFromLines({std::istreambuf_iterator<char>(file), {}});
  if (!log) return log.error().within(path);
  log.value().ofUser = true;
  return log;
}

std::string toLines(const EventLog& log) {
  const LoopFacts& f = log.facts;
  std::string text = json{{"ulpscope_events", 1}, {"optimizers", f.optimizers}, {"scaler", f.hasScaler}, {"autocast", f.hasAutocast}, {"accumulation", f.accumulation}}.dump() + "\n";
  for (const TrainingEvent& event : log.events) text += toJson(event).dump() + "\n";
  return text;
}

}  // namespace ulpscope::session
