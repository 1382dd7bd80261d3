#include "core/train/resume_check.h"

#include "core/base/number_text.h"
#include "core/session/recipe_changes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;
using session::RecipeDifference;

std::string texts(const std::vector<RecipeDifference>& differences) {
  std::string text;
  for (const RecipeDifference& difference : differences) text += (text.empty() ? "" : "; ") + difference.text();
  return text;
}

Result<std::vector<session::ResumeRecord>> historyOf(const Resume& resume) try {
  std::vector<session::ResumeRecord> history;
  for (const json& record : json::parse(resume.checkpoint.resumes.empty() ? "[]" : resume.checkpoint.resumes)) history.push_back(session::resumeRecordFromJson(record));
  return history;
} catch (const json::exception& e) {
  return Error{ErrorKind::input, std::string("its history cannot be read: ") + e.what(), resume.file, "go on from another checkpoint"};
}

Status sameFiles(const TrainingFacts& facts, const Resume& resume) {
  if (resume.checkpoint.modelFingerprint != facts.modelFingerprint) return Error{ErrorKind::run, "was taken of another model file than the recipe's", resume.file, "put the model back that the training began with"};
  if (resume.checkpoint.inputsSha256 != facts.dataFingerprint) return Error{ErrorKind::run, "was taken on other inputs or labels than the recipe's", resume.file, "put the inputs back that the training began with"};
  return base::success();
}

// What the recipe does not say, and what changes its numbers all the same.
void addUnsaid(const TrainingFacts& facts, const Resume& resume, std::vector<RecipeDifference>& differences) {
  const auto add = [&](const char* key, const std::string& before, const std::string& after) {
    if (before != after) differences.push_back({key, before, after});
  };
  add("policy table", resume.checkpoint.policyTable, facts.policyTable);
  add("LibTorch", resume.checkpoint.libtorchVersion, facts.libtorchVersion);
}

Status allowed(const session::Recipe& recipe, const Resume& resume, const session::RecipeChanges& changes) {
  if (!changes.forbidden.empty())
    return Error{ErrorKind::usage, "belongs to another training than the recipe's: " + texts(changes.forbidden), resume.file, "resume with the recipe that it was trained by (recipe.json beside it), or train anew"};
  if (!changes.experimental.empty() && resume.change.empty())
    return Error{ErrorKind::usage, "was trained otherwise than the recipe says: " + texts(changes.experimental), resume.file, "name this experiment with --change NAME, or resume with recipe.json beside it"};
  if (changes.experimental.empty() && !resume.change.empty())
    return Error{ErrorKind::usage, "'" + resume.change + "' changes nothing: the recipe is the one that the checkpoint was trained by", "--change", "leave it out"};
  if (resume.checkpoint.step > recipe.steps)
    return Error{ErrorKind::usage, fmt::format("has done {}, the recipe asks for {}", base::counted(resume.checkpoint.step, "step"), recipe.steps), resume.file, "ask for more steps, or go on from an earlier checkpoint"};
  return base::success();
}

}  // namespace

Result<ResumePlan> checkResume(const session::Recipe& recipe, const TrainingFacts& facts, const Resume& resume) {
  const auto before = session::recipeFromJson(json::parse(resume.checkpoint.recipe, nullptr, /*allow_exceptions=*/false));
  if (!before) return before.error().within(resume.file);
  if (auto same = sameFiles(facts, resume); !same) return same.error();
  session::RecipeChanges changes = session::changesBetween(before.value(), recipe);
  addUnsaid(facts, resume, changes.experimental);
  if (auto may = allowed(recipe, resume, changes); !may) return may.error();
  if (before->scaler && !resume.checkpoint.scaler)
    return Error{ErrorKind::input, "has no scaler's state, and its recipe has a scaler: scale and growth tracker are lost", resume.file, "go on from a checkpoint that holds the scaler, or train anew"};
  auto history = historyOf(resume);
  if (!history) return history.error();
  ResumePlan plan{std::move(history).value(), before->scaler, !changes.experimental.empty()};
  plan.history.push_back({resume.checkpoint.step, resume.file, resume.sha256, resume.change, std::move(changes.experimental)});
  return plan;
}

}  // namespace ulpscope::train
