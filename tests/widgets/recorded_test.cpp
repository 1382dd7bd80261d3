// A session that ulpscope_recorder.py made: everything is to be seen, nothing can be run again, and the choice of FP32 goes back to Python.
#include "sample_session.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/stale_band.h"
#include "widgets/views/step_strip.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

const QString kWhy = QStringLiteral("run 1 was recorded by ulpscope_recorder.py on cuda:0 (NVIDIA H200); no engine can run that again: run record() in Python with append=True");

class Recorded : public ::testing::Test {
 protected:
  Recorded() : m_window({m_folder.path(), {}, plots::ThemeChoice::light}) { m_window.show(); }

  void open(session::Mode mode) {
    session::RunRecord run = testing::sampleRun(testing::Sick::yes);
    run.settings.mode = mode;
    run.settings.device = "cuda:0 (NVIDIA H200)";
    const QString path = m_folder.filePath(QStringLiteral("sample.ulps"));
    const auto written = storage::addRun(path.toStdString(), testing::sampleSession(), run, testing::sampleMetrics(testing::Sick::yes), {}, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
    m_window.openSession(path);
    ASSERT_TRUE(testing::waitFor([this] { return bench().runB() != nullptr; })) << m_window.problem().toStdString();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
  }
  views::Workbench& bench() { return m_window.workbench(); }
  QAction* actionOf(const QString& text) {
    for (QAction* action : m_window.findChildren<QAction*>())
      if (action->text().remove(u'&') == text) return action;
    return nullptr;
  }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

TEST_F(Recorded, GreysReRunAndSaysWhy) {
  open(session::Mode::recorded);
  for (const char* text : {"Re-run", "Run with other settings…", "Validate this…"}) {
    ASSERT_NE(actionOf(QString::fromUtf8(text)), nullptr) << text;
    EXPECT_FALSE(actionOf(QString::fromUtf8(text))->isEnabled()) << text;
  }
  EXPECT_EQ(actionOf(QStringLiteral("Re-run"))->toolTip(), QStringLiteral("Re-run (F5): ") + kWhy);
  QSignalSpy notices(&bench(), &views::Workbench::notice);
  bench().rerun();
  EXPECT_FALSE(bench().isRunning());
  ASSERT_EQ(notices.size(), 1);
  EXPECT_EQ(notices.front().front().toString(), kWhy);
}

TEST_F(Recorded, OffersReRunOfARunOfItsOwn) {
  open(session::Mode::emulated);
  EXPECT_TRUE(actionOf(QStringLiteral("Re-run"))->isEnabled());
  EXPECT_EQ(actionOf(QStringLiteral("Re-run"))->toolTip(), QStringLiteral("Re-run (F5)"));
}

TEST_F(Recorded, CopiesTheChoiceOfFp32AsPython) {
  open(session::Mode::recorded);
  bench().toggle(QStringLiteral("block.fc2"), models::RegionKind::inputsToFp32);
  EXPECT_EQ(m_window.steps()->staleText(), QStringLiteral("stale: policy changed, record it again"));
  auto* band = m_window.findChild<views::StaleBand*>();
  ASSERT_NE(band, nullptr);
  EXPECT_TRUE(band->isVisible());
  EXPECT_EQ(band->rerunButton()->text(), QStringLiteral("Copy as Python"));
  QTest::mouseClick(band->rerunButton(), Qt::LeftButton);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), QStringLiteral("fp32=[\"block.fc2\"], append=True"));
  EXPECT_FALSE(bench().isRunning());
}

TEST(RegionsAsPython, AreArgumentsOfRecord) {
  using models::RegionKind;
  models::Fp32Regions regions;
  EXPECT_EQ(asPython(regions), QStringLiteral("fp32=[], append=True"));
  regions = regions.toggled(QString(), RegionKind::inputsToFp32).toggled(QStringLiteral("a.\"b"), RegionKind::inputsAsTheyAre);
  EXPECT_EQ(asPython(regions), QStringLiteral("fp32=[\".\"], disable=[\"a.\\\"b\"], append=True"));
}

}  // namespace
}  // namespace ulpscope
