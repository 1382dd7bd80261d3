// Pictures of samples' inputs, read on a thread of its own from the inputs file that a session names.
#pragma once

#include "core/render/thumbnail.h"
#include "widgets/jobs/input_source.h"
#include "widgets/models/gallery_model.h"

#include <QObject>
#include <QStringList>
#include <QThreadPool>

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace ulpscope::jobs {

struct ThumbnailRequest {
  QString input;
  std::vector<std::int64_t> samples;
  render::ThumbnailSize most;
  render::Theme theme = render::Theme::light;
};
using ThumbnailBatch = std::vector<std::pair<std::int64_t, models::ThumbnailPointer>>;

class InputLoader : public QObject {
  Q_OBJECT

 public:
  explicit InputLoader(QObject* parent = nullptr);
  ~InputLoader() override;
  // Looks at the file or folder and checks that it is the run's, by its SHA-256 (computed once for each state of it). Ends with opened() or failed();
  // a newer source replaces an older one. The one that is open already is not opened again.
  void open(const InputSource& source);
  // Precondition: opened() came. While one request is read only the newest other one is kept.
  void load(const ThumbnailRequest& request);
  void close();
  const std::optional<InputSource>& source() const { return m_source; }

 signals:
  void opened(const QStringList& inputs, int shownFirst);  // the first that gives a picture, or the first of all
  void failed(const QString& why);                         // one line; no pictures of this source
  void loaded(const QString& input, const ulpscope::jobs::ThumbnailBatch& batch);

 private:
  struct Opened;
  void start(const ThumbnailRequest& request);

  QThreadPool m_pool;  // one thread: HDF5 has one owner at a time
  std::shared_ptr<FileDigests> m_digests;
  std::optional<InputSource> m_source;
  QString m_path;        // of the open file
  QStringList m_inputs;  // that it holds
  std::stop_source m_stop;
  int m_generation = 0;
  bool m_isBusy = false;
  std::optional<ThumbnailRequest> m_next;
};

}  // namespace ulpscope::jobs
