// From a point of a scan to a run sheet for a new session whose set has that point too.
#pragma once

#include "widgets/jobs/scan_inputs.h"
#include "widgets/models/run_form.h"
#include "widgets/views/workbench.h"

#include <QObject>

class QWidget;

namespace ulpscope::views {

class BoundaryPanel;

class BoundaryDesk : public QObject {
  Q_OBJECT

 public:
  BoundaryDesk(Workbench& workbench, BoundaryPanel* panel, QWidget* window);

 signals:
  void formReady(const ulpscope::models::RunForm& form);

 private:
  void ask();
  void begin(const QString& inputs);

  Workbench& m_workbench;
  BoundaryPanel* m_panel;
  QWidget* m_window;
  jobs::PointWriter m_writer;
  session::RunSettings m_settings;  // of the scan that the point is of
};

}  // namespace ulpscope::views
