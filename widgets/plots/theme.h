// All colours of the window, light and dark.
#pragma once

#include "core/render/heatmap.h"

#include <QColor>
#include <QPalette>
#include <QString>

#include <array>

class QApplication;
class QWidget;

namespace ulpscope::plots {

enum class ThemeChoice { system, light, dark };
QString name(ThemeChoice choice);  // "system", "light", "dark"
ThemeChoice themeChoiceFromName(const QString& name);

struct BadgeColors {
  QColor background, text, border;
};

struct Theme {
  bool isDark = false;
  QColor window;      // panels
  QColor base;        // lists, plots
  QColor alternate;   // every second row
  QColor text, muted;
  QColor line;        // borders, grids
  QColor accent, accentText;
  QColor selection, selectionText;
  QColor good, bad, warn;   // as text or sign on window and base
  QColor badPill;           // background behind `bad`
  QColor warnPill;
  QColor series;            // lines and points of plots
  std::array<QColor, 6> decisions;  // of the decisions of a scan, by the order in which they came up; names stand beside them
  BadgeColors within, over, farOver, origin, consequence;
  render::Theme forRender() const { return isDark ? render::Theme::dark : render::Theme::light; }
};

const Theme& lightTheme();
const Theme& darkTheme();
// The one that the widget's palette was made from.
const Theme& themeOf(const QWidget* widget);

QPalette paletteOf(const Theme& theme);
QString styleSheetOf(const Theme& theme);
// Sets style, palette and style sheet. system: as dark as `systemPalette`.
void applyTheme(QApplication& application, ThemeChoice choice, const QPalette& systemPalette);

QColor toColor(render::Rgb rgb);
// WCAG 2.1 contrast ratio, 1 to 21.
double contrast(const QColor& a, const QColor& b);

}  // namespace ulpscope::plots
