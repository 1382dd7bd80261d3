// Locks another revision of a session's criteria, off the window's thread.
#pragma once

#include "core/base/error.h"

#include <QObject>
#include <QThreadPool>

#include <string>

namespace ulpscope::jobs {

class RevisionWriter : public QObject {
  Q_OBJECT

 public:
  explicit RevisionWriter(QObject* parent = nullptr);
  ~RevisionWriter() override;
  // canonical: JSON of the criteria. Ends with written() or failed().
  void write(const QString& sessionPath, const std::string& canonical, const QString& reason);

 signals:
  void written(const QString& sessionPath);
  void failed(const ulpscope::base::Error& error);

 private:
  QThreadPool m_pool;
};

}  // namespace ulpscope::jobs
