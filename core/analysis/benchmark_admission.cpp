#include "core/analysis/benchmark_admission.h"

#include "core/base/number_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace ulpscope::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using session::JudgedAs;
using session::Mode;

BenchmarkRefusal refused(ErrorKind kind, const std::string& what, const std::string& which, const std::string& remedy) {
  return {Error{kind, what, which, remedy}, base::exitCode(kind)};
}

std::optional<BenchmarkRefusal> byMode(Mode mode, const std::string& which) {
  if (mode == Mode::recorded)
    return refused(ErrorKind::input, "was recorded in another PyTorch: there is no model here to time", which, "time it where it was recorded, or export the model and validate it in mode native");
  if (mode == Mode::emulated)
    return refused(ErrorKind::input, "is emulated, so nothing can be claimed about speed", which, "validate and time LibTorch's own autocast on this processor instead (mode native, BF16)");
  return std::nullopt;
}

std::optional<BenchmarkRefusal> byRegions(const std::vector<std::string>& regions, const std::string& which) {
  for (const std::string& region : regions)
    if (region.find(':') != std::string::npos)
      return refused(ErrorKind::input, "keeps the op site " + region + " in FP32, which only interception can do, and a benchmark runs without it", which, "validate a run that keeps its module in FP32, and time that");
  return std::nullopt;
}

std::optional<BenchmarkRefusal> byRegions(const std::vector<std::string>& fp32, const std::vector<std::string>& disable, const std::string& which) {
  const auto first = byRegions(fp32, which);
  return first ? first : byRegions(disable, which);
}

std::string criteriaText(const session::Verdict& verdict, JudgedAs status) {
  std::string text;
  for (const session::CriterionResult& c : verdict.criteria) {
    if (c.status != status) continue;
    text += text.empty() ? "" : ", ";
    text += status == JudgedAs::fail ? fmt::format("{} (measured {}, limit {})", c.id, base::shortNumber(c.measured), base::shortNumber(c.limit)) : c.note.empty() ? c.id : c.id + " (" + c.note + ")";
  }
  return verdict.reason.empty() ? text : text.empty() ? verdict.reason : verdict.reason + "; " + text;
}

}  // namespace

std::optional<BenchmarkRefusal> cannotBeTimed(const session::RunSettings& settings, const std::string& which) {
  const auto mode = byMode(settings.mode, which);
  return mode ? mode : byRegions(settings.fp32, settings.disable, which);
}

std::optional<BenchmarkRefusal> cannotBeTimed(const session::Training& training, const std::string& which) {
  if (training.recorded) return byMode(Mode::recorded, which);
  const auto recipe = session::recipeFromJson(nlohmann::json::parse(training.recipe, nullptr, /*allow_exceptions=*/false));
  if (!recipe) return BenchmarkRefusal{recipe.error().within(which), base::exitCode(recipe.error().kind)};
  if (!recipe->autocast) return refused(ErrorKind::input, "trains in FP32, so there is nothing to time it against", which, "train by a recipe with \"autocast\": {\"mode\": \"native\", \"dtype\": \"bfloat16\"}");
  if (const auto mode = byMode(recipe->autocast->mode, which)) return mode;
  if (recipe->loss.kind == session::LossRecipe::Kind::script)
    return refused(ErrorKind::input, "has a loss of its own, a script that the session does not hold", which, "let the model return its loss (\"loss\": {\"kind\": \"output\"}), and train that");
  return byRegions(recipe->autocast->fp32, recipe->autocast->disable, which);
}

std::optional<BenchmarkRefusal> notPassed(const std::optional<session::Verdict>& verdict, const std::string& which) {
  if (!verdict)
    return refused(ErrorKind::inconclusive, "has no verdict: no criteria are locked, so nothing says that these numbers are good enough to be fast", which,
                   "write criteria (`ulpscope criteria new`), run with --criteria into a new session, and time that");
  switch (verdict->status) {
    case JudgedAs::pass: return std::nullopt;
    case JudgedAs::notEvaluated:
      return refused(ErrorKind::inconclusive, "was not judged: " + criteriaText(*verdict, JudgedAs::notEvaluated), which, "`ulpscope check` shows what is missing; time it once its verdict is a pass");
    case JudgedAs::fail: break;
  }
  return BenchmarkRefusal{Error{ErrorKind::inconclusive, "fails its criteria: " + criteriaText(*verdict, JudgedAs::fail), which, "time it once its verdict is a pass"}, 1, true};
}

}  // namespace ulpscope::analysis
