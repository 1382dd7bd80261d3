// What the window remembers between starts. The only place that touches QSettings.
#pragma once

#include "widgets/views/main_window.h"

namespace ulpscope::gui {

views::WindowOptions readOptions();
void restoreGeometry(views::MainWindow& window);
void saveGeometry(const views::MainWindow& window);
void saveTheme(plots::ThemeChoice choice);
void saveRecentSessions(const QStringList& paths);

}  // namespace ulpscope::gui
