// ulpscope-gui [SESSION.ulps | MODEL [INPUTS]] | --demo NAME [--session-dir DIR] | --screenshot DIR SESSION.ulps | --print SESSION.ulps --out FILE.pdf
#include "display_guard.h"
#include "print_session.h"
#include "screenshots.h"
#include "settings.h"
#include "widgets/plots/theme.h"
#include "widgets/views/main_window.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QScreen>
#include <QTimer>

#include <cstdio>

namespace {

constexpr int kUsage = 2;

struct Arguments {
  QStringList files;
  QString demo, sessionFolder, screenshots;
  std::optional<ulpscope::gui::PrintOrder> print;
  std::optional<ulpscope::plots::ThemeChoice> theme;
};

// Null: nothing is to be printed. Exits on wrong words.
std::optional<ulpscope::gui::PrintOrder> printOrder(const QCommandLineParser& parser) {
  if (!parser.isSet(QStringLiteral("print"))) return std::nullopt;
  const ulpscope::gui::PrintOrder order{parser.value(QStringLiteral("print")), parser.value(QStringLiteral("out")), parser.value(QStringLiteral("lang")), parser.value(QStringLiteral("run")), parser.isSet(QStringLiteral("covered"))};
  if (!order.session.isEmpty() && order.pdf.endsWith(QStringLiteral(".pdf")) && parser.positionalArguments().isEmpty()) return order;
  std::fputs("ulpscope-gui: --print SESSION takes --out FILE.pdf and no further file\n", stderr);
  std::exit(kUsage);
}

// Exits on --help, --version and wrong words.
Arguments parse(const QApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Shows where a PyTorch model breaks under automatic mixed precision."));
  const QCommandLineOption demo(QStringLiteral("demo"), QStringLiteral("Run a built-in demo and show it."), QStringLiteral("NAME"));
  const QCommandLineOption folder(QStringLiteral("session-dir"), QStringLiteral("Where the sessions of demos are written."), QStringLiteral("DIR"));
  const QCommandLineOption theme(QStringLiteral("theme"), QStringLiteral("light, dark or system, for this start."), QStringLiteral("THEME"));
  const QCommandLineOption screenshot(QStringLiteral("screenshot"), QStringLiteral("Render every view of SESSION, light and dark, to PNG files in DIR, and end."), QStringLiteral("DIR"));
  parser.addOptions({demo, folder, theme, screenshot,
                     {QStringLiteral("print"), QStringLiteral("Print the report of SESSION to a PDF file, and end. Needs no display."), QStringLiteral("SESSION")},
                     {QStringLiteral("out"), QStringLiteral("The PDF file of --print."), QStringLiteral("FILE")},
                     {QStringLiteral("lang"), QStringLiteral("Language of --print: en or pt_BR."), QStringLiteral("LANG"), QStringLiteral("en")},
                     {QStringLiteral("run"), QStringLiteral("Run of --print: run_0002 (default: the latest)."), QStringLiteral("RUN")},
                     {QStringLiteral("covered"), QStringLiteral("--print leaves every result out.")}});
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(QStringLiteral("FILE"), QStringLiteral("Session to open (.ulps), or model and inputs for a new run."), QStringLiteral("[FILE...]"));
  if (!parser.parse(QCoreApplication::arguments())) {
    std::fprintf(stderr, "ulpscope-gui: %s; see ulpscope-gui --help\n", qUtf8Printable(parser.errorText()));
    std::exit(kUsage);
  }
  parser.process(application);  // --help, --version
  const QStringList themes{QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("system")};
  if (parser.isSet(theme) && !themes.contains(parser.value(theme))) {
    std::fprintf(stderr, "ulpscope-gui: --theme %s: is no theme; use light, dark or system\n", qUtf8Printable(parser.value(theme)));
    std::exit(kUsage);
  }
  const QStringList words = parser.positionalArguments();
  if (!words.isEmpty() && parser.isSet(demo)) {
    std::fputs("ulpscope-gui: files or one --demo, not both; see ulpscope-gui --help\n", stderr);
    std::exit(kUsage);
  }
  if (parser.isSet(screenshot) && (parser.value(screenshot).isEmpty() || words.size() != 1 || !words.front().endsWith(QStringLiteral(".ulps")))) {
    std::fputs("ulpscope-gui: --screenshot DIR takes one session (.ulps)\n", stderr);
    std::exit(kUsage);
  }
  Arguments arguments{words, parser.value(demo), parser.value(folder), parser.value(screenshot), printOrder(parser), std::nullopt};
  if (parser.isSet(theme)) arguments.theme = ulpscope::plots::themeChoiceFromName(parser.value(theme));
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ulpscope;
  const bool prints = gui::asksToPrint(argc, argv);
  if (prints) gui::preparePrinting();
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
    return gui::sayNoDisplay(QStringLiteral("there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"));
  std::optional<gui::DisplayGuard> guard;
  if (!prints) guard.emplace();
  QApplication application(argc, argv);
  guard.reset();
  QCoreApplication::setOrganizationName(QStringLiteral("ulpscope"));
  QCoreApplication::setApplicationName(QStringLiteral("ulpscope"));
  QCoreApplication::setApplicationVersion(QStringLiteral(ULPSCOPE_VERSION));
  const Arguments arguments = parse(application);
  if (arguments.print) return gui::printSession(*arguments.print);
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
  if (!arguments.screenshots.isEmpty()) return gui::takeScreenshots(window, {arguments.screenshots, arguments.files.front(), systemPalette});
  QObject::connect(&application, &QApplication::aboutToQuit, &window, [&] { gui::saveGeometry(window); });
  window.resize(window.size().boundedTo(window.screen()->availableSize()));  // before anything is remembered
  gui::restoreGeometry(window);
  window.show();
  // Once the event loop runs: what they tell is then seen.
  QTimer::singleShot(0, &window, [&] {
    if (!arguments.demo.isEmpty()) window.runDemo(arguments.demo);
    if (!arguments.files.isEmpty()) window.useFiles(arguments.files);
  });
  return QApplication::exec();
}
