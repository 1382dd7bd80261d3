// What is typed on the run sheet, what is dropped on the window, what a live run tells: without any widget.
#include "sample_session.h"
#include "widgets/models/drop_plan.h"
#include "widgets/models/live_run.h"
#include "widgets/models/run_form.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <gmock/gmock.h>

#include <limits>

namespace ulpscope::models {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

QString touch(const QTemporaryDir& folder, const QString& name) {
  QFile file(folder.filePath(name));
  EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  return file.fileName();
}

class Form : public ::testing::Test {
 protected:
  Form() {
    m_form.model = touch(m_folder, QStringLiteral("net.ts"));
    m_form.inputs = touch(m_folder, QStringLiteral("inputs.h5"));
    m_form.sessionPath = m_folder.filePath(QStringLiteral("net-fp16.ulps"));
  }
  QString problem(RunField field) {
    const auto problems = problemsOf(m_form);
    const auto at = problems.find(field);
    return at == problems.end() ? QString() : at->second;
  }

  QTemporaryDir m_folder;
  RunForm m_form;
};

TEST_F(Form, MakesTheRequestThatTheCommandLineWouldMake) {
  m_form.decision = QStringLiteral("topk:5");
  m_form.fp32 = QStringLiteral("encoder.*, head\n.");
  m_form.capture = QStringLiteral(" * ");
  ASSERT_THAT(problemsOf(m_form), IsEmpty());
  const session::RunRequest request = requestOf(m_form);
  EXPECT_EQ(request.settings.decision.text(), "topk:5");
  EXPECT_THAT(request.settings.fp32, ElementsAre("encoder.*", "head", "."));
  EXPECT_THAT(request.settings.capture, ElementsAre("*"));
  EXPECT_EQ(request.modelPath, m_form.model.toStdString());
  EXPECT_EQ(request.settings.batchSize, 32);
}

TEST_F(Form, TakesTheModelsOwnFileForNoInputs) {
  ASSERT_TRUE(QFile::link(m_form.model, m_folder.filePath(QStringLiteral("same.ts"))));
  for (const QString& inputs : {m_form.model, m_folder.filePath(QStringLiteral("same.ts"))}) {
    m_form.inputs = inputs;
    EXPECT_EQ(problem(RunField::inputs), QStringLiteral("is the model's own file: choose the file that holds the samples"));
    EXPECT_TRUE(problem(RunField::model).isEmpty());
  }
  m_form.model.clear();
  m_form.inputs.clear();
  EXPECT_TRUE(problem(RunField::inputs).startsWith(QStringLiteral("on which inputs?"))) << "nothing is not the same as nothing";
}

TEST_F(Form, ComesBackFromItsRequest) {
  m_form.decision = QStringLiteral("threshold:0.5:ge");
  m_form.disable = QStringLiteral("a, b");
  const RunForm again = formOf(requestOf(m_form));
  EXPECT_EQ(again.decision, m_form.decision);
  EXPECT_EQ(again.disable, m_form.disable);
  EXPECT_EQ(again.model, m_form.model);
}

TEST_F(Form, NamesEachFaultAtItsField) {
  m_form.model = QStringLiteral("/nowhere/net.ts");
  m_form.inputs.clear();
  m_form.labels = QStringLiteral("/nowhere/labels.txt");
  m_form.decision = QStringLiteral("topk:x");
  m_form.request.settings.mode = session::Mode::native;
  m_form.request.settings.observe = session::Observe::outputs;
  m_form.capture = QStringLiteral("*");
  EXPECT_EQ(problem(RunField::model), QStringLiteral("does not exist"));
  EXPECT_TRUE(problem(RunField::inputs).startsWith(QStringLiteral("on which inputs?")));
  EXPECT_EQ(problem(RunField::labels), QStringLiteral("does not exist"));
  EXPECT_TRUE(problem(RunField::decision).contains(QStringLiteral("topk")));
  EXPECT_TRUE(problem(RunField::mode).contains(QStringLiteral("cpu policy")));
  EXPECT_TRUE(problem(RunField::capture).contains(QStringLiteral("observe stats")));
  m_form.model = m_folder.path();
  EXPECT_EQ(problem(RunField::model), QStringLiteral("is no file"));
}

TEST_F(Form, NeverWritesOverASession) {
  m_form.sessionPath = touch(m_folder, QStringLiteral("there.ulps"));
  EXPECT_TRUE(problem(RunField::session).startsWith(QStringLiteral("exists already")));
  m_form.request.append = true;
  EXPECT_TRUE(problem(RunField::session).isEmpty());
  m_form.request.append = false;
  m_form.sessionPath = QStringLiteral("/nowhere/a.ulps");
  EXPECT_TRUE(problem(RunField::session).contains(QStringLiteral("/nowhere is no folder")));
  m_form.sessionPath = m_folder.filePath(QStringLiteral("a.txt"));
  EXPECT_EQ(problem(RunField::session), QStringLiteral("ends in .ulps"));
  touch(m_folder, QStringLiteral("net-fp16.ulps"));
  EXPECT_EQ(proposedSession(m_form.model, base::DType::float16), m_folder.filePath(QStringLiteral("net-fp16-2.ulps")));
  EXPECT_EQ(proposedSession(m_form.model, base::DType::bfloat16), m_folder.filePath(QStringLiteral("net-bf16.ulps")));
}

TEST(RunFields, HaveTheirTextsInTheirOrder) {
  const auto& texts = runFieldTexts();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(texts[i].field), i);
    EXPECT_FALSE(texts[i].meaning.isEmpty());
  }
  EXPECT_EQ(texts.back().field, RunField::allowNonfinite);
}

