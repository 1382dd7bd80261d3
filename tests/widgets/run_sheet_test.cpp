// What the run sheet says at its fields, with engines that answer every question in one way.
#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/views/main_window.h"
#include "widgets/views/run_sheet.h"

#include <QComboBox>

#include <gtest/gtest.h>

namespace ulpscope::views {
namespace {

using models::RunField;

// The engine's answer to every question after hello.
QByteArray answersOpenWith(const QByteArray& body) {
  return "read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 1}}'\nwhile read line; do id=$(echo \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'); echo \"{\\\"id\\\": $id, " +
         QByteArray(body).replace("\"", "\\\"") + "}\"; done";
}

class Sheets : public ::testing::Test {
 protected:
  Sheets() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) {
    m_window.show();
    testing::installFakeEngine(m_folder, "read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 1}}'; while read line; do :; done");
  }
  ~Sheets() override { qunsetenv("ULPSCOPE_ENGINE"); }
  QString touch(const QString& name) {
    QFile file(m_folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    return file.fileName();
  }

  QTemporaryDir m_folder;
  MainWindow m_window;
};

TEST_F(Sheets, PutsAnErrorAtTheFieldWhoseFileItNames) {
  const QString model = touch(QStringLiteral("net.ts")), inputs = touch(QStringLiteral("net.ts.h5"));
  testing::installFakeEngine(m_folder, answersOpenWith("\"error\": {\"code\": \"input\", \"what\": \"has no 'x', which forward(x) of net.ts needs\", \"which\": \"" + inputs.toUtf8() + ", /x\", \"do\": \"\"}").constData());
  m_window.useFiles({model, inputs});
  ASSERT_TRUE(testing::waitFor([this] { return m_window.runSheet()->problem(RunField::inputs).contains(QStringLiteral("has no 'x'")); }));
  EXPECT_TRUE(m_window.runSheet()->problem(RunField::model).isEmpty()) << m_window.runSheet()->problem(RunField::model).toStdString();
}

TEST_F(Sheets, SaysUnderInputsThatTheModelIsNone) {
  const QString model = touch(QStringLiteral("net.ts"));
  m_window.useFiles({model});
  m_window.runSheet()->setPath(RunField::inputs, model);
  EXPECT_TRUE(m_window.runSheet()->problem(RunField::inputs).contains(QStringLiteral("the model's own file")));
  EXPECT_TRUE(m_window.runSheet()->problem(RunField::model).isEmpty());
  EXPECT_FALSE(m_window.runSheet()->canGoOn());
}

TEST_F(Sheets, SaysThatFlipsAreNotLookedForWithoutADecision) {
  testing::installFakeEngine(m_folder, answersOpenWith("\"result\": {\"model\": {\"path\": \"m\", \"code_sha256\": \"\", \"weights_sha256\": \"\", \"modules\": [{\"path\": \"\", \"type\": \"Net\", \"aliases\": [], "
                                                       "\"parameters\": 0}], \"arguments\": [], \"warnings\": []}, \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [2, 3], \"sample_axis\": 0}], "
                                                       "\"sample_ids\": [\"a\", \"b\"], \"sample_kinds\": {}, \"labels\": 2, \"targets\": 0, \"class_names\": 0, \"preprocessing\": \"\", \"expected\": []}").constData());
  RunSheet& sheet = *m_window.runSheet();
  m_window.newRun(false);
  EXPECT_TRUE(sheet.note(RunField::decision).startsWith(QStringLiteral("none: flips will not be looked for"))) << sheet.note(RunField::decision).toStdString();
  EXPECT_FALSE(sheet.note(RunField::decision).contains(QStringLiteral("labels")));
  m_window.useFiles({touch(QStringLiteral("net.ts")), touch(QStringLiteral("inputs.h5"))});
  ASSERT_TRUE(testing::waitFor([&] { return sheet.note(RunField::decision).contains(QStringLiteral("These inputs have labels or class names: argmax is what they are for")); })) << sheet.facts().toStdString();
  qobject_cast<QComboBox*>(sheet.editor(RunField::decision)->focusProxy())->setCurrentText(QStringLiteral("argmax"));
  EXPECT_FALSE(sheet.note(RunField::decision).contains(QStringLiteral("flips will not")));
}

}  // namespace
// Of a session's files only one that is not there any more may be named anew; what the engine finds there it holds against the session.
TEST_F(Sheets, LetsAMovedFileBeNamedAnew) {
  RunSheet& sheet = *m_window.runSheet();
  models::RunForm form;
  form.model = touch(QStringLiteral("net.ts"));
  form.inputs = m_folder.filePath(QStringLiteral("gone.h5"));
  form.sessionPath = m_folder.filePath(QStringLiteral("s.ulps"));
  sheet.beginInSession(form);
  EXPECT_FALSE(sheet.editor(RunField::model)->isEnabled());
  EXPECT_TRUE(sheet.editor(RunField::inputs)->isEnabled());
  EXPECT_FALSE(sheet.editor(RunField::seed)->isEnabled());
  EXPECT_FALSE(sheet.canGoOn());
  sheet.setPath(RunField::inputs, touch(QStringLiteral("found.h5")));
  EXPECT_TRUE(sheet.problem(RunField::inputs).isEmpty()) << sheet.problem(RunField::inputs).toStdString();
  form.inputs = touch(QStringLiteral("found.h5"));
  sheet.beginInSession(form);
  EXPECT_FALSE(sheet.editor(RunField::inputs)->isEnabled()) << "nothing is missing";
}

}  // namespace ulpscope::views
