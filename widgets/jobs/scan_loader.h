// Reads a stored scan of a session on a thread of its own.
#pragma once

#include "core/base/error.h"
#include "widgets/models/loaded_scan.h"

#include <QObject>
#include <QThreadPool>

namespace ulpscope::jobs {

class ScanLoader : public QObject {
  Q_OBJECT

 public:
  explicit ScanLoader(QObject* parent = nullptr);
  ~ScanLoader() override;
  // A newer request replaces an older one: only the newest is answered.
  void load(const QString& sessionPath, const std::shared_ptr<const session::Session>& session, int number);
  void drop() { ++m_newest; }  // nobody waits any more

 signals:
  void loaded(const ulpscope::models::ScanPointer& scan);
  void failed(const ulpscope::base::Error& error);

 private:
  QThreadPool m_pool;
  int m_newest = 0;
};

}  // namespace ulpscope::jobs
