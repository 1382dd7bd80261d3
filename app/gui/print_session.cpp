#include "print_session.h"

#include "core/report/report_content.h"
#include "core/report/report_document.h"
#include "core/report/report_files.h"
#include "core/storage/session_store.h"
#include "core/storage/whole_file.h"
#include "widgets/models/text.h"
#include "widgets/plots/report_pdf.h"

#include <QtGlobal>

#include <cstdio>
#include <cstring>

namespace ulpscope::gui {
namespace {

using base::Error;
using base::Status;
using models::core;

Status print(const PrintOrder& order) {
  const auto language = report::languageFromName(order.language.isEmpty() ? "en" : core(order.language));
  if (!language) return language.error().within("--lang");
  const std::string path = core(order.session), pdf = core(order.pdf);
  if (auto free = report::checkReportFile(pdf); !free) return free;
  const auto session = storage::openSession(path);
  if (!session) return session.error();
  std::string runId = core(order.runId);
  if (runId.empty() && session->latest()) runId = session->latest()->id();
  if (!runId.empty() && !session->run(runId)) return Error{base::ErrorKind::usage, "is no run of " + path, runId, ""};
  const auto content = report::reportContent({path, session.value(), runId, order.isCovered});
  if (!content) return content.error();
  const QByteArray bytes = plots::reportPdf(report::reportDocument(content.value(), language.value()));
  return storage::writeWholeFile(pdf, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

}  // namespace

bool asksToPrint(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--print") == 0 || std::strncmp(argv[i], "--print=", 8) == 0) return true;
  return false;
}

void preparePrinting() {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type == QtFatalMsg) std::fprintf(stderr, "ulpscope-gui: %s\n", qUtf8Printable(message));
  });
}

int printSession(const PrintOrder& order) {
  const Status printed = print(order);
  if (printed) return 0;
  std::fprintf(stderr, "ulpscope-gui: %s\n", printed.error().message().c_str());
  return base::exitCode(printed.error().kind);
}

}  // namespace ulpscope::gui
