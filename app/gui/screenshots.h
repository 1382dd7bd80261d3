// Every view of a session as PNG, light and dark: for the README, and to be looked at.
#pragma once

#include "widgets/views/main_window.h"

#include <QPalette>

namespace ulpscope::gui {

struct ScreenshotOrder {
  QString folder;   // made when needed; "light-flips.png" and so on are written over
  QString session;
  QPalette systemPalette;
};
// Shows the window, takes the pictures, gives the exit code: 0, or 3 with one line on stderr. Needs the event loop's thread, not the loop.
int takeScreenshots(views::MainWindow& window, const ScreenshotOrder& order);

}  // namespace ulpscope::gui
