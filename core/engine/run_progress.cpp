#include "core/engine/run_progress.h"

namespace ulpscope::engine {
namespace {

constexpr double kEarliest = 0.02;    // of all the work: before, an estimate says nothing
constexpr double kFirstSeconds = 0.5;

}  // namespace

void RunProgress::begin(const std::string& stage) {
  if (!m_started) m_start = std::chrono::steady_clock::now();
  m_started = true;
  m_stage = stage;
  if (m_sink) m_sink({stage, "", "", 0, m_samples, secondsLeft(0)});
}

double RunProgress::secondsLeft(double partOfStage) const {
  double done = 0, all = 0;
  bool reached = false;
  for (const Stage& stage : m_stages) {
    all += stage.cost;
    if (stage.name == m_stage) {
      done += stage.cost * partOfStage;
      reached = true;
    } else if (!reached) {
      done += stage.cost;
    }
  }
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  if (!reached || all <= 0 || done < kEarliest * all || elapsed < kFirstSeconds) return base::kUnknownTime;
  return elapsed * (all - done) / done;
}

void RunProgress::at(const Batch& batch, double part, const std::string& modulePath, const std::string& op) {
  if (!m_sink) return;
  const double done = m_samples > 0 ? (static_cast<double>(batch.first) + part * static_cast<double>(batch.size)) / static_cast<double>(m_samples) : 0;
  m_sink({m_stage, modulePath, op, batch.first, m_samples, secondsLeft(done)});
}

}  // namespace ulpscope::engine
