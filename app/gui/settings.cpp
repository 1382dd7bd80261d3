#include "settings.h"

#include <QSettings>
#include <QStandardPaths>

namespace ulpscope::gui {
namespace {

constexpr const char* kTheme = "theme";
constexpr const char* kGeometry = "geometry";
constexpr const char* kRecent = "recent_sessions";

}  // namespace

views::WindowOptions readOptions() {
  const QSettings settings;
  views::WindowOptions options;
  options.theme = plots::themeChoiceFromName(settings.value(QLatin1String(kTheme)).toString());
  options.recentSessions = settings.value(QLatin1String(kRecent)).toStringList();
  options.demoSessionFolder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/ulpscope/demo-sessions");
  return options;
}

void restoreGeometry(views::MainWindow& window) { window.restoreGeometry(QSettings().value(QLatin1String(kGeometry)).toByteArray()); }

void saveGeometry(const views::MainWindow& window) { QSettings().setValue(QLatin1String(kGeometry), window.saveGeometry()); }

void saveTheme(plots::ThemeChoice choice) { QSettings().setValue(QLatin1String(kTheme), plots::name(choice)); }

void saveRecentSessions(const QStringList& paths) { QSettings().setValue(QLatin1String(kRecent), paths); }

}  // namespace ulpscope::gui
