// A point of a scan as picture, and as a sample of a new set.
#include "core/storage/input_file.h"
#include "core/storage/input_writer.h"
#include "sample_scan.h"
#include "sample_session.h"
#include "widgets/views/add_point_dialog.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/run_sheet.h"
#include "widgets/views/scan_point_view.h"

#include "core/base/hashing.h"

#include <QComboBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include <gtest/gtest.h>

#include <cstring>

namespace ulpscope {
namespace {

using testing::Regions;
using views::AddPointDialog;

storage::RawTensor floats(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  storage::RawTensor tensor{name, base::DType::float32, shape, std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

// Four samples of two by two pixels; a is dark, b is bright.
class AddPoint : public ::testing::Test {
 protected:
  AddPoint() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }

  void open(const std::vector<std::int64_t>& labels) {
    m_inputs = m_folder.filePath(QStringLiteral("set.h5"));
    storage::InputFile set;
    set.inputs = {floats("x", {4, 2, 2}, {0, 0, 0, 1, 1, 2, 3, 5, 9, 9, 9, 9, 7, 7, 7, 7})};
    set.sampleIds = {"a", "b", "c", "d"};
    set.labels = labels;
    ASSERT_TRUE(storage::writeInputFile(m_inputs.toStdString(), set).ok());
    session::Session session = testing::sampleSession();
    session.samples.path = m_inputs.toStdString();
    session.samples.sha256 = base::sha256OfFile(m_inputs.toStdString(), {}).value();
    session.samples.labels = labels;
    m_path = m_folder.filePath(QStringLiteral("scanned.ulps"));
    const auto written = storage::addRun(m_path.toStdString(), session, testing::sampleRun(testing::Sick::yes), testing::sampleMetrics(testing::Sick::yes), {}, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
    testing::addScans(m_path, {testing::sampleSegment(Regions::none)});
    m_window.openSession(m_path);
    ASSERT_TRUE(testing::waitFor([&] { return tab().scan() != nullptr; })) << m_window.problem().toStdString();
    m_window.findings()->setCurrentIndex(views::FindingsPanel::kBoundary);
    ASSERT_TRUE(testing::waitFor([&] { return !view().caption().isEmpty(); }));
  }
  views::BoundaryPanel& tab() { return *m_window.findings()->boundary(); }
  views::ScanPointView& view() { return *tab().pointView(); }
  AddPointDialog* ask() {
    view().addButton()->click();
    return m_window.findChild<AddPointDialog*>();
  }

  QTemporaryDir m_folder;
  QString m_inputs, m_path;
  views::MainWindow m_window;
};

TEST_F(AddPoint, ShowsTheInputBetweenTheSamples) {
  open({});
  tab().selectPoint(4);
  // x = A + t (B - A) at 1/4: 0.25, 0.5, 0.75, 1 + (5 - 1) / 4 = 2.
  ASSERT_TRUE(testing::waitFor([&] { return view().caption() == QStringLiteral("float32 [2, 2], 0.25 to 2"); })) << view().caption().toStdString();
  EXPECT_TRUE(view().hasPicture());
  tab().selectPoint(0);
  ASSERT_TRUE(testing::waitFor([&] { return view().caption() == QStringLiteral("float32 [2, 2], 0 to 1"); })) << "A itself: " << view().caption().toStdString();
}

TEST_F(AddPoint, SaysWhyThereIsNoPicture) {
  open({});
  QFile file(m_inputs);
  ASSERT_TRUE(file.open(QIODevice::Append));
  file.write("changed");
  file.close();
  tab().selectPoint(4);
  EXPECT_TRUE(testing::waitFor([&] { return view().caption().contains(QStringLiteral("is another file than the run's")); })) << view().caption().toStdString();
  EXPECT_FALSE(view().hasPicture());
}

TEST_F(AddPoint, AsksForTheLabelAndMakesNoneUp) {
  open({0, 1, 2, 2});
  AddPointDialog* dialog = ask();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->idField()->text(), QStringLiteral("boundary: a..b t=0.46875003"));
  EXPECT_TRUE(dialog->labelBox()->isVisible());
  EXPECT_FALSE(dialog->writeButton()->isEnabled());
  EXPECT_TRUE(dialog->problem().startsWith(QStringLiteral("Say what is true of the point")));
  dialog->labelBox()->setCurrentText(QStringLiteral("dog"));
  EXPECT_TRUE(dialog->writeButton()->isEnabled()) << dialog->problem().toStdString();
  EXPECT_EQ(dialog->order().label, 1);
  dialog->labelBox()->setCurrentIndex(1);
  EXPECT_TRUE(dialog->writeButton()->isEnabled());
  EXPECT_FALSE(dialog->order().label.has_value());
  EXPECT_TRUE(dialog->statement().contains(QStringLiteral("Labels are left out, for all samples"))) << dialog->statement().toStdString();
  dialog->idField()->setText(QStringLiteral("c"));
  EXPECT_EQ(dialog->problem(), QStringLiteral("A sample of this set has that name."));
}

TEST_F(AddPoint, WritesANewSetForANewSessionAndTouchesNothingElse) {
  open({0, 1, 2, 2});
  const std::string before = base::sha256OfFile(m_path.toStdString(), {}).value(), inputs = base::sha256OfFile(m_inputs.toStdString(), {}).value();
  tab().selectPoint(4);
  AddPointDialog* dialog = ask();
  ASSERT_NE(dialog, nullptr);
  dialog->labelBox()->setCurrentText(QStringLiteral("cat"));
  const QString path = dialog->pathField()->text();
  EXPECT_EQ(QFileInfo(path).fileName(), QStringLiteral("set-boundary.h5"));
  dialog->writeButton()->click();
  ASSERT_TRUE(testing::waitFor([&] { return m_window.page() == m_window.runSheet() || !m_window.problem().isEmpty(); }));
  ASSERT_TRUE(m_window.problem().isEmpty()) << m_window.problem().toStdString();
  const models::RunForm form = m_window.runSheet()->form();
  EXPECT_EQ(form.inputs, path);
  EXPECT_EQ(form.labels, QString()) << "those in the file";
  EXPECT_FALSE(form.request.append);
  EXPECT_EQ(QFileInfo(form.sessionPath).fileName(), QStringLiteral("scanned-boundary.ulps"));
  EXPECT_EQ(form.decision, QStringLiteral("argmax"));
  const auto set = storage::readInputFile(path.toStdString());
  ASSERT_TRUE(set.ok()) << set.error().message();
  EXPECT_EQ(set->sampleIds.back(), "boundary: a..b t=0.25");
  EXPECT_EQ(set->kinds, (std::vector<std::string>{"common", "common", "common", "common", "boundary"}));
  EXPECT_EQ(set->labels, (std::vector<std::int64_t>{0, 1, 2, 2, 0}));
  EXPECT_EQ(set->classNames, (std::vector<std::string>{"cat", "dog", "emu"}));
  ASSERT_EQ(set->inputs.front().shape, (std::vector<std::int64_t>{5, 2, 2}));
  float last[4];
  std::memcpy(last, set->inputs.front().bytes.data() + 16 * sizeof(float), sizeof last);
  EXPECT_EQ(last[0], 0.25F);
  EXPECT_EQ(last[3], 2.0F);
  EXPECT_EQ(base::sha256OfFile(m_path.toStdString(), {}).value(), before);
  EXPECT_EQ(base::sha256OfFile(m_inputs.toStdString(), {}).value(), inputs);
}

}  // namespace
}  // namespace ulpscope
