// Writes a report of a session on a thread of its own.
#pragma once

#include "core/report/report_files.h"
#include "core/session/session.h"

#include <QObject>
#include <QStringList>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <vector>

namespace ulpscope::jobs {

struct ReportOrder {
  QString sessionPath;
  std::shared_ptr<const session::Session> session;
  QString runId;            // empty: the session holds none
  bool isCovered = false;   // leave every result out
  QString folder;
  std::vector<report::Format> formats;
  report::Language language = report::Language::english;
};

class ReportExporter : public QObject {
  Q_OBJECT

 public:
  // Sets a document as PDF, on any thread; its drawing is not this folder's.
  using Print = std::function<QByteArray(const report::Document&)>;
  explicit ReportExporter(Print print, QObject* parent = nullptr);
  ~ReportExporter() override;
  // One at a time: false, and nothing done, while another is written. Ends with written() or failed().
  bool write(const ReportOrder& order);
  bool isBusy() const { return m_isBusy; }

 signals:
  void written(const QString& folder, const QStringList& files);
  void failed(const ulpscope::base::Error& error);

 private:
  Print m_print;
  QThreadPool m_pool;  // one thread: HDF5 has one owner at a time
  bool m_isBusy = false;
};

}  // namespace ulpscope::jobs
