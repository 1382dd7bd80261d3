#include "widgets/plots/theme.h"

#include <QApplication>
#include <QStyleFactory>
#include <QWidget>

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

constexpr int kDarkBelow = 128;  // lightness of a window's background

Theme makeLight() {
  Theme t;
  t.window = 0xf4f6f8;
  t.base = 0xffffff;
  t.alternate = 0xf5f7f9;
  t.text = 0x1d2229;
  t.muted = 0x5a636e;
  t.line = 0xd5dae0;
  t.accent = 0x1a66cc;
  t.accentText = 0xffffff;
  t.selection = 0x1a66cc;
  t.selectionText = 0xffffff;
  t.good = 0x1b7a53;
  t.bad = 0xa3210f;
  t.warn = 0x7a5200;
  t.badPill = 0xfbe0da;
  t.warnPill = 0xfcefc9;
  t.series = 0x1a66cc;
  t.decisions = {0x1a66cc, 0xb5850c, 0x4a1260, 0x3c9a78, 0x8f3a8a, 0x30363e};
  t.within = {0xe9ecf0, 0x4d5661, 0xe9ecf0};
  t.over = {0xfcefc9, 0x7a5200, 0xfcefc9};
  t.farOver = {0xf0ad9e, 0x74120a, 0xf0ad9e};
  t.origin = {0xa3138f, 0xffffff, 0xa3138f};
  t.consequence = {0xffffff, 0xa3138f, 0xa3138f};
  return t;
}

Theme makeDark() {
  Theme t;
  t.isDark = true;
  t.window = 0x24262b;
  t.base = 0x1c1e22;
  t.alternate = 0x212327;
  t.text = 0xe6e8eb;
  t.muted = 0xa3abb5;
  t.line = 0x3c4047;
  t.accent = 0x64a9f5;
  t.accentText = 0x10151c;
  t.selection = 0x2a5f9e;
  t.selectionText = 0xffffff;
  t.good = 0x7fd1a8;
  t.bad = 0xff9a86;
  t.warn = 0xecc46a;
  t.badPill = 0x4c241c;
  t.warnPill = 0x42371a;
  t.series = 0x64a9f5;
  t.decisions = {0x64a9f5, 0xe3b341, 0xc9463f, 0xe9ecc9, 0x5a6fa8, 0xc58fa0};
  t.within = {0x33373d, 0xb9c0c9, 0x33373d};
  t.over = {0x42371a, 0xecc46a, 0x42371a};
  t.farOver = {0x6e2a1e, 0xffc2b5, 0x6e2a1e};
  t.origin = {0xff6ad5, 0x1a0b16, 0xff6ad5};
  t.consequence = {0x1c1e22, 0xff6ad5, 0xff6ad5};
  return t;
}

double luminance(const QColor& color) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

QString name(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::system: return QStringLiteral("system");
    case ThemeChoice::light: return QStringLiteral("light");
    case ThemeChoice::dark: return QStringLiteral("dark");
  }
  return QStringLiteral("system");
}

ThemeChoice themeChoiceFromName(const QString& name) {
  if (name == u"light") return ThemeChoice::light;
  return name == u"dark" ? ThemeChoice::dark : ThemeChoice::system;
}

const Theme& lightTheme() {
  static const Theme theme = makeLight();
  return theme;
}

const Theme& darkTheme() {
  static const Theme theme = makeDark();
  return theme;
}

const Theme& themeOf(const QWidget* widget) {
  return widget->palette().color(QPalette::Window).lightness() < kDarkBelow ? darkTheme() : lightTheme();
}

QPalette paletteOf(const Theme& t) {
  QPalette p;
  p.setColor(QPalette::Window, t.window);
  p.setColor(QPalette::WindowText, t.text);
  p.setColor(QPalette::Base, t.base);
  p.setColor(QPalette::AlternateBase, t.alternate);
  p.setColor(QPalette::Text, t.text);
  p.setColor(QPalette::PlaceholderText, t.muted);
  p.setColor(QPalette::Button, t.isDark ? QColor(0x2f3238) : QColor(0xfafbfc));
  p.setColor(QPalette::ButtonText, t.text);
  p.setColor(QPalette::BrightText, t.bad);
  p.setColor(QPalette::Highlight, t.selection);
  p.setColor(QPalette::HighlightedText, t.selectionText);
  p.setColor(QPalette::ToolTipBase, QColor(0x2b3037));
  p.setColor(QPalette::ToolTipText, QColor(0xf2f4f6));
  p.setColor(QPalette::Link, t.accent);
  p.setColor(QPalette::Mid, t.line);
  p.setColor(QPalette::Dark, t.isDark ? QColor(0x15171a) : QColor(0xb9c0c8));
  p.setColor(QPalette::Light, t.isDark ? QColor(0x3a3e45) : QColor(0xffffff));
  p.setColor(QPalette::Midlight, t.isDark ? QColor(0x33373d) : QColor(0xe9ecf0));
  p.setColor(QPalette::Shadow, QColor(Qt::black));
  const QColor disabled = t.isDark ? QColor(0x7d858f) : QColor(0x8a929c);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) p.setColor(QPalette::Disabled, role, disabled);
  return p;
}

