// A session's report as a PDF file: what `ulpscope report --format pdf` starts. No window, no display.
#pragma once

#include <QString>

namespace ulpscope::gui {

struct PrintOrder {
  QString session, pdf, language, runId;
  bool isCovered = false;
};

// Whether the words ask for it: looked at before Qt chooses where to draw.
bool asksToPrint(int argc, char** argv);
// Before the QApplication: draws offscreen, and Qt's own remarks are not for the reader of this program's one line.
void preparePrinting();
// The exit code; what went wrong stands on stderr, one line.
int printSession(const PrintOrder& order);

}  // namespace ulpscope::gui
