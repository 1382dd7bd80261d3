// Reads sessions on a thread of its own; the window never waits for a disk.
#pragma once

#include "core/base/error.h"
#include "widgets/models/loaded_run.h"

#include <QObject>
#include <QThreadPool>

namespace ulpscope::jobs {

struct LoadRequest {
  QString path;
  QString runA;  // ids; both empty: the last run as B, the baseline or else the one before it as A
  QString runB;
};

class SessionLoader : public QObject {
  Q_OBJECT

 public:
  explicit SessionLoader(QObject* parent = nullptr);
  ~SessionLoader() override;
  // A newer request replaces an older one: only the newest is answered.
  void load(const LoadRequest& request);
  // The same after an engine died: first removes what its writer left unfinished. Silent where there is no session.
  void clearAndLoad(const LoadRequest& request);
  bool isLoading() const { return m_isLoading; }

 signals:
  void loaded(const ulpscope::models::LoadedSession& session);
  void failed(const ulpscope::base::Error& error);

 private:
  void start(const LoadRequest& request, bool afterDeath);

  QThreadPool m_pool;  // one thread: HDF5 has one owner at a time
  int m_newest = 0;
  bool m_isLoading = false;
};

// What the loader runs: blocking, for any thread that owns HDF5. A run whose metrics cannot be read comes with the reason.
base::Result<models::LoadedSession> loadSession(const LoadRequest& request);

}  // namespace ulpscope::jobs
