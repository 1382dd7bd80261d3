// The part of a hook that both runs share: depth, place, seeding, operands before and outputs after an op.
#pragma once

#include "core/engine/interception.h"
#include "core/engine/op_event.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace ulpscope::engine {

// Called at depth 0 after the op ran; may block (the runs meet) and may throw (cancelled).
using EventSink = std::function<void(OpEvent&)>;

// Runs the op of one call in the way of its run (reference: plain; candidate: policy and emulation).
class OpExecutor {
 public:
  virtual ~OpExecutor() = default;
  // `event` is null below depth 0; its operands are filled, policyClass and casts are the executor's to fill.
  virtual void execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) = 0;
  // The lower-precision results so far: "nothing was autocast" when none.
  virtual std::int64_t loweredOps() const { return 0; }
};

// An op that has no rule: the model is not supported under emulation, and the message names the op.
class UnsupportedOp : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ObservingHook : public OpHook {
 public:
  // sink may be empty: the ops run, nobody looks.
  ObservingHook(ExecutionPlace& place, OpExecutor& executor, EventSink sink, std::uint64_t seed);
  void call(const OpCall& call) override;

  const std::string& lastOp() const { return m_lastOp; }  // at depth 0, the running one
  bool unsupported() const { return m_unsupported; }      // an executor threw UnsupportedOp
  bool drewRandomNumbers() const { return m_drewRandomNumbers; }

 private:
  ExecutionPlace& m_place;
  OpExecutor& m_executor;
  EventSink m_sink;
  std::uint64_t m_seed;
  int m_depth = 0;
  std::string m_lastOp;
  bool m_unsupported = false;
  bool m_drewRandomNumbers = false;
  std::unordered_map<std::string, int> m_occurrences;

  OpEvent describe(const OpCall& call);
  void run(const OpCall& call, OpEvent* event);
  void seedAndExecute(const OpCall& call, OpEvent* event);
};

// Where the running op stands in the model's code: "model.py:12", empty when unknown.
std::string currentSource();

}  // namespace ulpscope::engine
