// Two threads that run one model and meet at every op of depth 0. Private to core/engine.
#pragma once

#include "core/engine/op_event.h"

#include <condition_variable>
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
// nothing is buffered and nothing can hang. What a side runs after the other one threw is no other way: nobody is told of it.
class Rendezvous {
 public:
  Rendezvous(MeetingObserver& observer, std::stop_token stop) : m_observer(observer), m_stop(std::move(stop)) {}
  // Throws Cancelled when the stop token was asked or the observer threw on the other side.
  void arrive(Side side, OpEvent& event);
  enum class End { done, threw };
  void finish(Side side, End end);

 private:
  MeetingObserver& m_observer;
  std::stop_token m_stop;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  OpEvent* m_waiting[2] = {nullptr, nullptr};
  bool m_done[2] = {false, false};
  bool m_threw[2] = {false, false};
  bool m_broken = false;

  void checkStop();
  void observeAlone(Side side, OpEvent& event);
  void observeMeeting(Side side, OpEvent& mine, OpEvent& theirs);
};

struct Cancelled {};

// What one side's forward gave: a value, or the message of what it threw.
struct SideResult {
  c10::IValue value;
  std::string error;
  bool failed = false;
  bool unsupported = false;  // an op without a rule (UnsupportedOp)
  bool drewRandomNumbers = false;
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
PairResult runPair(const SideFunction& reference, const SideFunction& candidate, MeetingObserver& observer, std::stop_token stop);

}  // namespace ulpscope::engine
