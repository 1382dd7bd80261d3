#include "settings.h"

#include <QDir>
#include <QSettings>
#include <QStandardPaths>

namespace ulpscope::gui {
namespace {

constexpr const char* kTheme = "theme";
constexpr const char* kGeometry = "geometry";
constexpr const char* kDocks = "docks";
constexpr const char* kRecent = "recent_sessions";

// What the user chose ($XDG_CONFIG_HOME) and what the window merely remembers ($XDG_STATE_HOME, which Qt 6.4 does not know).
QSettings state() {
  const QString home = qEnvironmentVariable("XDG_STATE_HOME");
  const QString folder = QDir::isAbsolutePath(home) ? home : QDir::homePath() + QStringLiteral("/.local/state");
  return QSettings(folder + QStringLiteral("/ulpscope/window.ini"), QSettings::IniFormat);
}

}  // namespace

views::WindowOptions readOptions() {
  const QSettings settings;
  views::WindowOptions options;
  options.theme = plots::themeChoiceFromName(settings.value(QLatin1String(kTheme)).toString());
  options.recentSessions = state().value(QLatin1String(kRecent)).toStringList();
  options.demoSessionFolder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/ulpscope/demo-sessions");
  return options;
}

void restoreGeometry(views::MainWindow& window) {
  const auto saved = state();
  window.restoreGeometry(saved.value(QLatin1String(kGeometry)).toByteArray());
  window.setDockState(saved.value(QLatin1String(kDocks)).toByteArray());
}

void saveGeometry(const views::MainWindow& window) {
  auto saved = state();
  saved.setValue(QLatin1String(kGeometry), window.saveGeometry());
  saved.setValue(QLatin1String(kDocks), window.dockState());
}

void saveTheme(plots::ThemeChoice choice) { QSettings().setValue(QLatin1String(kTheme), plots::name(choice)); }

void saveRecentSessions(const QStringList& paths) { state().setValue(QLatin1String(kRecent), paths); }

}  // namespace ulpscope::gui
