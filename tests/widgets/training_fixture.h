// A window, and sessions that have a training.
#pragma once

#include "core/storage/training_store.h"
#include "sample_session.h"
#include "sample_training.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/training_panel.h"

#include <QTest>

#include <gtest/gtest.h>

namespace ulpscope::testing {

class TrainingTab : public ::testing::Test {
 protected:
  ~TrainingTab() override { qunsetenv("ULPSCOPE_ENGINE"); }
  TrainingTab() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }

  QString write(bool withRuns, const session::Training& training = sampleTraining()) {
    const QString path = withRuns ? writeSample(m_folder, 1) : m_folder.filePath(QStringLiteral("training.ulps"));
    const auto session = withRuns ? storage::openSession(path.toStdString()) : base::Result<session::Session>(sampleSession());
    const auto stored = storage::addTraining(path.toStdString(), session.value(), training, withRuns ? storage::WriteMode::append : storage::WriteMode::create);
    EXPECT_TRUE(stored.ok()) << stored.error().message();
    return path;
  }
  void open(const QString& path) {
    m_window.openSession(path);
    ASSERT_TRUE(waitFor([&] { return tab().training() != nullptr; })) << m_window.problem().toStdString() << tab().summary().toStdString();
    m_window.findings()->setCurrentIndex(views::FindingsPanel::kTraining);
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
    QCoreApplication::processEvents();
  }
  views::TrainingPanel& tab() { return *m_window.findings()->training(); }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

}  // namespace ulpscope::testing