QString styleSheetOf(const Theme& t) {
  QString sheet = QStringLiteral(
      "QToolBar { background: %window; border: none; border-bottom: 1px solid %line; spacing: 2px; padding: 4px 8px; }"
      "QToolBar::separator { background: %line; width: 1px; margin: 6px 8px; }"
      "QToolButton { border: 1px solid transparent; border-radius: 5px; padding: 4px 8px; color: %text; }"
      "QToolButton:hover { background: %hover; } QToolButton:focus { border-color: %accent; }"
      "QToolButton:checked { background: %checked; border-color: %line; }"
      "QToolButton:disabled { color: %disabled; }"
      "QMenuBar { background: %window; } QMenuBar::item { padding: 4px 8px; border-radius: 4px; } QMenuBar::item:selected { background: %hover; color: %text; }"
      "QMainWindow::separator { background: %window; width: 5px; height: 5px; }"
      "QDockWidget { font-weight: bold; } QDockWidget::title { background: %window; padding: 7px 8px; text-align: left; }"
      "QHeaderView::section { background: %window; color: %muted; border: none; border-bottom: 1px solid %line; padding: 5px 6px; }"
      "QHeaderView::up-arrow, QHeaderView::down-arrow { subcontrol-origin: border; subcontrol-position: top center; width: 8px; height: 6px; }"
      "QTreeView, QTableView, QPlainTextEdit { border: 1px solid %line; background: %base; }"
      "QTreeView:focus, QTableView:focus, QPlainTextEdit:focus { border-color: %accent; }"
      "QTabWidget::pane { border: none; } QTabBar { qproperty-drawBase: 0; }"
      "QTabBar::tab { background: transparent; color: %muted; padding: 6px 12px; border: none; border-bottom: 2px solid transparent; }"
      "QTabBar::tab:selected { color: %text; border-bottom-color: %accent; } QTabBar::tab:hover { color: %text; } QTabBar::tab:focus { color: %accent; }"
      "QPushButton { border: 1px solid %line; border-radius: 5px; padding: 5px 14px; background: %button; color: %text; }"
      "QPushButton:hover { background: %hover; } QPushButton:focus { border-color: %accent; } QPushButton:disabled { color: %disabled; }"
      "QLineEdit { border: 1px solid %line; border-radius: 5px; padding: 5px 8px; background: %base; } QLineEdit:focus { border-color: %accent; }"
      // Fusion draws the frame of an empty box darker than its ground, which in the dark theme is not to be seen.
      "QCheckBox::indicator:unchecked { width: 12px; height: 12px; border: 1px solid %muted; border-radius: 3px; background: %base; }"
      "QCheckBox::indicator:unchecked:disabled { border-color: %line; }"
      "QToolTip { background: #2b3037; color: #f2f4f6; border: 1px solid #565d66; padding: 6px; }"
      "QStatusBar { background: %window; border-top: 1px solid %line; } QStatusBar::item { border: none; }");
  const std::pair<const char*, QColor> words[] = {
      {"%window", t.window}, {"%base", t.base}, {"%line", t.line}, {"%text", t.text}, {"%muted", t.muted}, {"%accent", t.accent},
      {"%button", t.isDark ? QColor(0x2f3238) : QColor(Qt::white)},
      {"%hover", t.isDark ? QColor(0x33373d) : QColor(0xe6eaef)}, {"%checked", t.isDark ? QColor(0x3a4452) : QColor(0xdbe7f7)},
      {"%disabled", t.isDark ? QColor(0x7d858f) : QColor(0x8a929c)}};
  for (const auto& [word, color] : words) sheet.replace(QLatin1String(word), color.name());
  return sheet;
}

void applyTheme(QApplication& application, ThemeChoice choice, const QPalette& systemPalette) {
  const bool systemIsDark = systemPalette.color(QPalette::Window).lightness() < kDarkBelow;
  const bool dark = choice == ThemeChoice::dark || (choice == ThemeChoice::system && systemIsDark);
  const Theme& theme = dark ? darkTheme() : lightTheme();
  application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  application.setPalette(paletteOf(theme));
  application.setStyleSheet(styleSheetOf(theme));
}

QColor toColor(render::Rgb rgb) { return {rgb.r, rgb.g, rgb.b}; }

double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a) + 0.05;
  const double y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

}  // namespace ulpscope::plots
