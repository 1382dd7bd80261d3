#include "widgets/jobs/session_editor.h"

#include "widgets/models/text.h"

#include <QtConcurrent>

#include <chrono>
#include <utility>

namespace ulpscope::jobs {
namespace {

using models::core;
using models::qt;
using Outcome = base::Result<session::Session>;

constexpr auto kFirstTry = std::chrono::milliseconds(200);  // ordinary writes are over by then
constexpr auto kSlice = std::chrono::milliseconds(500);
constexpr auto kPatience = std::chrono::minutes(2);

}  // namespace

struct SessionEditor::Job {
  std::string path, sessionId;
  storage::RunEdit edit;
};

SessionEditor::SessionEditor(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

SessionEditor::~SessionEditor() {
  m_stop.request_stop();
  m_pool.waitForDone();
}

// In slices, so that whoever waits can say for whom, and can stop.
Outcome SessionEditor::run(const Job& job) {
  const auto attempt = [&](std::chrono::milliseconds patience) { return storage::editRun(job.path, job.sessionId, job.edit, patience); };
  Outcome outcome = attempt(kFirstTry);
  const auto giveUp = std::chrono::steady_clock::now() + kPatience;
  bool isTold = false;
  while (!outcome.ok() && std::chrono::steady_clock::now() < giveUp && !m_stop.stop_requested()) {
    const std::string holder = storage::lockHolder(job.path);
    if (holder.empty() && outcome.error().what.rfind("is being written", 0) != 0) break;
    if (!holder.empty() && !std::exchange(isTold, true))
      QMetaObject::invokeMethod(this, [this, text = qt(holder)] { emit waiting(text); }, Qt::QueuedConnection);
    outcome = attempt(kSlice);
  }
  return outcome;
}

void SessionEditor::answer(int ticket, const Outcome& outcome) {
  --m_pending;
  if (outcome.ok())
    emit written(ticket, std::make_shared<const session::Session>(outcome.value()));
  else
    emit failed(ticket, outcome.error());
}

int SessionEditor::write(const QString& path, const QString& sessionId, const storage::RunEdit& edit) {
  const int ticket = ++m_lastTicket;
  ++m_pending;
  const Job job{core(path), core(sessionId), edit};
  // Queued: a continuation of what is done already would be called before this function returns.
  static_cast<void>(QtConcurrent::run(&m_pool, [this, job, ticket] {
    const auto outcome = std::make_shared<Outcome>(run(job));
    QMetaObject::invokeMethod(this, [this, ticket, outcome] { answer(ticket, *outcome); }, Qt::QueuedConnection);
  }));
  return ticket;
}

}  // namespace ulpscope::jobs