TEST(DropPlan, SaysWhatEachFileIsFor) {
  const DropPlan plan = dropPlan({QStringLiteral("/d/net.ts"), QStringLiteral("/d/inputs.pt"), QStringLiteral("/d/labels.txt"), QStringLiteral("/d/class_names.txt"), QStringLiteral("/d/notes.pdf")});
  EXPECT_EQ(plan.model, QStringLiteral("/d/net.ts"));
  EXPECT_EQ(plan.inputs, QStringLiteral("/d/inputs.pt"));
  EXPECT_EQ(plan.labels, QStringLiteral("/d/labels.txt"));
  EXPECT_EQ(plan.classNames, QStringLiteral("/d/class_names.txt"));
  EXPECT_EQ(plan.text(), QStringLiteral("net.ts: model · inputs.pt: inputs · labels.txt: labels · class_names.txt: class names · not used: notes.pdf"));
  EXPECT_EQ(dropPlan({QStringLiteral("/d/resnet.ts"), QStringLiteral("/d/resnet_in.pt")}).inputs, QStringLiteral("/d/resnet_in.pt")) << "a second TorchScript file";
  EXPECT_TRUE(dropPlan({QStringLiteral("/d/notes.pdf")}).isEmpty());
  EXPECT_EQ(dropPlan({QStringLiteral("/d/x.ulps")}).session, QStringLiteral("/d/x.ulps"));
}

TEST(DropPlan, TakesAFolderForItsFiles) {
  QTemporaryDir folder;
  touch(folder, QStringLiteral("model.pt"));
  touch(folder, QStringLiteral("model2.pt"));
  touch(folder, QStringLiteral("data.npz"));
  const DropPlan plan = dropPlan({folder.path()});
  EXPECT_EQ(plan.model, folder.filePath(QStringLiteral("model.pt")));
  EXPECT_EQ(plan.inputs, folder.filePath(QStringLiteral("data.npz")));
  EXPECT_EQ(plan.unused, QStringList{folder.filePath(QStringLiteral("model2.pt"))});
}

