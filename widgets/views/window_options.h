// What app/gui remembers between starts and hands to the window.
#pragma once

#include "widgets/plots/theme.h"

#include <QStringList>

namespace ulpscope::views {

struct WindowOptions {
  QString demoSessionFolder;
  QStringList recentSessions;  // newest first
  plots::ThemeChoice theme = plots::ThemeChoice::system;
};

}  // namespace ulpscope::views
