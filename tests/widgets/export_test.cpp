// Export… in the user's words: what is asked, where it is written, what is said.
#include "sample_session.h"
#include "widgets/plots/report_pdf.h"
#include "widgets/views/export_desk.h"
#include "widgets/views/export_dialog.h"
#include "widgets/views/main_window.h"
#include "widgets/views/message_bar.h"

#include "core/report/report_content.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

using report::Format;

class Export : public ::testing::Test {
 protected:
  Export() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) {
    m_window.show();
    m_window.openSession(testing::writeSample(m_folder, 2));
    EXPECT_TRUE(testing::waitFor([this] { return m_window.workbench().runB() != nullptr; })) << m_window.problem().toStdString();
    EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_window));
  }
  views::ExportDialog* ask() {
    QTest::keySequence(&m_window, QKeySequence(QStringLiteral("Ctrl+E")));
    return m_window.findChild<views::ExportDialog*>();
  }
  QString hint() { return m_window.findChild<views::MessageBar*>()->hint(); }
  QByteArray file(const QString& name) {
    QFile read(m_folder.filePath(QStringLiteral("out/") + name));
    return read.open(QIODevice::ReadOnly) ? read.readAll() : QByteArray();
  }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

TEST_F(Export, WritesWhatWasChosenAndSaysWhere) {
  views::ExportDialog* dialog = ask();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->folder(), m_folder.filePath(QStringLiteral("sample-report")));
  dialog->folderField()->setText(m_folder.filePath(QStringLiteral("out")));
  dialog->formatBox(Format::json)->click();
  dialog->languageBox()->setCurrentIndex(1);
  dialog->exportButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return !hint().isEmpty() || !m_window.problem().isEmpty(); }));
  EXPECT_EQ(m_window.problem(), QString());
  EXPECT_TRUE(hint().startsWith(QStringLiteral("Report written to "))) << hint().toStdString();
  EXPECT_TRUE(hint().endsWith(QStringLiteral(": report.html, report.json, report.pdf"))) << hint().toStdString();
  EXPECT_TRUE(file(QStringLiteral("report.html")).contains("lang=\"pt-BR\""));
  EXPECT_TRUE(file(QStringLiteral("report.json")).contains("\"run_id\": \"run_0002\""));
  EXPECT_TRUE(file(QStringLiteral("report.pdf")).startsWith("%PDF-"));
}

TEST_F(Export, OpensTheFolderWhenAsked) {
  QString opened;
  m_window.findChild<views::ExportDesk*>()->setOpenFolder([&opened](const QString& folder) { opened = folder; });
  views::ExportDialog* dialog = ask();
  dialog->folderField()->setText(m_folder.filePath(QStringLiteral("out")));
  dialog->formatBox(Format::pdf)->click();
  dialog->exportButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return !hint().isEmpty(); }));
  m_window.findChild<views::MessageBar*>()->actButton()->click();
  EXPECT_EQ(opened, m_folder.filePath(QStringLiteral("out")));
}

TEST_F(Export, WantsAFormatAndAFolder) {
  views::ExportDialog* dialog = ask();
  EXPECT_TRUE(dialog->exportButton()->isEnabled());
  dialog->formatBox(Format::html)->click();
  dialog->formatBox(Format::pdf)->click();
  EXPECT_FALSE(dialog->exportButton()->isEnabled());
  dialog->formatBox(Format::csv)->click();
  dialog->folderField()->clear();
  EXPECT_FALSE(dialog->exportButton()->isEnabled());
}

TEST_F(Export, AFileOfTheUsersIsLeftAsItIs) {
  QDir(m_folder.path()).mkdir(QStringLiteral("out"));
  QFile mine(m_folder.filePath(QStringLiteral("out/report.html")));
  ASSERT_TRUE(mine.open(QIODevice::WriteOnly));
  mine.write("<p>mine</p>");
  mine.close();
  views::ExportDialog* dialog = ask();
  dialog->folderField()->setText(m_folder.filePath(QStringLiteral("out")));
  dialog->exportButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.problem().isEmpty(); }));
  EXPECT_TRUE(m_window.problem().contains(QStringLiteral("exists and is no report of Ulpscope"))) << m_window.problem().toStdString();
  EXPECT_EQ(file(QStringLiteral("report.html")), QByteArray("<p>mine</p>"));
}

// The same numbers on paper: pages with text and plots as vectors, not one picture.
TEST(ReportPdf, SetsEverySectionOnPagesWithItsNumber) {
  const QTemporaryDir folder;
  const std::string path = testing::writeSample(folder, 2).toStdString();
  const session::Session session = storage::openSession(path).value();
  const report::Document document = report::reportDocument(report::reportContent({path, session, "run_0001", false}).value(), report::Language::english);
  const QByteArray pdf = plots::reportPdf(document);
  EXPECT_TRUE(pdf.startsWith("%PDF-"));
  EXPECT_GE(pdf.count("/Type /Page\n"), 2);
  EXPECT_GE(pdf.count("/FontFile2"), 2);
  EXPECT_LT(pdf.size(), 2 * 1024 * 1024);
}

}  // namespace
}  // namespace ulpscope
