// Reads one sample of a stored op output and cuts its picture, on a thread of its own.
#pragma once

#include "core/base/error.h"
#include "widgets/models/tensor_look.h"

#include <QObject>
#include <QThreadPool>

#include <atomic>
#include <optional>

namespace ulpscope::jobs {

struct TensorRequest {
  QString sessionPath;
  models::RunPointer run;
  std::int64_t site = -1;
  std::int64_t sample = 0;
  std::optional<render::SliceChoice> slice;  // none: the default one
};

class TensorLoader : public QObject {
  Q_OBJECT

 public:
  explicit TensorLoader(QObject* parent = nullptr);
  ~TensorLoader() override;
  // A newer request replaces an older one: only the newest is answered, one that has not begun never begins.
  // Another slice of what was read last is not read again.
  void load(const TensorRequest& request);
  void cancel();  // nothing asked for so far is answered; what was read last is let go
  bool isLoading() const { return m_isLoading; }

 signals:
  void loaded(const ulpscope::models::TensorPicturePointer& picture);
  void failed(const ulpscope::base::Error& error);

 private:
  QThreadPool m_pool;  // one thread: HDF5 has one owner at a time
  std::atomic<int> m_newest = 0;
  bool m_isLoading = false;
  models::TensorLookPointer m_last;
};

// What the loader runs: blocking, for any thread. last: what was read before, or nullptr.
base::Result<models::TensorPicturePointer> loadTensor(const TensorRequest& request, const models::TensorLookPointer& last);

}  // namespace ulpscope::jobs
