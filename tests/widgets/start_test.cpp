#include "widgets/views/start_page.h"

#include <QAbstractButton>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

namespace ulpscope::views {
namespace {

QAbstractButton* buttonNamed(const QWidget& page, const QString& accessibleName) {
  for (QAbstractButton* button : page.findChildren<QAbstractButton*>())
    if (button->accessibleName() == accessibleName) return button;
  return nullptr;
}

TEST(StartPage, OffersTheDemosAsCards) {
  StartPage page;
  QSignalSpy chosen(&page, &StartPage::demoChosen);
  QAbstractButton* button = buttonNamed(page, QStringLiteral("Run the demo overflow"));
  ASSERT_NE(button, nullptr);
  QTest::mouseClick(button, Qt::LeftButton);
  ASSERT_EQ(chosen.size(), 1);
  EXPECT_EQ(chosen.front().front().toString(), QStringLiteral("overflow"));
}

TEST(StartPage, GreysRecentSessionsThatAreGone) {
  StartPage page;
  page.setRecentSessions({QStringLiteral("/nowhere/gone.ulps")});
  QAbstractButton* button = buttonNamed(page, QStringLiteral("Open /nowhere/gone.ulps"));
  ASSERT_NE(button, nullptr);
  EXPECT_FALSE(button->isEnabled());
  EXPECT_EQ(button->toolTip(), QStringLiteral("/nowhere/gone.ulps: not there any more"));
}

TEST(StartPage, SaysWhyThereAreNoDemos) {
  const QByteArray before = qgetenv("ULPSCOPE_DATA");
  qputenv("ULPSCOPE_DATA", "/nowhere");
  StartPage page;
  qputenv("ULPSCOPE_DATA", before);
  QStringList texts;
  for (const QLabel* label : page.findChildren<QLabel*>()) texts << label->text();
  EXPECT_FALSE(texts.filter(QStringLiteral("No demos: ")).isEmpty());
}

}  // namespace
}  // namespace ulpscope::views
