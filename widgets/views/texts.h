// Words on the window's pages.
#pragma once

#include <QString>

class QLabel;
class QWidget;

namespace ulpscope::views {

// Plain text that wraps; scale: of the window's font size.
QLabel* makeText(const QString& text, double scale, bool isBold, QWidget* parent);

// Plain text of any length that wraps, does not widen what holds it and can be selected. Empty at first.
QLabel* makeLine(QWidget* parent);

}  // namespace ulpscope::views
