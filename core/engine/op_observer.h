// The part of a hook that both runs share: depth, place, seeding, operands before and outputs after an op.
#pragma once

#include "core/engine/description_cache.h"
#include "core/engine/interception.h"
#include "core/engine/op_event.h"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace ulpscope::engine {

// Called at depth 0 after the op ran; may block (the runs meet) and may throw (cancelled). Its own ATen calls are not observed.
using EventSink = std::function<void(OpEvent&)>;

// Runs the op of one call in the way of its run (reference: plain; candidate: policy and emulation).
class OpExecutor {
 public:
  virtual ~OpExecutor() = default;
  // Around one forward, on the thread that runs it.
  virtual void beginForward() {}
  virtual void endForward() {}
  // `event` is null below depth 0, and everywhere when nobody looks and namesOps() is false; its operands are filled, policyClass
  // and casts are the executor's to fill.
  virtual void execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) = 0;
  // What it does to an op hangs on the op's names, so that it needs events though nobody looks.
  virtual bool namesOps() const { return false; }
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
  ObservingHook(ExecutionPlace& place, OpExecutor& executor, EventSink sink, std::uint64_t seed, DescriptionCache& descriptions);
  void call(const OpCall& call) override;
  void opens(const std::string& op) override { m_opened = op; }

  std::string lastOp() const { return m_running ? m_running->name() : ""; }  // at depth 0, the running one
  bool unsupported() const { return m_unsupported; }                         // an executor threw UnsupportedOp
  bool drewRandomNumbers() const { return m_drewRandomNumbers; }
  const std::string& opened() const { return m_opened; }  // the last fused op that ran as the ops it consists of; empty: none

 private:
  // An input's memory, to tell which outputs are views; null: not strided.
  struct InputStorage {
    const void* storage;
    bool written;
    const std::string* name;
  };

  enum class Draws { never, always, asArgumentsSay };

  ExecutionPlace& m_place;
  OpExecutor& m_executor;
  EventSink m_sink;
  std::uint64_t m_seed;
  DescriptionCache& m_descriptions;
  int m_depth = 0;
  const c10::FunctionSchema* m_running = nullptr;
  bool m_unsupported = false;
  bool m_drewRandomNumbers = false;
  std::string m_opened;
  std::vector<int> m_occurrences;  // by site number
  OpEvent m_event;                 // used again for every op: its vectors keep their memory
  std::vector<InputStorage> m_inputs;
  std::unordered_map<const c10::FunctionSchema*, Draws> m_draws;

  bool drawsRandomNumbers(const OpCall& call);
  void collectInputs(const OpCall& call);
  void describe(const OpCall& call);
  void collectArguments(const OpCall& call);
  void collectOutputs(const OpCall& call);
  void run(const OpCall& call, OpEvent* event);
  void seedAndExecute(const OpCall& call, OpEvent* event);
  void observe(const OpCall& call);
};

}  // namespace ulpscope::engine
