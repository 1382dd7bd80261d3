// What a run decided for each sample, read off its stored outputs, off the window's thread.
#pragma once

#include "widgets/models/sample_outcome.h"

#include <QObject>
#include <QThreadPool>

#include <atomic>

namespace ulpscope::jobs {

class DecidedLoader : public QObject {
  Q_OBJECT

 public:
  explicit DecidedLoader(QObject* parent = nullptr);
  ~DecidedLoader() override;
  // A newer request replaces an older one. Outputs that cannot be read answer nothing: the tables go without those names.
  void load(const QString& sessionPath, const models::RunPointer& run);

 signals:
  void loaded(const ulpscope::models::RunPointer& run, const ulpscope::models::DecidedPointer& decided);

 private:
  QThreadPool m_pool;
  std::atomic<int> m_newest = 0;
};

}  // namespace ulpscope::jobs
