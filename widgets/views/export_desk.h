// Export: asks what and where to, writes it beside the GUI's thread, says where it is.
#pragma once

#include "widgets/jobs/report_exporter.h"
#include "widgets/views/workbench.h"

#include <functional>
#include <utility>

class QWidget;

namespace ulpscope::views {

class MessageBar;

class ExportDesk : public QObject {
  Q_OBJECT

 public:
  // window: over which the dialog stands.
  ExportDesk(Workbench& workbench, MessageBar* message, QWidget* window);
  // covered: results are not to be seen now. Precondition: a session is open.
  enum class Results { shown, covered };
  void start(Results results);
  void setOpenFolder(std::function<void(const QString& folder)> open) { m_openFolder = std::move(open); }  // the desktop's way unless told otherwise

 private:
  void write(jobs::ReportOrder order);

  Workbench& m_workbench;
  MessageBar* m_message;
  QWidget* m_window;
  jobs::ReportExporter m_exporter;
  std::function<void(const QString&)> m_openFolder;
};

}  // namespace ulpscope::views
