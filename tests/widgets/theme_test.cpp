#include "core/render/drawing.h"
#include "tests/support/color_vision.h"
#include "widgets/plots/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QImage>

#include <gtest/gtest.h>

#include <algorithm>

namespace ulpscope::plots {
namespace {

constexpr double kReadable = 4.5;  // WCAG 2.1, 1.4.3

TEST(Contrast, IsTheRatioOfWcag) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-9);
  EXPECT_NEAR(contrast(QColor(0x77, 0x77, 0x77), Qt::white), 4.48, 0.01);  // WebAIM's well-known borderline grey
}

TEST(Theme, HasReadableTextInBothThemes) {
  for (const Theme* t : {&lightTheme(), &darkTheme()}) {
    const std::tuple<const char*, QColor, QColor> pairs[] = {
        {"text on window", t->text, t->window}, {"text on base", t->text, t->base}, {"text on alternate", t->text, t->alternate},
        {"muted on window", t->muted, t->window}, {"muted on base", t->muted, t->base}, {"selection", t->selectionText, t->selection},
        {"good on window", t->good, t->window}, {"bad on window", t->bad, t->window}, {"bad on base", t->bad, t->base},
        {"bad on its pill", t->bad, t->badPill}, {"warn on its pill", t->warn, t->warnPill}, {"accent", t->accentText, t->accent},
        {"badge within", t->within.text, t->within.background}, {"badge over", t->over.text, t->over.background},
        {"badge far over", t->farOver.text, t->farOver.background}, {"badge origin", t->origin.text, t->origin.background},
        {"badge consequence", t->consequence.text, t->consequence.background}};
    for (const auto& [what, text, background] : pairs)
      EXPECT_GE(contrast(text, background), kReadable) << what << (t->isDark ? ", dark" : ", light");
  }
}

TEST(Theme, PaletteHasReadableTextToo) {
  for (const Theme* t : {&lightTheme(), &darkTheme()}) {
    const QPalette p = paletteOf(*t);
    for (const auto& [text, background] : {std::pair{QPalette::WindowText, QPalette::Window}, std::pair{QPalette::Text, QPalette::Base}, std::pair{QPalette::ButtonText, QPalette::Button},
                                           std::pair{QPalette::ToolTipText, QPalette::ToolTipBase}, std::pair{QPalette::PlaceholderText, QPalette::Base}})
      EXPECT_GE(contrast(p.color(text), p.color(background)), kReadable) << text << (t->isDark ? ", dark" : ", light");
  }
}

// An empty box has a frame that is told from its ground (WCAG 2.1, 1.4.11: 3 to 1).
TEST(Theme, ShowsBoxesThatAreNotChecked) {
  auto& application = *qobject_cast<QApplication*>(QCoreApplication::instance());
  for (const auto& [choice, theme] : {std::pair{ThemeChoice::dark, &darkTheme()}, {ThemeChoice::light, &lightTheme()}}) {
    applyTheme(application, choice, QPalette());
    QCheckBox box;
    box.resize(40, 40);
    const QImage shot = box.grab().toImage();
    double most = 0;
    for (int x = 0; x < shot.width(); ++x) most = std::max(most, contrast(shot.pixelColor(x, 20), theme->window));
    EXPECT_GE(most, 3) << (theme->isDark ? "dark" : "light");
  }
}

// By fill or by writing; shape and words say it too (badge_delegate.cpp).
TEST(Theme, KeepsBadgesApartForPeopleWhoDoNotSeeRedGreenOrBlue) {
  const auto apart = [](const QColor& a, const QColor& b, tests::Vision vision) {
    return tests::difference(tests::labOf(a.red(), a.green(), a.blue(), vision), tests::labOf(b.red(), b.green(), b.blue(), vision));
  };
  for (const Theme* t : {&lightTheme(), &darkTheme()}) {
    const std::pair<const char*, BadgeColors> badges[] = {{"within", t->within}, {"over", t->over}, {"far over", t->farOver}, {"origin", t->origin}, {"from above", t->consequence}};
    for (const tests::Vision vision : tests::kVisions)
      for (std::size_t i = 0; i < std::size(badges); ++i)
        for (std::size_t j = 0; j < i; ++j) {
          const double most = std::max(apart(badges[i].second.background, badges[j].second.background, vision), apart(badges[i].second.text, badges[j].second.text, vision));
          EXPECT_GE(most, 10) << badges[i].first << " and " << badges[j].first << (t->isDark ? ", dark" : ", light") << ", vision " << static_cast<int>(vision);
        }
  }
}

// Names stand in strips and beside curves; the colours help to follow them (WCAG 2.1, 1.4.11: 3 to 1 against the ground).
TEST(Theme, KeepsDecisionsOfAScanApart) {
  for (const Theme* t : {&lightTheme(), &darkTheme()})
    for (std::size_t i = 0; i < t->decisions.size(); ++i) {
      const QColor& a = t->decisions[i];
      EXPECT_GE(contrast(a, t->base), 3) << i << (t->isDark ? ", dark" : ", light");
      for (const tests::Vision vision : tests::kVisions)
        for (std::size_t j = 0; j < i; ++j) {
          const QColor& b = t->decisions[j];
          EXPECT_GE(tests::difference(tests::labOf(a.red(), a.green(), a.blue(), vision), tests::labOf(b.red(), b.green(), b.blue(), vision)), 10) << i << " and " << j << (t->isDark ? ", dark" : ", light") << ", vision " << static_cast<int>(vision);
        }
    }
}

// A report's inks (core, without Qt) are the window's colours.
TEST(Theme, ReportsHaveTheWindowsColours) {
  using render::Ink;
  for (const Theme* t : {&lightTheme(), &darkTheme()})
    for (const auto& [ink, color] : {std::pair{Ink::text, t->text}, {Ink::muted, t->muted}, {Ink::line, t->line}, {Ink::paper, t->base}, {Ink::series, t->series}, {Ink::good, t->good}, {Ink::bad, t->bad}, {Ink::warn, t->warn}, {Ink::finding, t->origin.background}})
      EXPECT_EQ(toColor(render::inkColor(ink, t->forRender())), color) << render::name(ink);
}

}  // namespace
}  // namespace ulpscope::plots
