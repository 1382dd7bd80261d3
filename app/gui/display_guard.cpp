#include "display_guard.h"

#include <QStringList>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace ulpscope::gui {
namespace {

// A message handler has no object to write to.
QStringList& saidSoFar() {
  static QStringList said;
  return said;
}

// Qt tries one platform after the other and ends with a long word about plugins; what it said first of either is the reason.
QString reason() {
  for (const QString& line : saidSoFar())
    if (line.contains(QLatin1String("display")) || line.contains(QLatin1String("platform plugin"))) return QString(line).remove(QStringLiteral(" in \"\""));
  return QStringLiteral("no display can be used");
}

void hear(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtFatalMsg) std::_Exit(sayNoDisplay(reason()));
  saidSoFar() << message;
}

}  // namespace

int sayNoDisplay(const QString& why) {
  std::fprintf(stderr, "ulpscope-gui: %s; check DISPLAY, WAYLAND_DISPLAY and QT_QPA_PLATFORM, or open the session on a machine with a display\n", qUtf8Printable(why));
  return kNoDisplay;
}

DisplayGuard::DisplayGuard() : m_before(qInstallMessageHandler(hear)) {}

DisplayGuard::~DisplayGuard() {
  qInstallMessageHandler(m_before);
  for (const QString& line : std::exchange(saidSoFar(), {})) std::fprintf(stderr, "%s\n", qUtf8Printable(line));
}

}  // namespace ulpscope::gui
