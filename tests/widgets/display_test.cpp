// How the program ends where there is no display to show a window on: one line and an exit code, no abort.
#include <QProcess>
#include <QTemporaryDir>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

struct Ended {
  int code = -1;
  bool normally = false;
  QString err;
};

Ended start(const QString& display, const QString& platform, const QStringList& words = {}) {
  QTemporaryDir home;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "DISPLAY", "QT_QPA_PLATFORM"}) environment.remove(QLatin1String(name));
  for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}) environment.insert(QLatin1String(name), home.path());
  if (!display.isEmpty()) environment.insert(QStringLiteral("DISPLAY"), display);
  if (!platform.isEmpty()) environment.insert(QStringLiteral("QT_QPA_PLATFORM"), platform);
  QProcess process;
  process.setProcessEnvironment(environment);
  process.setWorkingDirectory(home.path());
  process.start(QStringLiteral(ULPSCOPE_TEST_BUILD "/bin/ulpscope-gui"), words);
  EXPECT_TRUE(process.waitForFinished(20000));
  return {process.exitCode(), process.exitStatus() == QProcess::NormalExit, QString::fromUtf8(process.readAllStandardError())};
}

TEST(Display, ThatDoesNotAnswerIsNamedInOneLine) {
  for (const char* platform : {"", "xcb"}) {
    const Ended ended = start(QStringLiteral(":7654321"), QLatin1String(platform));
    EXPECT_TRUE(ended.normally) << "no abort";
    EXPECT_EQ(ended.code, 4);
    EXPECT_EQ(ended.err.toStdString(), "ulpscope-gui: could not connect to display :7654321; check DISPLAY, WAYLAND_DISPLAY and QT_QPA_PLATFORM, or open the session on a machine with a display\n");
  }
}

TEST(Display, OfAKindThatQtHasNotIsNamedInOneLine) {
  const Ended ended = start({}, QStringLiteral("nosuch"));
  EXPECT_TRUE(ended.normally);
  EXPECT_EQ(ended.code, 4);
  EXPECT_TRUE(ended.err.startsWith(QStringLiteral("ulpscope-gui: Could not find the Qt platform plugin \"nosuch\"; check DISPLAY"))) << ended.err.toStdString();
  EXPECT_EQ(ended.err.count(u'\n'), 1);
}

TEST(Display, ThatIsNowhereIsToldAsWell) {
  const Ended ended = start({}, {});
  EXPECT_EQ(ended.code, 4);
  EXPECT_TRUE(ended.err.contains(QStringLiteral("neither DISPLAY nor WAYLAND_DISPLAY is set"))) << ended.err.toStdString();
  EXPECT_EQ(ended.err.count(u'\n'), 1);
}

TEST(Display, IsNotNeededForPicturesAlone) {
  for (const char* platform : {"offscreen", "minimal"}) {
    const Ended ended = start(QStringLiteral(":7654321"), QLatin1String(platform), {QStringLiteral("--version")});
    EXPECT_TRUE(ended.normally) << platform;
    EXPECT_EQ(ended.code, 0) << platform << ended.err.toStdString();
  }
}

}  // namespace
}  // namespace ulpscope
