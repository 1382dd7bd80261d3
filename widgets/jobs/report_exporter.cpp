#include "widgets/jobs/report_exporter.h"

#include "core/report/report_content.h"
#include "core/report/report_document.h"
#include "widgets/models/text.h"

#include <QtConcurrent>

#include <algorithm>

namespace ulpscope::jobs {
namespace {

using models::core;
using models::qt;
using Paths = base::Result<std::vector<std::string>>;

Paths writeReport(const ReportOrder& order, const ReportExporter::Print& print) {
  const std::string folder = core(order.folder);
  if (const auto free = report::checkReportFolder(folder, order.formats); !free) return free.error();
  const auto content = report::reportContent({core(order.sessionPath), *order.session, core(order.runId), order.isCovered});
  if (!content) return content.error();
  std::vector<report::ReportFile> files = report::reportFiles(content.value(), order.language, order.formats);
  if (std::find(order.formats.begin(), order.formats.end(), report::Format::pdf) != order.formats.end())
    files.push_back({report::fileNames(report::Format::pdf).front(), print(report::reportDocument(content.value(), order.language)).toStdString()});
  return report::writeReportFiles(folder, files);
}

}  // namespace

ReportExporter::ReportExporter(Print print, QObject* parent) : QObject(parent), m_print(std::move(print)) { m_pool.setMaxThreadCount(1); }

ReportExporter::~ReportExporter() { m_pool.waitForDone(); }

bool ReportExporter::write(const ReportOrder& order) {
  if (m_isBusy) return false;
  m_isBusy = true;
  QtConcurrent::run(&m_pool, [order, print = m_print] { return std::make_shared<Paths>(writeReport(order, print)); }).then(this, [this, folder = order.folder](const std::shared_ptr<Paths>& paths) {
    m_isBusy = false;
    if (!paths->ok()) return emit failed(paths->error());
    QStringList files;
    for (const std::string& path : paths->value()) files << qt(path);
    emit written(folder, files);
  });
  return true;
}

}  // namespace ulpscope::jobs
