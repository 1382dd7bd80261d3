#include "core/analysis/audit_meaning.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <vector>

namespace ulpscope::analysis {
namespace {

using session::LedgerState;
using When = AuditPlace::When;

constexpr const char* kMoments = "the optimizer's moments and step counts were not restored: save and load optimizer.state_dict()";
constexpr const char* kScheduler = "the scheduler was not restored: save and load scheduler.state_dict()";
constexpr const char* kScaler = "the checkpoint was saved without GradScaler.state_dict(): save it after update(), and load it";
constexpr const char* kTracker = "the growth tracker or growth settings of the scaler were not restored: save and load GradScaler.state_dict(), not the scale alone";
constexpr double kLastBits = 1e-6;  // of a float32 sum: some units in the last of its 24 bits (2^-24 = 6e-8)

bool has(const std::set<LedgerState>& states, LedgerState state) { return states.count(state) > 0; }

// Nothing that was recorded shows what the step before did with its gradients.
bool momentsUnseen(const AuditPlace& place) { return has(place.unrecorded, LedgerState::optimizerState) && has(place.unrecorded, LedgerState::updateNorm); }

// What may be behind a loss or gradient that differs although all that was recorded agrees.
std::string suspects(const AuditPlace& place) {
  std::string list;
  for (const LedgerState state : {LedgerState::rows, LedgerState::rng, LedgerState::weights, LedgerState::buffers, LedgerState::optimizerState})
    if (has(place.unrecorded, state)) list += (list.empty() ? "" : ", ") + session::name(state);
  if (list.empty()) return "the arithmetic is not deterministic: try torch.use_deterministic_algorithms(True)";
  return "one of what was not recorded (" + list + ") was not restored, or the arithmetic is not deterministic: record these and audit again";
}

std::string ofLoss(const AuditPlace& place) {
  if (place.when == When::second && momentsUnseen(place) && !has(place.agreeing, LedgerState::weights))
    return std::string("the first step after the resume agrees and the second does not: ") + kMoments;
  const std::string size = place.relative <= kLastBits ? fmt::format("in its last bits (by {} of its value)", base::shortNumber(place.relative)) : "far beyond its last bits";
  return "every recorded state before it agrees, and the loss differs " + size + ": " + suspects(place);
}

std::string ofWeights(const AuditPlace& place) {
  if (place.when == When::first) return "the weights are those of another moment: save model.state_dict() after update(), and load that file";
  if (momentsUnseen(place)) return std::string("the step before moved them otherwise, although all that was recorded of it agrees: ") + kMoments;
  return "the step before moved them otherwise, although all that was recorded of it agrees: compare the optimizers' settings, or the arithmetic is not deterministic";
}

std::string ofGradients(const AuditPlace& place) {
  if (place.when == When::first)
    return "the same loss gave other gradients: those of an unfinished accumulation were lost with the checkpoint (save after update()), old ones were left (zero_grad), or backward is not deterministic";
  return "the same loss gave other gradients: backward is not deterministic, or an older gradient was left (zero_grad)";
}

std::string ofScale(const AuditPlace& place) {
  return place.when == When::first ? kScaler : std::string("the scale moved at another step: ") + kTracker;
}

std::string ofRate(const AuditPlace& place) {
  if (place.when != When::first) return "the schedules part here: step the scheduler at the same places in both runs, and restore it with scheduler.state_dict()";
  if (has(place.agreeing, LedgerState::schedulerSteps)) return "the scheduler's count agrees but not the rate: load optimizer.state_dict() too, after the scheduler was made";
  return kScheduler;
}

std::string ofBegin(const AuditPlace& place) {
  const bool first = place.when == When::first;
  switch (place.state) {
    case LedgerState::rows:
      return first ? "the data position was not restored: save epoch, batches done and the sampler's generator, and go on from there"
                   : "the data come in another order from here on: save the sampler's generator, or seed it by the number of the epoch";
    case LedgerState::rng:
      return first ? "the random states were not restored: save those of torch, CUDA, numpy and random, and set them last before the loop"
                   : "the step before drew another number of random values: look for what only one of the runs does (evaluation, loader workers)";
    case LedgerState::buffers:
      return first ? "the buffers (running statistics) were not restored: save model.state_dict(), not the parameters alone" : "the buffers moved otherwise: call model.train() in both runs before the step";
    default: return first ? kMoments : "the step before left other moments, although all that was recorded of it agrees: compare the optimizers' settings";
  }
}

std::string ofEnd(const AuditPlace& place) {
  switch (place.state) {
    case LedgerState::clippedNorm: return "the same gradients were clipped otherwise: compare the clip's settings";
    case LedgerState::foundInf:
    case LedgerState::skipped:
    case LedgerState::applied:
    case LedgerState::appliedUpdates: return "one run skipped an update that the other applied, although its gradients agree: compare the scaler's settings and the loop's own checks";
    case LedgerState::updateNorm: return has(place.unrecorded, LedgerState::optimizerState) ? std::string("the same gradients moved the weights otherwise: ") + kMoments
                                                                                            : "the same gradients and moments moved the weights otherwise: compare the optimizers' settings";
    case LedgerState::scaleAfter: return kTracker;
    default: return place.when == When::first ? kScheduler : "the scheduler stepped in one run only: step it at the same places in both";
  }
}

std::string ofState(const AuditPlace& place) {
  switch (place.state) {
    case LedgerState::rows:
    case LedgerState::rng:
    case LedgerState::buffers:
    case LedgerState::optimizerState: return ofBegin(place);
    case LedgerState::weights: return ofWeights(place);
    case LedgerState::scaleBefore: return ofScale(place);
    case LedgerState::growthTracker: return kTracker;
    case LedgerState::lr: return ofRate(place);
    case LedgerState::loss: return ofLoss(place);
    case LedgerState::scaledNorm:
    case LedgerState::gradNorm:
    case LedgerState::zeroShare:
    case LedgerState::subnormalShare:
    case LedgerState::nonfiniteShare: return ofGradients(place);
    default: return ofEnd(place);
  }
}

}  // namespace

std::string meaningOf(const AuditPlace& place) {
  if (place.when == When::beforeResume) return "the runs part before the resume, so no checkpoint is to blame: start both from one seed, the same settings and deterministic algorithms";
  return ofState(place);
}

}  // namespace ulpscope::analysis
