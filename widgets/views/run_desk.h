// What is done to the session's file besides running: names, the baseline, deleting and restoring runs, with undo; and what is to be said
// when another program wrote the file, took it away, or lets us wait.
#pragma once

#include "widgets/jobs/session_editor.h"
#include "widgets/jobs/session_watch.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <map>
#include <memory>

namespace ulpscope::views {

class Workbench;

class RunDesk : public QObject {
  Q_OBJECT

 public:
  explicit RunDesk(Workbench& workbench);
  ~RunDesk() override;

  void rename(const QString& runId, const QString& name);
  void chooseBaseline(const QString& runId);  // empty: none any more
  void remove(const QString& runId);
  void restore(const QString& runId);
  bool isBusy() const { return m_editor.isBusy(); }

  // Why nothing can be written to the session; empty: it can.
  const QString& readOnlyReason() const { return m_readOnly; }
  // What is to be said of the file, in one line; empty: nothing.
  QString note() const;
  // Runs that another program added and nobody looked at yet, oldest first; empty: none.
  const QStringList& newRuns() const { return m_newRuns; }
  void showNewRun();  // the newest of them
  void dismissNote();
  void repeatNote();  // though it was dismissed
  void checkFile() { m_watch.check(); }

 signals:
  void noteChanged();

 private:
  class Command;
  // One write on its way: who asked for it.
  struct Pending {
    enum class By { user, undo, redo } by = By::user;
    storage::RunEdit edit, inverse;
    QString text;  // of the undo stack
    Command* command = nullptr;  // of undo and redo; may be gone
    QString shownA, shownB;      // when it was asked for
  };

  void ask(const storage::RunEdit& edit, const storage::RunEdit& inverse, const QString& text);
  void write(const Pending& pending);
  void onWritten(int ticket, const std::shared_ptr<const session::Session>& session);
  void onFailed(int ticket, const base::Error& error);
  void realign(const Pending& pending);
  void follow(const Pending& done);
  void onSession();
  void onDisk(const std::shared_ptr<const session::Session>& session);
  void compareWithDisk();
  void takeOver(const std::shared_ptr<const session::Session>& session);
  void setFileNote(const QString& note);

  Workbench& m_workbench;
  jobs::SessionEditor m_editor;
  jobs::SessionWatch m_watch;
  std::map<int, Pending> m_pending;  // by ticket
  std::shared_ptr<const session::Session> m_disk;  // as another program left it, until our own writes and runs are over
  bool m_isRealigning = false;
  QString m_path, m_sessionId;
  QString m_readOnly, m_fileNote, m_waiting;
  QStringList m_newRuns;
  QString m_toSay;  // once the runs that a write made A and B are loaded
  bool m_isDismissed = false;
};

}  // namespace ulpscope::views
