// Reads a training of a session on a thread of its own.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "widgets/models/training_models.h"

#include <QObject>
#include <QThreadPool>

namespace ulpscope::jobs {

class TrainingLoader : public QObject {
  Q_OBJECT

 public:
  explicit TrainingLoader(QObject* parent = nullptr);
  ~TrainingLoader() override;
  // A newer request replaces an older one: only the newest is answered.
  void load(const QString& sessionPath, const std::shared_ptr<const session::Session>& session, int number);
  void drop() { ++m_newest; }  // nobody waits any more

 signals:
  void loaded(const ulpscope::models::TrainingPointer& training);
  void failed(const ulpscope::base::Error& error);

 private:
  QThreadPool m_pool;
  int m_newest = 0;
};

}  // namespace ulpscope::jobs
