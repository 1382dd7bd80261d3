#include "core/engine/lockstep.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

namespace ulpscope::engine {

namespace {

// Longer than a small op, shorter than what sleeping and waking costs a large one.
constexpr auto kSpin = std::chrono::microseconds(20);
constexpr int kMaxPenalty = 31;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

Rendezvous::Rendezvous(MeetingObserver& observer, std::stop_token stop)
    : m_observer(observer), m_stop(std::move(stop)), m_spins(std::thread::hardware_concurrency() > 1) {}

void Rendezvous::checkStop() {
  if (m_stop.stop_requested()) m_broken = true;
  if (m_broken) throw Cancelled{};
}

void Rendezvous::tell() {
  m_news.fetch_add(1, std::memory_order_release);
  m_changed.notify_all();
}

// An observer that throws stops both sides.
void Rendezvous::observeAlone(Side side, OpEvent& event) try {
  if (!m_threw[1 - static_cast<int>(side)]) m_observer.alone(side, event);
} catch (...) {
  m_broken = true;
  tell();
  throw;
}

void Rendezvous::observeMeeting(Side side, OpEvent& mine, OpEvent& theirs) try {
  side == Side::reference ? m_observer.meet(mine, theirs) : m_observer.meet(theirs, mine);
} catch (...) {
  m_broken = true;
  tell();
  throw;
}

bool Rendezvous::watch(std::uint64_t seen) const {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  while (std::chrono::steady_clock::now() < end)
    for (int i = 0; i < 16; ++i) {
      if (m_news.load(std::memory_order_acquire) != seen) return true;
      pause();
    }
  return false;
}

void Rendezvous::wait(Side side, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = m_news.load(std::memory_order_relaxed);
  Patience& patience = m_patience[static_cast<int>(side)];
  if (m_spins && patience.skip-- <= 0) {
    lock.unlock();
    const bool saw = watch(seen);
    lock.lock();
    patience.penalty = saw ? 0 : std::min(2 * patience.penalty + 1, kMaxPenalty);
    patience.skip = patience.penalty;
  }
  if (m_news.load(std::memory_order_relaxed) == seen) m_changed.wait_for(lock, std::chrono::milliseconds(50));
}

bool Rendezvous::proceed(Side side, OpEvent& event) {
  const int me = static_cast<int>(side), other = 1 - me;
  OpEvent* theirs = m_waiting[other];
  if (m_done[other] || (theirs && event.index < theirs->index)) {
    m_waiting[me] = nullptr;
    observeAlone(side, event);
    return true;
  }
  if (!theirs) return false;
  if (theirs->index < event.index) {
    tell();  // theirs goes on alone
    return false;
  }
  m_waiting[me] = m_waiting[other] = nullptr;
  observeMeeting(side, event, *theirs);
  tell();
  return true;
}

void Rendezvous::arrive(Side side, OpEvent& event) {
  const int me = static_cast<int>(side);
  std::unique_lock<std::mutex> lock(m_mutex);
  m_waiting[me] = &event;
  for (;;) {
    if (m_stop.stop_requested() || m_broken) {
      m_waiting[me] = nullptr;
      tell();
      checkStop();
    }
    if (m_waiting[me] != &event || proceed(side, event)) return;
    wait(side, lock);
  }
}

void Rendezvous::finish(Side side, End end) {
  const std::lock_guard<std::mutex> lock(m_mutex);
  m_threw[static_cast<int>(side)] = end == End::threw;
  m_done[static_cast<int>(side)] = true;
  tell();
}

PairResult runInTurn(const SideFunction& reference, const SideFunction& candidate, std::stop_token stop) {
  PairResult result;
  result.reference = reference({});
  result.cancelled = stop.stop_requested();
  if (result.cancelled || result.reference.failed) return result;
  result.candidate = candidate({});
  result.cancelled = stop.stop_requested();
  return result;
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
