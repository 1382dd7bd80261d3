#include "core/session/training_ledger.h"

#include "core/base/json_text.h"
#include "core/base/number_text.h"
#include "core/session/json_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <tuple>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

enum class ValueKind { number, whole, flag, digest, rows };

struct StateKey {
  const char* key;
  ValueKind kind;
};

constexpr StateKey kKeys[] = {{"rows", ValueKind::rows},
                              {"rng", ValueKind::digest},
                              {"weights", ValueKind::digest},
                              {"buffers", ValueKind::digest},
                              {"optimizer_state", ValueKind::digest},
                              {"scale_before", ValueKind::number},
                              {"lr", ValueKind::number},
                              {"loss", ValueKind::number},
                              {"scaled_norm", ValueKind::number},
                              {"grad_norm", ValueKind::number},
                              {"clipped_norm", ValueKind::number},
                              {"zero_share", ValueKind::number},
                              {"subnormal_share", ValueKind::number},
                              {"nonfinite_share", ValueKind::number},
                              {"found_inf", ValueKind::flag},
                              {"skipped", ValueKind::flag},
                              {"applied", ValueKind::flag},
                              {"update_norm", ValueKind::number},
                              {"growth_tracker", ValueKind::whole},
                              {"scale_after", ValueKind::number},
                              {"scheduler_steps", ValueKind::whole},
                              {"applied_updates", ValueKind::whole}};

constexpr std::size_t kLongestDigest = 16, kLongestRows = 48;

const StateKey& keyOf(LedgerState state) { return kKeys[static_cast<std::size_t>(state)]; }

double numberIn(const Section& s, const char* key) {
  const json& value = s.at(key);
  const bool isText = value == "NaN" || value == "+inf" || value == "-inf";
  if (!value.is_number() && !isText) s.fail(key, value.dump() + " is no number", "write one, or \"NaN\", \"+inf\", \"-inf\"");
  return base::numberFromJson(value);
}

std::string rowsIn(Section& s, const char* key) {
  const json& value = s.at(key);
  if (value.is_string()) return s.text(key);
  const bool isList = value.is_array() && std::all_of(value.begin(), value.end(), [](const json& row) { return row.is_number_integer() || row.is_string(); });
  if (!isList) s.fail(key, "is neither a list of whole numbers or texts nor a text");
  return value.dump();
}

LedgerValue valueIn(Section& s, const StateKey& state) {
  switch (state.kind) {
    case ValueKind::number: return numberIn(s, state.key);
    case ValueKind::whole: return static_cast<double>(s.whole(state.key, 0, 0));
    case ValueKind::flag: return s.flag(state.key, false) ? 1.0 : 0.0;
    case ValueKind::rows: return rowsIn(s, state.key);
    case ValueKind::digest: return s.text(state.key);
  }
  return 0.0;
}

RecordedLine lineFrom(Section s) {
  RecordedLine line;
  if (!s.hasValue("step")) s.fail("step", "is missing");
  line.step = s.whole("step", 0, 0);
  if (s.hasValue("optimizer")) line.optimizer = s.text("optimizer");
  for (const LedgerState state : ledgerStates())
    if (s.hasValue(keyOf(state).key)) line.values.emplace(state, valueIn(s, keyOf(state)));
  static_cast<void>(s.has("first_nonfinite"));  // a finding, no state
  s.refuseUnknown();
  return line;
}

std::string settingText(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

RecordedTraining headFrom(Section s) {
  RecordedTraining training;
  if (!s.has("ulpscope_ledger")) s.fail("ulpscope_ledger", "is missing", "begin the file with {\"ulpscope_ledger\": 1}");
  if (s.whole("ulpscope_ledger", 0, 0) != 1) s.fail("ulpscope_ledger", "is not the version that this program reads", "write 1, or use a newer Ulpscope");
  static_cast<void>(s.texts("optimizers"));  // each line names its own
  if (s.hasValue("resumed_at")) training.resumedAt = s.whole("resumed_at", 0, 0);
  if (s.hasValue("settings")) {
    if (!s.at("settings").is_object()) s.fail("settings", "must be an object in braces");
    for (const auto& [key, value] : s.at("settings").items()) {
      if (value.is_structured()) s.fail("settings", "'" + key + "' is neither text nor number", "write its parts as settings of their own");
      training.settings[key] = settingText(value);
    }
  }
  s.refuseUnknown();
  return training;
}

// By step, each once with an optimizer; throws SectionFault.
void finish(RecordedTraining& training, const std::string& document) {
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const RecordedLine& line : training.lines)
    if (!seen.emplace(line.step, line.optimizer).second)
      failAt(document, "", fmt::format("has step {}{} twice", line.step, line.optimizer.empty() ? "" : " of " + line.optimizer), "write each run to a file of its own, its steps counted from the training's first");
  std::stable_sort(training.lines.begin(), training.lines.end(), [](const RecordedLine& a, const RecordedLine& b) { return a.step < b.step; });
}

