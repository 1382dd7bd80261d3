#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/models/operators_model.h"
#include "widgets/views/operators_panel.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QTableView>
#include <QTest>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

using models::OperatorsModel;

protocol::Inspection threeOps() {
  protocol::Inspection inspection;
  inspection.policyTable = "cuda@2.12";
  inspection.model.fingerprint = {"code", "weights"};  // of no session here
  inspection.target = {"cuda", "1.13.1", false, false};
  inspection.ops = {{"block.fc1", "aten::linear", "", "", "lower_precision_fp", {{"cuda@1.13", "lower_precision_fp"}}},
                    {"block.fc2", "aten::linear", "", "", "lower_precision_fp", {{"cuda@1.13", "lower_precision_fp"}}},
                    {"", "aten::binary_cross_entropy", "", "", "refused", {{"cuda@1.13", "refused"}}},
                    {"head", "mine::scale", "", "", "none", {{"cuda@1.13", "fp32"}}}};
  inspection.kernels = {{"composite", true}, {"composite", true}, {"none", true}, {"none", false}};
  return inspection;
}

QString cell(const QAbstractItemModel& model, int row, int column) { return model.index(row, column).data().toString(); }

TEST(OperatorsTable, SaysWhatAutocastDoesToEachOpAndWhatThisBuildHas) {
  OperatorsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setInspection(threeOps());
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(cell(model, 0, OperatorsModel::kOp), QStringLiteral("aten::linear"));
  EXPECT_EQ(cell(model, 0, OperatorsModel::kSites), QStringLiteral("2"));
  EXPECT_EQ(cell(model, 0, OperatorsModel::kElsewhere), QStringLiteral("the same"));
  EXPECT_EQ(cell(model, 0, OperatorsModel::kModules), QStringLiteral("block.fc1, block.fc2"));
  EXPECT_EQ(cell(model, 1, OperatorsModel::kClass), QStringLiteral("refused"));
  EXPECT_EQ(cell(model, 2, OperatorsModel::kElsewhere), QStringLiteral("cuda@1.13: fp32"));
  EXPECT_TRUE(model.index(2, OperatorsModel::kClass).data(Qt::ToolTipRole).toString().contains(QStringLiteral("runs in the type of its inputs")));
  EXPECT_EQ(models::operatorsSummary(model.operators(), QStringLiteral("cuda@2.12")),
            QStringLiteral("3 ops at 4 sites under cuda@2.12  ·  raises under autocast: 1  ·  lower_precision_fp: 1  ·  none: 1"));
  model.clear();
  EXPECT_EQ(model.rowCount(), 0);
}

class Operators : public ::testing::Test {
 protected:
  Operators() : m_bench(m_folder.filePath(QStringLiteral("demos"))), m_panel(m_bench) { m_panel.resize(900, 260); }
  ~Operators() override { qunsetenv("ULPSCOPE_ENGINE"); }
  void answer(const std::string& line) {
    QFile file(m_folder.filePath(QStringLiteral("answer")));
    file.open(QIODevice::WriteOnly);
    file.write(QByteArray::fromStdString(line));
    file.close();
    const QByteArray body = QByteArray(testing::kGreets) + "printf '%s\\n' \"$run\" > '" + m_folder.filePath(QStringLiteral("asked")).toUtf8() + "'; cat '" + file.fileName().toUtf8() + "'; read more";
    testing::installFakeEngine(m_folder, body.constData());
  }
  void open() {
    m_bench.openSession(testing::writeSample(m_folder, 1));
    ASSERT_TRUE(testing::waitFor([this] { return m_bench.runB() != nullptr; }));
  }

  QTemporaryDir m_folder;
  views::Workbench m_bench;
  views::OperatorsPanel m_panel;
};

TEST_F(Operators, AsksTheEngineWhenLookedAtAndSaysItIsAnotherModel) {
  answer(protocol::encodeResult(2, protocol::toJson(threeOps())));
  open();
  EXPECT_FALSE(QFile::exists(m_folder.filePath(QStringLiteral("asked")))) << "nobody looked yet";
  m_panel.show();
  ASSERT_TRUE(testing::waitFor([this] { return m_panel.table()->model()->rowCount() == 3; }));
  EXPECT_TRUE(m_panel.summary().startsWith(QStringLiteral("3 ops at 4 sites under cuda@2.12"))) << m_panel.summary().toStdString();
  EXPECT_TRUE(m_panel.notes().startsWith(QStringLiteral("the model's file is another than this session's runs had"))) << m_panel.notes().toStdString();
  EXPECT_TRUE(m_panel.notes().contains(QStringLiteral("ROCm")));
  QFile asked(m_folder.filePath(QStringLiteral("asked")));
  asked.open(QIODevice::ReadOnly);
  EXPECT_TRUE(asked.readAll().contains("\"target\":\"cuda\""));
}

TEST_F(Operators, AnEngineThatCannotIsQuoted) {
  answer(protocol::encodeError(2, {base::ErrorKind::input, "is not here", "net.ts", "export it again"}));
  open();
  m_panel.show();
  EXPECT_TRUE(testing::waitFor([this] { return m_panel.summary() == QStringLiteral("net.ts: is not here; export it again"); })) << m_panel.summary().toStdString();
  EXPECT_EQ(m_panel.table()->model()->rowCount(), 0);
}

}  // namespace
}  // namespace ulpscope
