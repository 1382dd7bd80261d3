#include "widgets/views/boundary_desk.h"

#include "core/session/demo.h"
#include "widgets/models/text.h"
#include "widgets/views/add_point_dialog.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/run_sheet.h"
#include "widgets/views/scan_point_view.h"

#include <QFileInfo>

namespace ulpscope::views {

using models::core;
using models::qt;

BoundaryDesk::BoundaryDesk(Workbench& workbench, BoundaryPanel* panel, QWidget* window) : QObject(window), m_workbench(workbench), m_panel(panel), m_window(window) {
  connect(panel, &BoundaryPanel::addRequested, this, &BoundaryDesk::ask);
  connect(&m_writer, &jobs::PointWriter::written, this, &BoundaryDesk::begin);
  connect(&m_writer, &jobs::PointWriter::failed, this, [this](const base::Error& error) { emit m_workbench.problem(tr("The point was not added: %1").arg(qt(error.message()))); });
}

void BoundaryDesk::ask() {
  const jobs::ScanPlace& place = m_panel->pointView()->shown().place;
  if (!place.scan || place.coefficients.empty()) return;
  if (m_writer.isBusy()) return emit m_workbench.notice(tr("The set before is still being written."));
  auto* dialog = new AddPointDialog(place, m_workbench.sessionPath(), m_window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    const jobs::PointWriter::Order order = dialog->order();
    m_settings = order.place.scan->scan.settings;
    emit m_workbench.notice(tr("Writing %1 …").arg(QFileInfo(order.path).fileName()));
    m_writer.write(order);
  });
  dialog->open();
}

// The scan's experiment on the new set; labels, if any, and class names stand in its file.
void BoundaryDesk::begin(const QString& inputs) {
  if (!m_workbench.session()) return;
  session::RunRequest request;
  request.modelPath = m_workbench.session()->model.path;
  request.settings = m_settings;
  request.settings.onlySamples.clear();
  models::RunForm form = models::formOf(request);
  form.inputs = inputs;
  const QFileInfo shown(m_workbench.sessionPath());
  form.sessionPath = qt(session::freeSessionPath(core(shown.absolutePath()), core(shown.completeBaseName() + QStringLiteral("-boundary"))));
  emit m_workbench.notice(tr("%1 is written: this session stays as it is, the new one begins here.").arg(QFileInfo(inputs).fileName()));
  emit formReady(form);
}

}  // namespace ulpscope::views
