#include "core/engine/lockstep.h"

#include <chrono>
#include <exception>
#include <thread>

namespace ulpscope::engine {

void Rendezvous::checkStop() {
  if (m_stop.stop_requested()) m_broken = true;
  if (m_broken) throw Cancelled{};
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
      m_observer.alone(side, event);
    } else if (m_waiting[other] && event.index == m_waiting[other]->index) {
      const Withdraw mine{m_waiting[me], m_changed};
      OpEvent& theirs = *m_waiting[other];
      try {
        side == Side::reference ? m_observer.meet(event, theirs) : m_observer.meet(theirs, event);
      } catch (...) {
        m_broken = true;
        throw;
      }
      m_waiting[other] = nullptr;
    } else {
      m_changed.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
}

void Rendezvous::finish(Side side) {
  const std::lock_guard<std::mutex> lock(m_mutex);
  m_done[static_cast<int>(side)] = true;
  m_changed.notify_all();
}

PairResult runPair(const SideFunction& reference, const SideFunction& candidate, MeetingObserver& observer, std::stop_token stop) {
  Rendezvous rendezvous(observer, stop);
  PairResult result;
  std::exception_ptr failure[2];
  bool cancelled[2] = {false, false};
  const auto body = [&](Side side, const SideFunction& run, SideResult& into) {
    try {
      into = run([&](OpEvent& event) { rendezvous.arrive(side, event); });
    } catch (const Cancelled&) {
      cancelled[static_cast<int>(side)] = true;
    } catch (...) {
      failure[static_cast<int>(side)] = std::current_exception();
    }
    rendezvous.finish(side);
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
