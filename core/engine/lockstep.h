// Two threads that run one model and meet at every op of depth 0. Private to core/engine.
#pragma once

#include "core/engine/op_event.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace ulpscope::engine {

enum class Side { reference = 0, candidate = 1 };

// What is done when the runs meet. Called on one of the two threads while both stand still.
class MeetingObserver {
 public:
  virtual ~MeetingObserver() = default;
  virtual void meet(OpEvent& reference, OpEvent& candidate) = 0;
  virtual void alone(Side side, OpEvent& event) = 0;  // an op that the other run does not have
};

// Equal execution indices meet; the side with the smaller index goes on alone; a side that ended or threw counts as infinite. So
// nothing is buffered and nothing can hang. The side that comes second does what is to be done; the first one waits: for a moment
// with its eyes open, since waking a sleeping thread takes longer than a small op, then asleep. What a side runs after the other one
// threw is no other way: nobody is told of it.
class Rendezvous {
 public:
  Rendezvous(MeetingObserver& observer, std::stop_token stop);
  // Throws Cancelled when the stop token was asked or the observer threw on the other side.
  void arrive(Side side, OpEvent& event);
  enum class End { done, threw };
  void finish(Side side, End end);

 private:
  MeetingObserver& m_observer;
  std::stop_token m_stop;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::atomic<std::uint64_t> m_news{0};  // counts what a waiting side should look at; written under the mutex
  OpEvent* m_waiting[2] = {nullptr, nullptr};
  bool m_done[2] = {false, false};
  bool m_threw[2] = {false, false};
  bool m_broken = false;
  // A side that watched in vain leaves it for the next few times: long ops are worth no processor time.
  struct Patience {
    int skip = 0, penalty = 0;
  };
  Patience m_patience[2];
  bool m_spins;  // there is a processor for each side

  void checkStop();
  void tell();
  void observeAlone(Side side, OpEvent& event);
  void observeMeeting(Side side, OpEvent& mine, OpEvent& theirs);
  void wait(Side side, std::unique_lock<std::mutex>& lock);
  bool watch(std::uint64_t seen) const;
  // True: nothing is left to wait for at this op.
  bool proceed(Side side, OpEvent& event);
};

struct Cancelled {};

// What one side's forward gave: a value, or the message of what it threw.
struct SideResult {
  c10::IValue value;
  std::string error;
  bool failed = false;
  bool unsupported = false;  // an op without a rule (UnsupportedOp)
  bool drewRandomNumbers = false;
  std::string opened;  // the last fused op that ran as the ops it consists of; empty: none
  std::string modulePath, op;  // where it threw
};

struct PairResult {
  SideResult reference;
  SideResult candidate;
  bool cancelled = false;
};

// side(sink) runs one forward, handing every op to the sink.
using SideFunction = std::function<SideResult(const std::function<void(OpEvent&)>&)>;
// Runs both sides, each in a thread of its own, until both ended.
// Where nobody looks at the ops there is nothing to meet for: one side after the other, on this thread.
PairResult runInTurn(const SideFunction& reference, const SideFunction& candidate, std::stop_token stop);
PairResult runPair(const SideFunction& reference, const SideFunction& candidate, MeetingObserver& observer, std::stop_token stop);

}  // namespace ulpscope::engine
