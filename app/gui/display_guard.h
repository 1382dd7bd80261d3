// While it lives, a display that cannot be reached ends the program with one line on stderr and kNoDisplay, where Qt would abort.
#pragma once

#include <QString>

namespace ulpscope::gui {

inline constexpr int kNoDisplay = 4;  // as for every run that fails (core/base/error.h)

// The line, on stderr: "ulpscope-gui: could not connect to display :7; ...".
int sayNoDisplay(const QString& why);

// Around the QApplication's constructor; one at a time. What else Qt says meanwhile is printed at its end.
class DisplayGuard {
 public:
  DisplayGuard();
  ~DisplayGuard();
  DisplayGuard(const DisplayGuard&) = delete;
  DisplayGuard& operator=(const DisplayGuard&) = delete;

 private:
  QtMessageHandler m_before;
};

}  // namespace ulpscope::gui
