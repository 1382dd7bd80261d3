// What a training loop does, call by call: of our own runs and of a log that a Python loop wrote (resources/schema/events.schema.json).
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

// zero_grad, autocast_begin, autocast_end, forward, loss, backward, unscale_, guard (a look at the gradients), clip, step (GradScaler.step, or the
// optimizer's where the loop has no scaler), optimizer_step (the optimizer's own although there is a scaler), update, scheduler_step, new_scaler, checkpoint (the
// loop saved its state here).
enum class EventKind { zeroGrad, autocastBegin, autocastEnd, forward, loss, scale, backward, unscale, guard, clip, step, optimizerStep, update, schedulerStep, newScaler, checkpoint };
std::string name(EventKind kind);
std::optional<EventKind> eventKindFromName(const std::string& name);

struct TrainingEvent {
  std::int64_t iteration = 0;    // 0-based; one iteration tries one update
  EventKind kind = EventKind::forward;
  std::string optimizer;         // zero_grad, backward, unscale_, clip, step, optimizer_step; empty: all
  std::string scaler;            // which one, where a loop has several; new_scaler names the new one
  std::string run;               // which of several loops
  std::string api;               // "torch.cuda.amp" where the call went through it; else empty
  std::optional<bool> applied;   // step: whether the optimizer stepped; empty: not known
  std::optional<std::vector<std::string>> saved;  // checkpoint: what of savableStates(); empty: not known
};

// What the order is judged by.
struct LoopFacts {
  std::vector<std::string> optimizers;  // names
  bool hasScaler = true;
  bool hasAutocast = true;
  std::int64_t accumulation = 1;        // backward passes an update
};

// What a checkpoint may hold: "model", "optimizer", "scaler", "scheduler", "rng", "data".
const std::vector<std::string>& savableStates();

struct EventLog {
  LoopFacts facts;
  std::vector<TrainingEvent> events;
  bool ofUser = false;  // a file of somebody's loop, which should hold a step at least; ours may end before its first
};

// "clip" or "clip:NAME" as a recipe writes it; error kind usage names the events that exist.
struct RecipeEvent {
  EventKind kind = EventKind::forward;
  std::string optimizer;  // empty: every one
};
base::Result<RecipeEvent> parseRecipeEvent(const std::string& text);

// JSON lines. The first: {"ulpscope_events": 1, "optimizers": ["adam"], "scaler": true, "autocast": true, "accumulation": 1}; each other:
// {"iteration": N, "event": "unscale_", "optimizer", "scaler", "run", "api", "applied"}, of which the last five may be left out;
// "saved" of a checkpoint may be too.
// Error kind input names the line.
base::Result<EventLog> eventLogFromLines(const std::string& text);
// A user's.
base::Result<EventLog> readEventLog(const std::string& path);
std::string toLines(const EventLog& log);

}  // namespace ulpscope::session
