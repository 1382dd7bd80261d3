#include "widgets/jobs/session_watch.h"

#include "core/storage/session_store.h"
#include "widgets/models/text.h"

#include <QFile>
#include <QFileInfo>
#include <QtConcurrent>

#include <sys/stat.h>

#include <utility>

namespace ulpscope::jobs {
namespace {

using Outcome = base::Result<session::Session>;

constexpr int kSettleMs = 120;

}  // namespace

SessionWatch::SessionWatch(QObject* parent) : QObject(parent) {
  m_pool.setMaxThreadCount(1);
  m_settle.setSingleShot(true);
  m_settle.setInterval(kSettleMs);
  connect(&m_settle, &QTimer::timeout, this, &SessionWatch::check);
  const auto later = [this] { m_settle.start(); };
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, later);
  connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, later);
}

SessionWatch::~SessionWatch() { m_pool.waitForDone(); }

void SessionWatch::watch(const QString& path) {
  if (path == m_path) return;
  if (const QStringList old = m_watcher.files() + m_watcher.directories(); !old.isEmpty()) m_watcher.removePaths(old);
  m_path = path;
  m_seen = stampNow();
  ++m_newest;
  follow();
  if (m_seen.exists) read();  // it may have been written since it was loaded
}

// A file that is replaced drops out of the watcher; its folder tells of the next one.
void SessionWatch::follow() {
  if (m_path.isEmpty()) return;
  const QString folder = QFileInfo(m_path).absolutePath();
  if (!m_watcher.directories().contains(folder) && QFileInfo::exists(folder)) m_watcher.addPath(folder);
  if (!m_watcher.files().contains(m_path) && QFileInfo::exists(m_path)) m_watcher.addPath(m_path);
}

SessionWatch::Stamp SessionWatch::stampNow() const {
  struct stat info {};
  if (m_path.isEmpty() || ::stat(QFile::encodeName(m_path).constData(), &info) != 0) return {};
  const qint64 ms = qint64{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1000000;
  return {true, QDateTime::fromMSecsSinceEpoch(ms), static_cast<qint64>(info.st_size), static_cast<quint64>(info.st_ino)};
}

void SessionWatch::check() {
  if (m_path.isEmpty()) return;
  follow();
  const Stamp now = stampNow();
  if (now == m_seen) return;
  const bool was = std::exchange(m_seen, now).exists;
  if (!now.exists) {
    ++m_newest;
    emit vanished();
    return;
  }
  if (!was) emit returned();
  read();
}

void SessionWatch::read() {
  const int number = ++m_newest;
  QtConcurrent::run(&m_pool, [path = models::core(m_path)] { return std::make_shared<Outcome>(storage::openSession(path)); })
      .then(this, [this, number](const std::shared_ptr<Outcome>& outcome) {
        if (number != m_newest) return;
        if (outcome->ok())
          emit changed(std::make_shared<const session::Session>(std::move(*outcome).value()));
        else
          emit unreadable(outcome->error());
      });
}

}  // namespace ulpscope::jobs
