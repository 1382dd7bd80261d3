#include "widgets/models/criteria_model.h"
#include "widgets/views/criteria_sheet.h"

#include "core/session/criteria.h"

#include <QAbstractItemModelTester>
#include <QCoreApplication>
#include <QHeaderView>
#include <QPushButton>
#include <QSignalSpy>
#include <QStyle>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <gmock/gmock.h>

namespace ulpscope::views {
namespace {

using models::CriteriaModel;

class Sheet : public ::testing::Test {
 protected:
  Sheet() { m_sheet.begin(QStringLiteral("For net.ts"), {"logits"}, "argmax"); }
  QModelIndex limitAt(const QString& pointer) {
    auto* model = qobject_cast<CriteriaModel*>(m_sheet.table()->model());
    return model->index(model->rowOf(pointer), CriteriaModel::kLimit);
  }
  bool type(const QString& pointer, const QString& text) { return m_sheet.table()->model()->setData(limitAt(pointer), text, Qt::EditRole); }

  CriteriaSheet m_sheet;
};

TEST_F(Sheet, BeginsWithEveryLimitOpenAndCannotBeLocked) {
  EXPECT_EQ(limitAt(QStringLiteral("/decisions/max_flips")).data().toString(), QStringLiteral("not judged"));
  EXPECT_TRUE(m_sheet.problem().contains(QStringLiteral("nothing to judge")));
  EXPECT_FALSE(m_sheet.lockButton()->isEnabled());
}

TEST_F(Sheet, IsWellFormedAsAModel) {
  const QAbstractItemModelTester tester(m_sheet.table()->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_TRUE(type(QStringLiteral("/decisions/max_flips"), QStringLiteral("2")));
  m_sheet.begin({}, {}, "none");
}

TEST_F(Sheet, TakesALimitAndItsUndo) {
  EXPECT_TRUE(type(QStringLiteral("/outputs/0/rel_l2"), QStringLiteral("1e-3")));
  EXPECT_EQ(limitAt(QStringLiteral("/outputs/0/rel_l2")).data().toString(), QStringLiteral("≤ 0.001"));
  EXPECT_TRUE(m_sheet.problem().isEmpty()) << m_sheet.problem().toStdString();
  m_sheet.undoStack().undo();
  EXPECT_FALSE(m_sheet.lockButton()->isEnabled());
  m_sheet.undoStack().redo();
  EXPECT_TRUE(m_sheet.lockButton()->isEnabled());
  EXPECT_TRUE(type(QStringLiteral("/outputs/0/rel_l2"), QString()));
  EXPECT_FALSE(m_sheet.lockButton()->isEnabled());
}

// A text is whole where what it needs in its column's width is no higher than its row.
QStringList cutOff(const QTableView& table) {
  QStringList cut;
  const int margin = 2 * (table.style()->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, &table) + 1);
  for (int row = 0; row < table.model()->rowCount(); ++row)
    for (int column = 0; column < table.model()->columnCount(); ++column) {
      const QString text = table.model()->index(row, column).data().toString();
      const QRect needed = table.fontMetrics().boundingRect(QRect(0, 0, table.columnWidth(column) - margin, 10000), Qt::TextWordWrap, text);
      if (needed.height() > table.rowHeight(row) || needed.width() > table.columnWidth(column) - margin) cut << text;
    }
  return cut;
}

TEST_F(Sheet, ShowsEveryTextWhole) {
  m_sheet.resize(1280, 640);
  m_sheet.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_sheet));
  EXPECT_EQ(cutOff(*m_sheet.table()).join(u'\n').toStdString(), "");
  m_sheet.begin(QStringLiteral("For net.ts"), {QString(60, u'w').toStdString() + " output"}, "topk:5");
  m_sheet.resize(900, 640);
  QCoreApplication::processEvents();
  const int room = m_sheet.table()->viewport()->width(), names = m_sheet.table()->columnViewportPosition(CriteriaModel::kMeaning);
  EXPECT_LE(names, room * 0.66) << "a long name leaves room for what is measured";
  EXPECT_GE(m_sheet.table()->columnWidth(CriteriaModel::kLimit), m_sheet.table()->fontMetrics().horizontalAdvance(QStringLiteral("not judged")));
}

