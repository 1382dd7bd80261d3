// The inputs of a scan's points: as pictures, and as a sample that is added to a set of its own. Both off the window's thread.
#pragma once

#include "core/analysis/interpolation.h"
#include "core/render/thumbnail.h"
#include "core/storage/added_sample.h"
#include "widgets/jobs/input_source.h"
#include "widgets/models/gallery_model.h"
#include "widgets/models/loaded_scan.h"

#include <QObject>
#include <QStringList>
#include <QThreadPool>

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace ulpscope::jobs {

// A scan, where its inputs lie, and a point of it: t of a segment, u and v of a plane; empty: the first sample itself, or the one of `sample`.
struct ScanPlace {
  models::ScanPointer scan;
  InputSource source;
  std::vector<double> coefficients;
  QString sample = {};
};

struct PointPicture {
  QStringList inputs;  // those that can be shown, what moves first
  QString input;       // the one shown
  models::ThumbnailPointer thumbnail;
  QString problem;     // why there is none, one line; empty: there is one
};

// Answers the newest request only; reads the ends of an input once.
class PointLoader : public QObject {
  Q_OBJECT

 public:
  struct Request {
    ScanPlace place;
    QString input;  // empty: the first that moves and gives a picture
    render::ThumbnailSize most;
    render::Theme theme = render::Theme::light;
  };
  explicit PointLoader(QObject* parent = nullptr);
  ~PointLoader() override;
  void load(const Request& request);
  void drop();  // nobody waits any more

 signals:
  void loaded(const ulpscope::jobs::PointPicture& picture);

 private:
  class Reader;
  void start(const Request& request);

  QThreadPool m_pool;  // one thread: HDF5 has one owner at a time
  std::shared_ptr<Reader> m_reader;
  std::stop_source m_stop;
  std::optional<Request> m_next;
  bool m_isBusy = false;
  int m_generation = 0;
};

// Writes the set with one sample more, the input at a place of the scan.
class PointWriter : public QObject {
  Q_OBJECT

 public:
  struct Order {
    ScanPlace place;
    QString path;  // of the new file
    QString id;
    std::optional<std::int64_t> label;
  };
  explicit PointWriter(QObject* parent = nullptr);
  ~PointWriter() override;
  // Ends with written() or failed().
  void write(const Order& order);
  bool isBusy() const { return m_isBusy; }

 signals:
  void written(const QString& path);
  void failed(const ulpscope::base::Error& error);

 private:
  QThreadPool m_pool;
  std::stop_source m_stop;
  bool m_isBusy = false;
};

}  // namespace ulpscope::jobs
