// Words on the window's pages.
#pragma once

#include <QString>

class QComboBox;
class QLabel;
class QSplitter;
class QWidget;

namespace ulpscope::views {

// Plain text that wraps; scale: of the window's font size.
QLabel* makeText(const QString& text, double scale, bool isBold, QWidget* parent);

// Plain text of any length that wraps, does not widen what holds it and can be selected. Empty at first.
QLabel* makeLine(QWidget* parent);
void setLine(QLabel* label, const QString& text);  // hidden where it is empty

// A box for long titles: asks for no more than so many letters, cuts what is longer; the list has all of it.
QComboBox* makeTitleBox(const QString& name, int letters, QWidget* parent);
// Plots and tables side by side, or above each other where `around` is narrow and high.
void fitSplitter(QSplitter* splitter, const QWidget* around);

}  // namespace ulpscope::views