TEST_F(Sheet, KeepsItsColumnsOverAnEditAndMakesRoomForALongLimit) {
  m_sheet.resize(1280, 640);
  m_sheet.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_sheet));
  const QTableView& table = *m_sheet.table();
  const int about = table.columnWidth(CriteriaModel::kAbout), limit = table.columnWidth(CriteriaModel::kLimit);
  type(QStringLiteral("/outputs/0/rel_l2"), QStringLiteral("1e-3"));
  EXPECT_EQ(table.columnWidth(CriteriaModel::kAbout), about) << "nothing jumps";
  EXPECT_EQ(table.columnWidth(CriteriaModel::kLimit), limit);
  type(QStringLiteral("/outputs/0/rel_l2"), QStringLiteral("1.2345678901234567e-300"));
  EXPECT_GT(table.columnWidth(CriteriaModel::kLimit), limit);
  EXPECT_TRUE(cutOff(table).isEmpty()) << cutOff(table).join(u'\n').toStdString();
  table.horizontalHeader()->resizeSection(CriteriaModel::kAbout, 333);
  type(QStringLiteral("/outputs/0/rel_l2"), QStringLiteral("2e-3"));
  m_sheet.resize(1200, 640);
  QCoreApplication::processEvents();
  EXPECT_EQ(table.columnWidth(CriteriaModel::kAbout), 333) << "a width that somebody chose stays";
}

TEST_F(Sheet, RefusesWhatIsNoLimit) {
  for (const char* text : {"many", "1,5", "nan", "inf", "1e999"}) EXPECT_FALSE(type(QStringLiteral("/decisions/max_flips"), QLatin1String(text))) << text;
  EXPECT_TRUE(type(QStringLiteral("/decisions/max_flips"), QStringLiteral("-1")));
  EXPECT_TRUE(m_sheet.problem().contains(QStringLiteral("below 0"))) << m_sheet.problem().toStdString();
}

TEST_F(Sheet, LocksOnlyWhatWasConfirmedAndLeavesOpenLimitsOut) {
  type(QStringLiteral("/decisions/max_flips"), QStringLiteral("0"));
  std::string canonical;
  QObject::connect(&m_sheet, &CriteriaSheet::locked, &m_sheet, [&](const std::string& text) { canonical = text; });
  QString asked;
  m_sheet.setConfirm([&](const QString& text) {
    asked = text;
    return false;
  });
  m_sheet.lockButton()->click();
  EXPECT_TRUE(canonical.empty());
  EXPECT_TRUE(asked.contains(QStringLiteral("1 limit")) && asked.contains(QStringLiteral("never undone"))) << asked.toStdString();
  m_sheet.setConfirm([](const QString&) { return true; });
  m_sheet.lockButton()->click();
  const auto criteria = session::criteriaFromText(canonical);
  ASSERT_TRUE(criteria.ok());
  ASSERT_EQ(criteria->list.size(), 1U);
  EXPECT_EQ(criteria->list.front().id, "decisions.flips");
  EXPECT_EQ(criteria->decision->text(), "argmax");
}

TEST_F(Sheet, ReadsBackTheFileItWrites) {
  QTemporaryDir folder;
  type(QStringLiteral("/nonfinite/max_samples"), QStringLiteral("3"));
  EXPECT_TRUE(m_sheet.isChanged());
  ASSERT_TRUE(m_sheet.saveAs(folder.filePath(QStringLiteral("c.json"))));
  EXPECT_FALSE(m_sheet.isChanged());
  CriteriaSheet other;
  other.begin({}, {}, "none");
  ASSERT_TRUE(other.open(folder.filePath(QStringLiteral("c.json"))));
  EXPECT_EQ(other.document(), m_sheet.document());
  EXPECT_FALSE(m_sheet.saveAs(QStringLiteral("/nowhere/c.json")));
}

TEST_F(Sheet, SaysWhatIsWrongWithAFileAndKeepsWhatItHas) {
  QTemporaryDir folder;
  const std::string before = m_sheet.document();
  for (const char* text : {"{", "[]", "{\"outputs\": 3}"}) {
    QFile file(folder.filePath(QStringLiteral("bad.json")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write(text);
    file.close();
    EXPECT_FALSE(m_sheet.open(file.fileName())) << text;
    EXPECT_EQ(m_sheet.document(), before);
  }
  EXPECT_FALSE(m_sheet.open(QStringLiteral("/nowhere/none.json")));
}

}  // namespace
}  // namespace ulpscope::views
