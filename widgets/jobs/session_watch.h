// Looks after the file of the session that is shown: tells when another program wrote it, took it away or put it back.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <memory>

namespace ulpscope::jobs {

class SessionWatch : public QObject {
  Q_OBJECT

 public:
  explicit SessionWatch(QObject* parent = nullptr);
  ~SessionWatch() override;
  void watch(const QString& path);  // empty: nothing
  // Looks now: for disks that tell nothing of changes (network), when the window comes to the front.
  void check();

 signals:
  void changed(const std::shared_ptr<const ulpscope::session::Session>& session);  // as it stands on the disk now
  void unreadable(const ulpscope::base::Error& error);                            // it stands there, but no longer reads
  void vanished();                                                                // moved or deleted
  void returned();                                                                // a file stands there again; changed() or unreadable() follows

 private:
  // What tells one writing of the file from the next: it is replaced as a whole.
  struct Stamp {
    bool exists = false;
    QDateTime written;
    qint64 size = 0;
    quint64 inode = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp stampNow() const;
  void follow();
  void read();

  QFileSystemWatcher m_watcher;
  QTimer m_settle;  // a save is several changes of the folder
  QThreadPool m_pool;
  QString m_path;
  Stamp m_seen;
  int m_newest = 0;
};

}  // namespace ulpscope::jobs
