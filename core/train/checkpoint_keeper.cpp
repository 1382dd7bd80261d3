#include "core/train/checkpoint_keeper.h"

#include "core/base/clock.h"
#include "core/base/number_text.h"
#include "core/train/step_failure.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace ulpscope::train {
namespace {

using nlohmann::json;

// Paths as the frame's recipe has them: resolved.
json resolvedRecipe(const session::Recipe& recipe) {
  json document = json::parse(recipe.canonical);
  document["model"] = recipe.model;
  document["inputs"] = recipe.inputs;
  if (!recipe.labels.empty()) document["labels"] = recipe.labels;
  if (!recipe.loss.script.empty()) document["loss"]["path"] = recipe.loss.script;
  return document;
}

// The way back: the recipe without autocast, regions and scaler, ready to be trained.
std::string fp32Configuration(const session::Recipe& recipe) {
  json document = resolvedRecipe(recipe);
  document["autocast"] = nullptr;
  document["scaler"] = nullptr;
  return document.dump();
}

bool allFinite(const TrajectoryRun& run) {
  for (const NamedParameter& parameter : run.model().parameters())
    if (!train::allFinite(parameter.tensor)) return false;
  for (const TrainingModel::Buffer& buffer : run.model().buffers())
    if (!train::allFinite(buffer.value())) return false;
  return true;
}

}  // namespace

void CheckpointKeeper::setHistory(const std::vector<session::ResumeRecord>& history) {
  json list = json::array();
  for (const session::ResumeRecord& record : history) list.push_back(session::toJson(record));
  m_history = list.dump();
}

void CheckpointKeeper::begin(TrajectoryRun& run) {
  if (m_frame.recipe.rollback.minAccuracy && !run.accuracy())
    throw StepFailure({base::ErrorKind::usage, "needs labels, and a loss of classes whose scores are [samples, classes]", "rollback.min_accuracy", "leave it out, or use max_loss"});
  json recipe = resolvedRecipe(m_frame.recipe);
  if (m_every > 0) recipe["checkpoint_every"] = m_every;  // a resume goes on taking them
  if (auto written = m_folder.writeRecipes(recipe.dump(), fp32Configuration(m_frame.recipe)); !written) throw StepFailure(written.error());
  write(run);
}

void CheckpointKeeper::write(TrajectoryRun& run) {
  if (const std::string why = run.whyNoCheckpoint(); !why.empty())
    throw StepFailure({base::ErrorKind::usage, (run.stepsDone() == 0 ? std::string("no checkpoint can be taken: ") : fmt::format("no checkpoint can be taken after step {}: ", run.stepsDone() - 1)) + why, "checkpoint", "mend the recipe's events or the model, or train without checkpoints"});
  storage::TrainingCheckpoint checkpoint = run.checkpoint();
  checkpoint.createdUtc = base::utcNow();
  checkpoint.creatorVersion = ULPSCOPE_VERSION;
  checkpoint.libtorchVersion = m_facts.libtorchVersion;
  checkpoint.policyTable = m_facts.policyTable;
  checkpoint.modelFingerprint = m_facts.modelFingerprint;
  checkpoint.inputsSha256 = m_facts.dataFingerprint;
  checkpoint.recipe = m_frame.recipe.canonical;
  checkpoint.resumes = m_history;
  auto entry = m_folder.write(checkpoint);
  if (!entry) throw StepFailure(entry.error());
  entry.value().good = allFinite(run);
  m_entries.push_back(std::move(entry).value());
}

// Quality is looked at where a checkpoint is due, so that the last good one is within it.
std::optional<CheckpointKeeper::Broken> CheckpointKeeper::brokenRule(TrajectoryRun& run, const TrajectoryRun::LastStep& last, bool checkpointDue) {
  const session::RollbackRecipe& rules = m_frame.recipe.rollback;
  m_withoutUpdate = last.applied ? 0 : m_withoutUpdate + 1;
  if (rules.outputsNonfinite && !last.outputsFinite) return Broken{"outputs_nonfinite", "an output or the loss is not finite"};
  // "not at most" takes a NaN in as well.
  if (rules.maxLoss && !(last.loss <= *rules.maxLoss)) return Broken{"max_loss", fmt::format("the loss is {}, above {}", base::shortNumber(last.loss), base::shortNumber(*rules.maxLoss))};
  if (rules.noUpdateIn && m_withoutUpdate >= *rules.noUpdateIn) return Broken{"no_update_in", fmt::format("no update in {}", base::counted(m_withoutUpdate, "step"))};
  if (!rules.minAccuracy || !checkpointDue) return std::nullopt;
  const auto accuracy = run.accuracy();
  if (accuracy && *accuracy >= *rules.minAccuracy) return std::nullopt;
  return Broken{"min_accuracy", accuracy ? fmt::format("the accuracy is {:.2f} %, below {:.2f} %", 100 * *accuracy, 100 * *rules.minAccuracy) : "there is no accuracy: no labels that fit the scores"};
}

bool CheckpointKeeper::stepDone(TrajectoryRun& run) try {
  const TrajectoryRun::LastStep last = run.lastStep();
  const bool due = last.wantsCheckpoint || (m_every > 0 && run.stepsDone() % m_every == 0) || run.stepsDone() == m_frame.recipe.steps;
  if (const auto broken = brokenRule(run, last, due)) {
    goBack(run, last, *broken);
    return false;
  }
  if (due) write(run);
  return true;
} catch (const StepFailure& failure) {
  run.fail(failure.what());  // what was trained is kept
  return false;
}

void CheckpointKeeper::goBack(TrajectoryRun& run, const TrajectoryRun::LastStep& last, const Broken& broken) {
  const auto good = std::find_if(m_entries.rbegin(), m_entries.rend(), [](const session::CheckpointEntry& entry) { return entry.good; });
  if (good == m_entries.rend()) {
    run.endEarly(fmt::format("{} in step {} ({}), and there is no good checkpoint to go back to: the weights were not finite from the start", broken.text, last.step, broken.rule));
    return;
  }
  session::TrainingCase item;
  item.checkpoint = good->file;
  item.checkpointSha256 = good->sha256;
  item.fromStep = good->step;
  item.step = last.step;
  item.rule = broken.rule;
  item.text = broken.text;
  for (const MicroBatch& batch : last.batches) {
    session::CaseBatch taken{batch.rows, {}, batch.seed};
    for (const std::int64_t row : batch.rows) taken.ids.push_back(m_frame.set.samples.ids.at(static_cast<std::size_t>(row)));
    item.batches.push_back(std::move(taken));
  }
  item.finding = last.first;
  for (const session::LedgerLine& line : run.ledger())
    if (line.step >= good->step) item.lines.push_back(line);
  const auto name = m_folder.write(item);
  if (!name) throw StepFailure(name.error());
  m_rollback = session::RollbackRecord{last.step, good->step, broken.rule, broken.text, good->file, name.value()};
  run.endEarly(fmt::format("went back to the checkpoint after {} as the recipe asks: {} in step {} ({})", base::counted(good->step, "step"), broken.text, last.step, broken.rule));
}

}  // namespace ulpscope::train
