#include "core/engine/lockstep.h"

#include <chrono>
#include <exception>
#include <thread>

namespace ulpscope::engine {

void Rendezvous::checkStop() {
  if (m_stop.stop_requested()) m_broken = true;
  if (m_broken) throw Cancelled{};
}

// An observer that throws stops both sides.
void Rendezvous::observeAlone(Side side, OpEvent& event) try {
  if (!m_threw[1 - static_cast<int>(side)]) m_observer.alone(side, event);
} catch (...) {
  m_broken = true;
  throw;
}

void Rendezvous::observeMeeting(Side side, OpEvent& mine, OpEvent& theirs) try {
  side == Side::reference ? m_observer.meet(mine, theirs) : m_observer.meet(theirs, mine);
} catch (...) {
  m_broken = true;
  throw;
}

void Rendezvous::arrive(Side side, OpEvent& event) {
  const int me = static_cast<int>(side);
  const int other = 1 - me;
  std::unique_lock<std::mutex> lock(m_mutex);
  m_waiting[me] = &event;
  m_changed.notify_all();
  struct Withdraw {
    OpEvent*& slot;
    std::condition_variable& changed;
    ~Withdraw() {
      slot = nullptr;
      changed.notify_all();
    }
  };
  while (m_waiting[me] == &event) {
    if (m_stop.stop_requested() || m_broken) {
      const Withdraw withdraw{m_waiting[me], m_changed};
      checkStop();
    }
    const bool smaller = m_waiting[other] && event.index < m_waiting[other]->index;
    if (m_done[other] || smaller) {
      const Withdraw withdraw{m_waiting[me], m_changed};
      observeAlone(side, event);
    } else if (m_waiting[other] && event.index == m_waiting[other]->index) {
      const Withdraw mine{m_waiting[me], m_changed};
      observeMeeting(side, event, *m_waiting[other]);
      m_waiting[other] = nullptr;
    } else {
      m_changed.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
}

void Rendezvous::finish(Side side, End end) {
  const std::lock_guard<std::mutex> lock(m_mutex);
  m_threw[static_cast<int>(side)] = end == End::threw;
  m_done[static_cast<int>(side)] = true;
  m_changed.notify_all();
}

PairResult runPair(const SideFunction& reference, const SideFunction& candidate, MeetingObserver& observer, std::stop_token stop) {
  Rendezvous rendezvous(observer, stop);
  PairResult result;
  std::exception_ptr failure[2];
  bool cancelled[2] = {false, false};
  const auto body = [&](Side side, const SideFunction& run, SideResult& into) {
    auto end = Rendezvous::End::threw;
    try {
      into = run([&](OpEvent& event) { rendezvous.arrive(side, event); });
      end = into.failed ? Rendezvous::End::threw : Rendezvous::End::done;
    } catch (const Cancelled&) {
      cancelled[static_cast<int>(side)] = true;
    } catch (...) {
      failure[static_cast<int>(side)] = std::current_exception();
    }
    rendezvous.finish(side, end);
  };
  std::thread other([&] { body(Side::reference, reference, result.reference); });
  std::thread mine([&] { body(Side::candidate, candidate, result.candidate); });
  other.join();
  mine.join();
  for (const auto& f : failure)
    if (f) std::rethrow_exception(f);
  result.cancelled = cancelled[0] || cancelled[1];
  return result;
}

}  // namespace ulpscope::engine
