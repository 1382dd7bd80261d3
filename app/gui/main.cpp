// ulpscope-gui [SESSION.ulps] | --demo NAME [--session-dir DIR]
#include "settings.h"
#include "widgets/plots/theme.h"
#include "widgets/views/main_window.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QTimer>

#include <cstdio>

namespace {

constexpr int kUsage = 2;

struct Arguments {
  QString session, demo, sessionFolder;
  std::optional<ulpscope::plots::ThemeChoice> theme;
};

// Exits on --help, --version and wrong words.
Arguments parse(const QApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Shows where a PyTorch model breaks under automatic mixed precision."));
  const QCommandLineOption demo(QStringLiteral("demo"), QStringLiteral("Run a built-in demo and show it."), QStringLiteral("NAME"));
  const QCommandLineOption folder(QStringLiteral("session-dir"), QStringLiteral("Where the sessions of demos are written."), QStringLiteral("DIR"));
  const QCommandLineOption theme(QStringLiteral("theme"), QStringLiteral("light, dark or system, for this start."), QStringLiteral("THEME"));
  parser.addOptions({demo, folder, theme});
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("SESSION"), QStringLiteral("Session to open (.ulps)."), QStringLiteral("[SESSION]"));
  parser.process(application);
  const QStringList words = parser.positionalArguments();
  if (words.size() > 1 || (!words.isEmpty() && parser.isSet(demo))) {
    std::fputs("ulpscope-gui: one session or one --demo, not both; see ulpscope-gui --help\n", stderr);
    std::exit(kUsage);
  }
  Arguments arguments{words.value(0), parser.value(demo), parser.value(folder), std::nullopt};
  if (parser.isSet(theme)) arguments.theme = ulpscope::plots::themeChoiceFromName(parser.value(theme));
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ulpscope;
  // Qt would abort; one line says it as well.
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
    std::fputs("ulpscope-gui: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); open the session on a machine with one\n", stderr);
    return 4;
  }
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("ulpscope"));
  QCoreApplication::setApplicationName(QStringLiteral("ulpscope"));
  QCoreApplication::setApplicationVersion(QStringLiteral(ULPSCOPE_VERSION));
  const Arguments arguments = parse(application);
  const QPalette systemPalette = QApplication::palette();
  views::WindowOptions options = gui::readOptions();
  if (arguments.theme) options.theme = *arguments.theme;
  if (!arguments.sessionFolder.isEmpty()) options.demoSessionFolder = arguments.sessionFolder;
  plots::applyTheme(application, options.theme, systemPalette);

  views::MainWindow window(options);
  QObject::connect(&window, &views::MainWindow::themeChosen, &window, [&](plots::ThemeChoice choice) {
    plots::applyTheme(application, choice, systemPalette);
    gui::saveTheme(choice);
  });
  QObject::connect(&window, &views::MainWindow::recentSessionsChanged, &window, &gui::saveRecentSessions);
  QObject::connect(&application, &QApplication::aboutToQuit, &window, [&] { gui::saveGeometry(window); });
  gui::restoreGeometry(window);
  window.show();
  // Once the event loop runs: what they tell is then seen.
  QTimer::singleShot(0, &window, [&] {
    if (!arguments.demo.isEmpty()) window.runDemo(arguments.demo);
    if (!arguments.session.isEmpty()) window.openSession(arguments.session);
  });
  return QApplication::exec();
}
