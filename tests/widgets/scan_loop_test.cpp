// A scan through the real window and the real engine, and what `ulpscope scan` says of the same samples.
#include "core/base/number_text.h"
#include "sample_session.h"
#include "widgets/models/text.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/scan_controls.h"
#include "widgets/views/scan_point_view.h"

#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ulpscope {
namespace {

using models::qt;
using models::ScanChoice;

constexpr int kRunLimitMs = 120000;
constexpr int kSteps = 33;

class ScanLoop : public ::testing::Test {
 protected:
  ScanLoop() : m_window({m_folder.path(), {}, plots::ThemeChoice::light}) { m_window.show(); }
  views::Workbench& bench() { return m_window.workbench(); }
  views::BoundaryPanel& tab() { return *m_window.findings()->boundary(); }

  void openDigits() {
    m_window.runDemo(QStringLiteral("digits"));
    ASSERT_TRUE(testing::waitFor([&] { return bench().runB() != nullptr || !m_window.problem().isEmpty(); }, kRunLimitMs));
    ASSERT_TRUE(m_window.problem().isEmpty()) << m_window.problem().toStdString();
    const auto& samples = bench().session()->samples;
    ASSERT_FALSE(samples.labels.empty());
    std::size_t other = 1;
    while (other < samples.ids.size() && samples.labels[other] == samples.labels[0]) ++other;
    ASSERT_LT(other, samples.ids.size());
    m_from = qt(samples.ids[0]);
    m_to = qt(samples.ids[other]);
  }
  void scan() {
    tab().controls()->sampleField(ScanChoice::kFrom)->setText(m_from);
    tab().controls()->sampleField(ScanChoice::kTo)->setText(m_to);
    tab().controls()->stepsBox()->setValue(kSteps);
    ASSERT_TRUE(tab().controls()->scanButton()->isEnabled()) << tab().controls()->reason().toStdString();
    const std::size_t before = bench().session()->scans.size();
    tab().controls()->scanButton()->click();
    ASSERT_TRUE(testing::waitFor([&] { return !m_window.problem().isEmpty() || (!bench().isRunning() && bench().session()->scans.size() > before && !bench().isLoading()); }, kRunLimitMs));
    ASSERT_TRUE(m_window.problem().isEmpty()) << m_window.problem().toStdString();
  }
  nlohmann::json commandLine() {
    const QString document = m_folder.filePath(QStringLiteral("scan.json"));
    QProcess program;
    program.start(QStringLiteral(ULPSCOPE_TEST_BUILD "/bin/ulpscope"), {QStringLiteral("scan"), bench().sessionPath(), QStringLiteral("--from"), m_from, QStringLiteral("--to"), m_to, QStringLiteral("--steps"), QString::number(kSteps), QStringLiteral("--json"), document});
    EXPECT_TRUE(program.waitForFinished(kRunLimitMs));
    EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
    return nlohmann::json::parse(std::ifstream(document.toStdString()));
  }

  QTemporaryDir m_folder;
  QString m_from, m_to;
  views::MainWindow m_window;
};

TEST_F(ScanLoop, ShowsTheNumbersOfTheCommandLine) {
  openDigits();
  scan();
  ASSERT_TRUE(testing::waitFor([this] { return tab().scan() != nullptr; }));
  const nlohmann::json document = commandLine();
  const QAbstractItemModel& points = *tab().pointTable()->model();
  ASSERT_EQ(document.at("samples").size(), static_cast<std::size_t>(kSteps));
  EXPECT_GE(points.rowCount(), kSteps);
  int compared = 0;
  for (const nlohmann::json& sample : document.at("samples")) {
    const QModelIndexList found = points.match(points.index(0, 0), Qt::DisplayRole, qt(base::exactNumber(sample.at("t"))), 1, Qt::MatchExactly);
    ASSERT_FALSE(found.isEmpty()) << sample.at("t");
    const auto cell = [&](int column) { return found.front().siblingAtColumn(column).data().toString().toStdString(); };
    EXPECT_EQ(cell(1), std::to_string(sample.at("reference").get<int>()));
    EXPECT_EQ(cell(2), std::to_string(sample.at("candidate").get<int>()));
    EXPECT_EQ(cell(4), base::exactNumber(base::numberFromJson(sample.at("reference_margin"))));
    EXPECT_EQ(cell(5), base::exactNumber(base::numberFromJson(sample.at("candidate_margin"))));
    EXPECT_EQ(cell(6), base::exactNumber(base::numberFromJson(sample.at("max_error"))));
    ++compared;
  }
  EXPECT_EQ(compared, kSteps);
  ASSERT_FALSE(document.at("crossings").at("reference").empty()) << "the two samples are of different classes";
  EXPECT_TRUE(tab().headline().contains(qt("t = " + base::exactNumber(document.at("crossings").at("reference").front())))) << tab().headline().toStdString();
  m_window.findings()->setCurrentIndex(views::FindingsPanel::kBoundary);  // a picture is read when it is seen
  ASSERT_TRUE(testing::waitFor([this] { return !tab().pointView()->caption().isEmpty(); }));
  EXPECT_TRUE(tab().pointView()->hasPicture()) << tab().pointView()->caption().toStdString();
}

TEST_F(ScanLoop, LaysTheScanWithARegionOverTheFirst) {
  openDigits();
  scan();
  ASSERT_TRUE(testing::waitFor([this] { return tab().scan() != nullptr; }));
  const QString path = qt(bench().runB()->run->sites.front().modulePath);
  m_window.toggleFp32(path);
  scan();
  ASSERT_TRUE(testing::waitFor([this] { return tab().overlay() != nullptr; })) << tab().warnings().toStdString();
  EXPECT_EQ(tab().scan()->scan.number, 1);
  EXPECT_EQ(tab().overlay()->scan.settings.fp32, std::vector<std::string>{path.toStdString()});
  EXPECT_EQ(tab().scan()->scan.segment->referenceCrossings.front().t, tab().overlay()->scan.segment->referenceCrossings.front().t) << "FP32 is FP32 in both";
}

}  // namespace
}  // namespace ulpscope
