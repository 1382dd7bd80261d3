#include "widgets/views/export_desk.h"

#include "widgets/models/text.h"
#include "widgets/plots/report_pdf.h"
#include "widgets/views/export_dialog.h"
#include "widgets/views/message_bar.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QUrl>

namespace ulpscope::views {

using models::qt;

ExportDesk::ExportDesk(Workbench& workbench, MessageBar* message, QWidget* window) : QObject(window), m_workbench(workbench), m_message(message), m_window(window), m_exporter(plots::reportPdf) {
  m_openFolder = [](const QString& folder) { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); };
  connect(&m_exporter, &jobs::ReportExporter::written, this, [this](const QString& folder, const QStringList& files) {
    QStringList names;
    for (const QString& file : files) names << QFileInfo(file).fileName();
    m_message->showHint(tr("Report written to %1: %2").arg(QDir::toNativeSeparators(folder), names.join(QStringLiteral(", "))), tr("Open folder"), [this, folder] { m_openFolder(folder); });
  });
  connect(&m_exporter, &jobs::ReportExporter::failed, this, [this](const base::Error& error) { m_message->showProblem(qt(error.message())); });
}

void ExportDesk::start(Results results) {
  if (!m_workbench.session()) return;
  const QFileInfo file(m_workbench.sessionPath());
  jobs::ReportOrder order;
  order.sessionPath = m_workbench.sessionPath();
  order.session = m_workbench.session();
  if (m_workbench.runB()) order.runId = qt(m_workbench.runB()->run->id());
  order.isCovered = results == Results::covered;
  const QString about = order.runId.isEmpty() ? file.fileName() : tr("%1 of %2").arg(order.runId, file.fileName());
  auto* dialog = new ExportDialog({file.absoluteDir().filePath(file.completeBaseName() + QStringLiteral("-report")), about, order.isCovered}, m_window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog, order]() mutable {
    order.formats = dialog->formats();
    order.language = dialog->language();
    order.folder = QFileInfo(dialog->folder()).absoluteFilePath();
    write(std::move(order));
  });
  dialog->open();
}

void ExportDesk::write(jobs::ReportOrder order) {
  if (!m_exporter.write(order)) m_message->showProblem(tr("A report is being written; export again when it is done"));
}

}  // namespace ulpscope::views
