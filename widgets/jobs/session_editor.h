// Writes what users say of runs (names, baseline, deletions) on a thread of its own; the window never waits for a disk or a lock.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/storage/run_edit.h"

#include <QObject>
#include <QThreadPool>

#include <memory>
#include <stop_token>

namespace ulpscope::jobs {

class SessionEditor : public QObject {
  Q_OBJECT

 public:
  explicit SessionEditor(QObject* parent = nullptr);
  // What is queued is still written; a writer that waits for another's lock tries for a last second.
  ~SessionEditor() override;
  // One after another, in this order; each is answered once, by written() or failed(), under the number given here.
  int write(const QString& path, const QString& sessionId, const storage::RunEdit& edit);
  bool isBusy() const { return m_pending > 0; }

 signals:
  void written(int ticket, const std::shared_ptr<const ulpscope::session::Session>& session);  // as it stands on the disk
  void failed(int ticket, const ulpscope::base::Error& error);
  void waiting(const QString& holder);  // "process 12 on host" writes to it; told once for each time it has to wait

 private:
  struct Job;
  base::Result<session::Session> run(const Job& job);
  void answer(int ticket, const base::Result<session::Session>& outcome);

  QThreadPool m_pool;  // one thread
  std::stop_source m_stop;
  int m_lastTicket = 0;
  int m_pending = 0;
};

}  // namespace ulpscope::jobs