// With its statement a folder of images is inputs, and that file stands for it in a dialog that chooses files.
TEST(DropPlan, TakesAFolderOfImagesForInputs) {
  QTemporaryDir folder;
  touch(folder, QStringLiteral("0.png"));
  EXPECT_TRUE(dropPlan({folder.path()}).isEmpty()) << "nothing says what is done to it";
  const QString statement = touch(folder, QStringLiteral("preprocessing.json"));
  EXPECT_EQ(dropPlan({folder.path(), QStringLiteral("/d/net.ts")}).inputs, folder.path());
  const DropPlan plan = dropPlan({statement});
  EXPECT_EQ(plan.inputs, folder.path());
  EXPECT_TRUE(plan.recipe.isEmpty());
}

TEST_F(Form, TakesAFolderOfImagesWithItsStatement) {
  m_form.inputs = m_folder.path();
  EXPECT_EQ(problem(RunField::inputs), QStringLiteral("is a folder without a preprocessing.json, which says what is done to its images"));
  touch(m_folder, QStringLiteral("preprocessing.json"));
  EXPECT_TRUE(problem(RunField::inputs).isEmpty());
}

protocol::LiveExperiment experiment() {
  protocol::LiveExperiment e;
  e.model = testing::sampleSession().model;
  e.sampleIds = {"a", "b", "c"};
  return e;
}

protocol::CellBlock block(std::vector<std::int64_t> samples, std::vector<float> values, std::vector<std::uint8_t> flags) {
  protocol::CellBlock b;
  b.sites = {{"block.fc1", "aten::linear", 1}, {"block.fc1", "aten::relu", 1}, {"head", "aten::linear", 1}};
  b.samples = std::move(samples);
  b.relL2 = std::move(values);
  b.flags = std::move(flags);
  return b;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(LiveRun, FillsColumnByColumnWithTheWorstOfEachModule) {
  LiveRun live;
  live.add(block({0}, {1, 2, 3}, {0, 0, 0}));
  EXPECT_TRUE(live.isEmpty()) << "nothing before the experiment is known";
  live.begin(experiment());
  live.add(block({0}, {1e-3F, 5e-3F, 0}, {0, 0, 0}));
  EXPECT_EQ(live.samplesDone(), 1);
  auto content = live.content();
  ASSERT_EQ(content->rowCount(), 2);
  EXPECT_EQ(content->rows[0].path, "block.fc1");
  EXPECT_FLOAT_EQ(content->cellAt(0, 0).value, 5e-3F);
  EXPECT_EQ(content->cellAt(1, 0).kind, render::CellKind::exactZero);
  EXPECT_EQ(content->cellAt(0, 1).kind, render::CellKind::notRun);
  protocol::CellBlock more = block({2, 1}, {kNan, 1e-4F, 0, 2e-4F, 1e-3F, 1e-3F}, {storage::kCellPlusInf, 0, 0, 0, 0, 0});
  more.sites.reset();
  live.add(more);
  EXPECT_EQ(live.samplesDone(), 3);
  EXPECT_EQ(live.content()->cellAt(0, 2).kind, render::CellKind::plusInf);
  EXPECT_FLOAT_EQ(live.content()->cellAt(0, 1).value, 2e-4F);
  EXPECT_EQ(content->cellAt(0, 2).kind, render::CellKind::notRun) << "what was handed out stays as it is";
}

TEST(LiveRun, StartsAnewWhereTheSitesAreOthersAndLeavesOutWhatItDoesNotKnow) {
  LiveRun live;
  live.begin(experiment());
  live.add(block({0, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}));
  live.add(block({0}, {kNan, kNan, kNan}, {1, 1, 1}));
  EXPECT_EQ(live.samplesDone(), 1);
  EXPECT_EQ(live.content()->cellAt(0, 1).kind, render::CellKind::notRun);
  protocol::CellBlock beyond = block({7}, {1, 1, 1}, {0, 0, 0});
  beyond.sites.reset();
  beyond.firstSite = 2;
  live.add(beyond);
  EXPECT_EQ(live.samplesDone(), 1);
}

}  // namespace
}  // namespace ulpscope::models
