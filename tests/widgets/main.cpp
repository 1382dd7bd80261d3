// Runs widget tests offscreen in one look; any warning of Qt's fails the test that is running.
#include "widgets/plots/theme.h"

#include <QApplication>
#include <QFont>

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

namespace {

void failOnWarning(QtMsgType type, const QMessageLogContext&, const QString& message) {
  const QByteArray text = message.toUtf8();
  // What the offscreen platform says of itself for every window that is shown; nothing of ours.
  const bool isOffscreenLimit = message == QLatin1String("This plugin does not support propagateSizeHints()");
  if (type == QtDebugMsg || type == QtInfoMsg || isOffscreenLimit) {
    std::fprintf(stderr, "%s\n", text.constData());
    return;
  }
  ADD_FAILURE() << "Qt says: " << text.constData();
  if (type == QtFatalMsg) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  if (qEnvironmentVariableIsEmpty("ULPSCOPE_ENGINE")) qputenv("ULPSCOPE_ENGINE", ULPSCOPE_TEST_BUILD "/bin/ulpscope-engine");
  QApplication application(argc, argv);
  application.setFont(QFont(QStringLiteral("DejaVu Sans"), 10));
  ulpscope::plots::applyTheme(application, ulpscope::plots::ThemeChoice::light, QPalette());
  testing::InitGoogleMock(&argc, argv);
  qInstallMessageHandler(failOnWarning);
  return RUN_ALL_TESTS();
}
