// A window of 1280 x 720 in letters twice as large.
#include "sample_session.h"
#include "widgets/views/criteria_sheet.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/run_sheet.h"

#include <QApplication>
#include <QToolBar>

#include <gtest/gtest.h>

namespace ulpscope::views {
namespace {

// As with a desktop's "large text": everything is there, by scrolling, in icons or in tabs, within 1280 x 720.
TEST(LargeLetters, FitOnASmallScreen) {
  QTemporaryDir folder;
  const QFont usual = QApplication::font();
  QFont large = usual;
  large.setPointSizeF(2 * usual.pointSizeF());
  QApplication::setFont(large);
  {
    MainWindow window({folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light});
    window.resize(1280, 720);
    window.show();
    window.openSession(testing::writeSample(folder, 2));
    ASSERT_TRUE(testing::waitFor([&] { return window.workbench().runB() != nullptr; }));
    for (int tab = 0; tab < window.findings()->count(); ++tab) {
      window.findings()->setCurrentIndex(tab);
      QCoreApplication::processEvents();
      EXPECT_LE(window.width(), 1280) << tab;
      EXPECT_LE(window.height(), 720) << tab;
      EXPECT_LE(window.minimumSizeHint().width(), 1280) << tab;
      EXPECT_LE(window.minimumSizeHint().height(), 720) << tab;
    }
    auto* tools = window.findChild<QToolBar*>(QStringLiteral("tools"));
    EXPECT_LE(tools->sizeHint().width(), window.width()) << "no button is out of sight";
    EXPECT_EQ(tools->toolButtonStyle(), Qt::ToolButtonIconOnly);
    window.resize(2800, 720);
    QCoreApplication::processEvents();
    EXPECT_EQ(tools->toolButtonStyle(), Qt::ToolButtonTextBesideIcon) << "with room, words again";
    window.runWithOtherSettings();
    for (QWidget* page : std::initializer_list<QWidget*>{window.runSheet(), window.criteriaSheet()}) EXPECT_LE(page->minimumSizeHint().width(), 1280) << page->metaObject()->className();
    EXPECT_LE(window.criteriaSheet()->minimumSizeHint().height(), 560) << "menu, tools and status line want their lines too";
  }
  QApplication::setFont(usual);
}

}  // namespace
}  // namespace ulpscope::views
