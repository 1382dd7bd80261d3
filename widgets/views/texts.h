// Words on the window's pages.
#pragma once

#include <QString>

class QLabel;
class QWidget;

namespace ulpscope::views {

// Plain text that wraps; scale: of the window's font size.
QLabel* makeText(const QString& text, double scale, bool isBold, QWidget* parent);

}  // namespace ulpscope::views