// Settings of a document beside its recipe's.
void addSettings(const json& document, RecordedTraining& training) {
  for (const char* key : {"autocast", "scaling", "fp32", "policy_table", "libtorch"})
    if (const auto found = document.find(key); found != document.end()) training.settings[key] = settingText(*found);
}

}  // namespace

const std::vector<LedgerState>& ledgerStates() {
  static const std::vector<LedgerState> states = [] {
    std::vector<LedgerState> all;
    for (std::size_t i = 0; i < std::size(kKeys); ++i) all.push_back(static_cast<LedgerState>(i));
    return all;
  }();
  return states;
}

std::string name(LedgerState state) { return keyOf(state).key; }

std::string valueText(LedgerState state, const LedgerValue& value) {
  const std::size_t longest = state == LedgerState::rows ? kLongestRows : kLongestDigest;
  if (const auto* text = std::get_if<std::string>(&value)) return text->size() > longest ? text->substr(0, longest) + "..." : *text;
  const double number = std::get<double>(value);
  if (keyOf(state).kind == ValueKind::flag) return number != 0 ? "true" : "false";
  return base::roundTripNumber(number);
}

Result<RecordedTraining> ledgerFromLines(const std::string& text) try {
  RecordedTraining training;
  std::istringstream lines(text);
  std::string line;
  bool hasHead = false;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("line {}", number);
    const auto object = base::readJson(line, {"", "write one JSON object a line, and what is not finite as \"NaN\", \"+inf\", \"-inf\"", number});
    if (!object) return object.error();
    if (hasHead) training.lines.push_back(lineFrom(Section(object.value(), place)));
    else training = headFrom(Section(object.value(), place));
    hasHead = true;
  }
  if (!hasHead) return Error{ErrorKind::input, "is empty", "ledger", "its first line says {\"ulpscope_ledger\": 1}"};
  finish(training, "ledger");
  return training;
} catch (const SectionFault& fault) {
  return fault.error;
}

Result<RecordedTraining> readLedger(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorKind::input, "cannot be opened", path, "check the path"};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"};
  auto training = ledgerFromLines(text);
  if (!training) return training.error().within(path);
  return training;
}

Result<RecordedTraining> ledgerFromDocument(const json& document) try {
  const auto ledger = document.find("ledger");
  if (!document.is_object() || ledger == document.end() || !ledger->is_array())
    return Error{ErrorKind::input, "is no training's document: it has no list \"ledger\"", "training document", "write it by ulpscope train RECIPE --json F"};
  RecordedTraining training;
  addSettings(document, training);
  for (std::size_t i = 0; i < ledger->size(); ++i) training.lines.push_back(lineFrom(Section((*ledger)[i], "training document", fmt::format("ledger[{}]", i))));
  if (const auto resumes = document.find("resumes"); resumes != document.end() && resumes->is_array() && !resumes->empty())
    training.resumedAt = Section(resumes->back(), "training document", "resumes").whole("step", 0, 0);
  finish(training, "training document");
  return training;
} catch (const SectionFault& fault) {
  return fault.error;
}

Result<RecordedTraining> readTrainingDocument(const std::string& path) {
  const auto document = readJsonFile(path, "write it by ulpscope train RECIPE --json F; a ledger with a line a step ends in .jsonl");
  if (!document) return document.error();
  auto training = ledgerFromDocument(document.value());
  if (!training) return training.error().within(path);
  return training;
}

Result<RecordedTraining> ledgerOf(const Training& training) {
  auto recorded = ledgerFromDocument(trainingDocument(training));
  if (!recorded || training.recorded) return recorded;
  const auto document = parseJson(training.recipe, "recipe", "");
  if (!document) return document.error();
  auto recipe = recipeFromJson(document.value());
  if (!recipe) return recipe.error();
  recorded.value().recipe = std::move(recipe.value());
  return recorded;
}

}  // namespace ulpscope::session
