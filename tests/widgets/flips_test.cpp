// The Flips tab in its user's words, over the images of the digits demo (the first samples of its inputs).
#include "core/base/hashing.h"
#include "core/storage/input_digest.h"
#include "eight_samples.h"
#include "tests/support/python_script.h"
#include "widgets/plots/margin_plot.h"
#include "widgets/views/flip_sentence.h"
#include "widgets/views/flips_panel.h"
#include "widgets/views/gallery_panel.h"
#include "widgets/views/gallery_view.h"
#include "widgets/views/margin_filter.h"

#include <QAbstractButton>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QGuiApplication>
#include <QImage>
#include <QLineEdit>
#include <QPainter>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace ulpscope {
namespace {

using models::GalleryModel;
using testing::eightDecisions;
using testing::eightSamples;
using testing::idsOf;

// A panel over a session on disk whose inputs are a copy of a demo's.
class Flips : public ::testing::Test {
 protected:
  Flips() : m_bench(m_folder.filePath(QStringLiteral("demos"))), m_panel(m_bench) {
    m_panel.resize(1000, 420);
    m_panel.show();
  }

  void open(const QString& demo = QStringLiteral("digits")) {
    m_inputs = m_folder.filePath(QStringLiteral("inputs.h5"));
    ASSERT_TRUE(QFile::copy(QStringLiteral(ULPSCOPE_TEST_DATA "/../../resources/demo/%1/inputs.h5").arg(demo), m_inputs));
    m_session = eightSamples();
    m_session.samples.path = m_inputs.toStdString();
    m_session.samples.sha256 = base::sha256OfFile(m_session.samples.path).value();
    openWritten();
  }
  // A session whose inputs are a file or folder of the test's own.
  void openWith(const std::string& inputs) {
    m_session.samples.path = inputs;
    m_session.samples.sha256 = storage::inputsDigest(inputs).value();
    openWritten();
    m_panel.showPage(views::FlipsPanel::kGallery);
  }
  void openWritten() {
    const QString path = m_folder.filePath(QStringLiteral("eight.ulps"));
    const auto written = storage::addRun(path.toStdString(), m_session, m_run, metrics(), m_outputs, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
    m_bench.openSession(path);
    ASSERT_TRUE(testing::waitFor([this] { return m_bench.runB() != nullptr; }));
  }
  static storage::RunMetrics metrics() {
    storage::RunMetrics m;
    m[session::Metric::relL2] = {4, 8, std::vector<float>(32, 1e-4F)};
    m[session::Metric::maxAbs] = m[session::Metric::relL2];
    m.flags.assign(32, 0);
    return m;
  }
  GalleryModel& gallery() { return *m_panel.gallery()->model(); }
  views::GalleryView& tiles() { return *m_panel.gallery()->view(); }
  QString note() { return m_panel.gallery()->note(); }
  models::ThumbnailPointer pictureOf(std::int64_t sample) {
    return gallery().index(gallery().rowOfSample(sample)).data(GalleryModel::kThumbnailRole).value<models::ThumbnailPointer>();
  }
  std::int64_t selectedSample() { return m_bench.selection().sample(); }
  template <typename Widget>
  Widget* named(const QString& name) {
    for (Widget* widget : m_panel.findChildren<Widget*>())
      if (widget->accessibleName() == name) return widget;
    ADD_FAILURE() << "nothing is called " << name.toStdString();
    return nullptr;
  }

  QTemporaryDir m_folder;
  QString m_inputs;
  session::Session m_session;
  session::RunRecord m_run = eightDecisions();
  std::vector<storage::OutputTensors> m_outputs;
  views::Workbench m_bench;
  views::FlipsPanel m_panel;
};

TEST_F(Flips, ShowTheInputsOfFlippedSamples) {
  open();
  EXPECT_FALSE(pictureOf(7)) << "nothing is read before somebody looks";
  m_panel.showPage(views::FlipsPanel::kGallery);
  ASSERT_TRUE(testing::waitFor([this] { return pictureOf(1) && pictureOf(7); })) << note().toStdString();
  EXPECT_TRUE(note().isEmpty());
  EXPECT_EQ(pictureOf(7)->kind, render::Thumbnail::Kind::image);
  EXPECT_EQ(pictureOf(7)->width, 8);
  EXPECT_TRUE(pictureOf(7)->caption.starts_with("float32 [1, 8, 8], 0 to 1")) << pictureOf(7)->caption;
  // The same bytes as the file's own sample 7, read in another way.
  const auto file = storage::readInputFile(m_inputs.toStdString());
  ASSERT_TRUE(file.ok());
  const auto* values = reinterpret_cast<const float*>(file->inputs.front().bytes.data()) + 7 * 64;
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(pictureOf(7)->rgba[4 * i], std::lround(255 * values[i])) << i;
  EXPECT_FALSE(gallery().hasThumbnail(0)) << "a sample that is not shown is not read";
  EXPECT_FALSE(m_panel.gallery()->inputChoice()->isVisible()) << "there is one input";
}

TEST_F(Flips, DrawTheTilesPictureInItsOwnPixels) {
  open();
  m_panel.showPage(views::FlipsPanel::kGallery);
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(1)); }));
  const QModelIndex first = gallery().index(0);
  const QRect tile = tiles().visualRect(first);
  const QImage shot = tiles().viewport()->grab().toImage();
  QSet<QRgb> greys;
  for (int y = tile.top(); y < tile.bottom(); ++y)
    for (int x = tile.left(); x < tile.right(); ++x)
      if (const QColor c = shot.pixelColor(x, y); c.red() == c.green() && c.green() == c.blue()) greys.insert(c.rgb());
  EXPECT_GT(greys.size(), 5) << "the image of a digit has many greys, an empty tile has one or two";
}

// Eight wide grey pictures, [1, 6, 24]: whatever the tile, the picture is four times as wide as high.
TEST_F(Flips, DrawPicturesInTheirOwnProportions) {
  const tests::ScratchFolder scratch;
  ASSERT_TRUE(tests::python(scratch, "import h5py, numpy as np\nf = h5py.File('in.h5', 'w')\nf['x'] = np.ones((8, 1, 6, 24), 'f4')\nf.close()\n"));
  m_session = eightSamples();
  openWith(scratch.file("in.h5"));
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(1)); })) << note().toStdString();
  const QRect tile = tiles().visualRect(gallery().index(0));
  const QImage shot = tiles().viewport()->grab().toImage();
  QRect grey;
  for (int y = tile.top(); y < tile.bottom(); ++y)
    for (int x = tile.left(); x < tile.right(); ++x)
      if (shot.pixelColor(x, y) == QColor(128, 128, 128)) grey |= QRect(x, y, 1, 1);
  EXPECT_GE(grey.width(), 60) << "as wide as the tile lets it be";
  EXPECT_NEAR(grey.width() / 4.0, grey.height(), 1);
}

TEST_F(Flips, NameTheClassesOfWhatDidNotFlipAmongAllSamples) {
  // Sample s has class s % 3 in FP32: "same" is 0, "late" 6 % 3.
  std::vector<float> scores(24, 0);
  for (std::size_t s = 0; s < 8; ++s) scores[3 * s + s % 3] = 1;
  storage::OutputTensors output{"logits", {8, 3}, {}, {}};
  output.reference.bytes.resize(scores.size() * sizeof(float));
  std::memcpy(output.reference.bytes.data(), scores.data(), output.reference.bytes.size());
  output.candidate = output.reference;
  m_outputs = {output};
  m_run.outputs = {{"logits", {8, 3}, "0", base::DType::float16, 0, 0, std::nullopt, 0, 0}};
  open();
  const auto model = m_panel.table()->model();
  m_panel.setShowAll(true);
  ASSERT_TRUE(testing::waitFor([&] { return !model->index(7, models::DecisionsModel::kReference).data().toString().isEmpty(); }));
  EXPECT_EQ(model->index(7, 0).data().toString(), QStringLiteral("same"));
  EXPECT_EQ(model->index(7, models::DecisionsModel::kReference).data().toString(), QStringLiteral("cat"));
  EXPECT_EQ(model->index(7, models::DecisionsModel::kCandidate).data().toString(), QStringLiteral("cat"));
  EXPECT_EQ(gallery().index(gallery().rowOfSample(6)).data(GalleryModel::kDecisionRole).toString(), QStringLiteral("cat"));
}

TEST_F(Flips, ChooseASampleInTheGalleryByKeyAndMouse) {
  open();
  m_panel.showPage(views::FlipsPanel::kGallery);
  tiles().setFocus();
  tiles().setCurrentIndex(gallery().index(0));
  QTest::keyClick(&tiles(), Qt::Key_Right);
  EXPECT_NE(selectedSample(), 7) << "arrows look, they do not choose";
  QTest::keyClick(&tiles(), Qt::Key_Return);
  EXPECT_EQ(selectedSample(), 7) << "reg1 is the second";
  EXPECT_EQ(m_bench.selection().modulePath().value_or(QString()), QStringLiteral("block.fc1")) << "its first site over tolerance";
  EXPECT_TRUE(gallery().index(1).data(GalleryModel::kIsSelectedRole).toBool());
  QTest::mouseClick(tiles().viewport(), Qt::LeftButton, {}, tiles().visualRect(gallery().index(3)).center());
  EXPECT_EQ(selectedSample(), 3);
  EXPECT_EQ(m_panel.table()->currentIndex().siblingAtColumn(0).data().toString(), QStringLiteral("fix"));
  m_bench.selection().selectSample(1);
  EXPECT_EQ(tiles().currentIndex().data().toString(), QStringLiteral("reg2"));
}

TEST_F(Flips, SayWhenTheInputsAreGoneAndFindThemBesideTheSession) {
  open();
  ASSERT_TRUE(QFile::rename(m_inputs, m_folder.filePath(QStringLiteral("away.h5"))));
  m_panel.showPage(views::FlipsPanel::kGallery);
  ASSERT_TRUE(testing::waitFor([this] { return note().startsWith(QStringLiteral("No pictures")); }));
  EXPECT_EQ(note(), QStringLiteral("No pictures: %1 is not there; put it back, or beside the session.").arg(m_inputs));
  EXPECT_EQ(gallery().rowCount(), 6) << "the rest of each tile stands";
}

TEST_F(Flips, FindMovedInputsBesideTheSession) {
  m_inputs = m_folder.filePath(QStringLiteral("inputs.h5"));
  ASSERT_TRUE(QFile::copy(QStringLiteral(ULPSCOPE_TEST_DATA "/../../resources/demo/digits/inputs.h5"), m_inputs));
  m_session = eightSamples();
  m_session.samples.path = "/nowhere/else/inputs.h5";
  m_session.samples.sha256 = base::sha256OfFile(m_inputs.toStdString()).value();
  openWritten();
  m_panel.showPage(views::FlipsPanel::kGallery);
  EXPECT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); })) << note().toStdString();
}

TEST_F(Flips, ShowNoPictureOfAnotherFile) {
  open();
  QFile file(m_inputs);
  ASSERT_TRUE(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner));
  ASSERT_TRUE(file.open(QIODevice::Append));
  file.write("x");
  file.close();
  m_panel.showPage(views::FlipsPanel::kGallery);
  ASSERT_TRUE(testing::waitFor([this] { return note().startsWith(QStringLiteral("No pictures")); }));
  EXPECT_EQ(note(), QStringLiteral("No pictures: %1 is another file than the run's (its SHA-256 differs).").arg(m_inputs));
  EXPECT_FALSE(pictureOf(7));
}

TEST_F(Flips, SayWhereThereIsNothingToShow) {
  open();
  m_panel.showPage(views::FlipsPanel::kGallery);
  EXPECT_EQ(m_panel.gallery()->view()->emptyText(), QString());
  auto* field = named<QLineEdit>(QStringLiteral("FP32 margin below, as a number, or all"));
  field->setText(QStringLiteral("1e-30"));
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_EQ(gallery().rowCount(), 0);
  EXPECT_EQ(m_panel.gallery()->view()->emptyText(), QStringLiteral("No decision changed here.\nA larger margin, or All samples, shows more."));
}

TEST_F(Flips, SayWhichFilesCannotBeRead) {
  m_session = eightSamples();
  m_inputs = m_folder.filePath(QStringLiteral("inputs.pt"));
  QFile file(m_inputs);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("PK\x03\x04 an archive of PyTorch's");
  file.close();
  m_session.samples.path = m_inputs.toStdString();
  openWritten();
  m_panel.showPage(views::FlipsPanel::kGallery);
  ASSERT_TRUE(testing::waitFor([this] { return note().startsWith(QStringLiteral("No pictures")); }));
  EXPECT_EQ(note(), QStringLiteral("No pictures: %1 is another file than the run's (its SHA-256 differs).").arg(m_inputs));
}

TEST_F(Flips, ShowPicturesOfInputsThatTheSnippetSaved) {
  const tests::ScratchFolder scratch;
  ASSERT_TRUE(tests::python(scratch, "import torch\nclass Holder(torch.nn.Module): pass\nh = Holder()\nh.register_buffer('x', torch.arange(8 * 60.).view(8, 3, 4, 5))\n"
                                     "h.register_buffer('expected_0', torch.zeros(8, 2))\ntorch.jit.script(h).save('in.pt')\n"));
  m_inputs = QString::fromStdString(scratch.file("in.pt"));
  m_session = eightSamples();
  openWith(scratch.file("in.pt"));
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); })) << note().toStdString();
  EXPECT_EQ(pictureOf(7)->kind, render::Thumbnail::Kind::image);
  EXPECT_EQ(pictureOf(7)->caption, "float32 [3, 4, 5], 420 to 479") << "7 * 60 to 8 * 60 - 1";
  EXPECT_FALSE(m_panel.gallery()->inputChoice()->isVisible()) << "the expected outputs are no input";
}

// Without a name an array is forward's argument at its place, whose batch axis counts its samples.
TEST_F(Flips, ShowPicturesOfAnArrayWithoutAName) {
  const tests::ScratchFolder scratch;
  ASSERT_TRUE(tests::python(scratch, "import numpy as np\nnp.save('in.npy', np.arange(3 * 8 * 20, dtype='f4').reshape(3, 8, 4, 5))\n"));
  m_session = eightSamples();
  m_session.model.arguments = {{"pixels", "Tensor", false}};
  m_run.settings.batchAxis = {{"pixels", 1}};
  openWith(scratch.file("in.npy"));
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); })) << note().toStdString();
  EXPECT_EQ(pictureOf(7)->caption, "float32 [3, 4, 5], 140 to 479") << "7 * 20 of the first plane to the last of all";
}

TEST_F(Flips, ShowPicturesOfAFolderOfImages) {
  const tests::ScratchFolder scratch;
  ASSERT_TRUE(tests::python(scratch, "import json, os, numpy as np\nfrom PIL import Image\nos.mkdir('set')\n"
                                     "for i in range(8): Image.fromarray(np.full((4, 5), 10 * i, 'u1')).save(f'set/{i}.png')\n"
                                     "json.dump({'channels': 'grey', 'layout': 'NCHW', 'dtype': 'uint8'}, open('set/preprocessing.json', 'w'))\n"));
  m_session = eightSamples();
  openWith(scratch.file("set"));
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); })) << note().toStdString();
  EXPECT_TRUE(pictureOf(7)->caption.starts_with("uint8 [1, 4, 5], all 70")) << pictureOf(7)->caption;
}

TEST_F(Flips, WriteTokensIntoTheTiles) {
  open(QStringLiteral("overflow"));
  m_panel.showPage(views::FlipsPanel::kGallery);
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); })) << note().toStdString();
  EXPECT_EQ(pictureOf(7)->kind, render::Thumbnail::Kind::text);
  EXPECT_EQ(std::count(pictureOf(7)->text.begin(), pictureOf(7)->text.end(), ' '), 15) << "16 tokens: " << pictureOf(7)->text;
}

// Tokens come first by name, the image is the first that gives a picture; the third is shared by all samples.
TEST_F(Flips, LetOneChooseAmongSeveralInputs) {
  const tests::ScratchFolder scratch;
  ASSERT_TRUE(tests::python(scratch, "import h5py, numpy as np\nf = h5py.File('in.h5', 'w')\nf['ids'] = np.arange(16).reshape(8, 2)\n"
                                     "f['pixels'] = np.arange(3 * 8 * 4 * 5, dtype='f4').reshape(3, 8, 4, 5)\nf['scale'] = np.linspace(0, 1, 9)\nf.close()\n"));
  m_inputs = QString::fromStdString(scratch.file("in.h5"));
  m_session = eightSamples();
  m_run.settings.batchAxis = {{"pixels", 1}, {"scale", -1}};
  openWith(scratch.file("in.h5"));
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); })) << note().toStdString();
  QComboBox* choice = m_panel.gallery()->inputChoice();
  EXPECT_TRUE(choice->isVisible());
  EXPECT_EQ(choice->currentText(), QStringLiteral("pixels"));
  EXPECT_EQ(pictureOf(7)->caption, "float32 [3, 4, 5], 140 to 479") << "sample 7 along axis 1: 7 * 20 to 2 * 160 + 7 * 20 + 19";
  choice->setCurrentText(QStringLiteral("ids"));
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); }));
  EXPECT_EQ(pictureOf(7)->text, "14 15");
  choice->setCurrentText(QStringLiteral("scale"));
  ASSERT_TRUE(testing::waitFor([this] { return bool(pictureOf(7)); }));
  EXPECT_EQ(pictureOf(7)->curve.size(), 9U);
}

TEST_F(Flips, RestrictEverythingToSmallMargins) {
  open();
  m_panel.setShowAll(true);
  EXPECT_EQ(m_panel.table()->model()->rowCount(), 8);
  auto* field = named<QLineEdit>(QStringLiteral("FP32 margin below, as a number, or all"));
  field->setText(QStringLiteral("0.01"));
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_EQ(idsOf(*m_panel.table()->model()), QStringList({"w2w", "fix", "late"}));
  EXPECT_EQ(idsOf(gallery()), QStringList({"w2w", "fix", "late"}));
  EXPECT_TRUE(m_panel.sentence()->text().contains(QStringLiteral("3 samples have an FP32 margin below 0.01, 2 of the 4 flips lie there"))) << m_panel.sentence()->text().toStdString();
  EXPECT_TRUE(m_panel.summary() == QStringLiteral("3 of 8 shown; flip possible in 4 (margin ≤ 2 × max error)")) << m_panel.summary().toStdString();
  auto* slider = named<QSlider>(QStringLiteral("FP32 margin below"));
  slider->setFocus();
  QTest::keyClick(slider, Qt::Key_End);
  EXPECT_EQ(field->text(), QStringLiteral("all"));
  EXPECT_EQ(m_panel.table()->model()->rowCount(), 8);
  QTest::keyClick(slider, Qt::Key_Home);
  EXPECT_EQ(field->text(), QStringLiteral("0.001"));
  EXPECT_EQ(m_panel.table()->model()->rowCount(), 0) << "0.001 is the smallest margin, and not below itself";
  field->setText(QStringLiteral("-3"));
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_EQ(field->text(), QStringLiteral("0.001")) << "what is no limit gives way";
  field->setText(QString());
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_EQ(field->text(), QStringLiteral("all"));
}

TEST_F(Flips, WriteASentenceThatCanBeCopied) {
  open();
  EXPECT_EQ(m_panel.sentence()->text().toStdString(),
                           "Under FP16 autocast (emulated, policy cuda@1.13, kept in FP32: block.fc2) 4 of 6 samples are decided otherwise than in FP32 (66.7 %, 95 % interval 22.2 % to 95.7 %); "
                           "2 regress, 1 is fixed, 1 goes from wrong to wrong, 1 is within FP32's own noise; the largest FP32 margin among them is 0.03; "
                           "1 sample has no decision under FP16 (NaN scores) and 1 sample has none in FP32 itself, not counted; on this set, with these weights.");
  named<QAbstractButton>(QStringLiteral("Copy the statement"))->click();
  const QString copied = QGuiApplication::clipboard()->text();
  EXPECT_TRUE(copied.startsWith(m_panel.sentence()->text() + QStringLiteral("\nThe interval takes")));
  EXPECT_TRUE(copied.contains(QStringLiteral("Exploratory")));
  EXPECT_TRUE(m_panel.conditions().contains(QStringLiteral("• Exploratory: no acceptance criteria were locked before this run.")));
}

TEST_F(Flips, HaveNothingToCopyWithoutDecisions) {
  m_run.settings.decision.kind = session::DecisionRule::Kind::none;
  m_run.decisions.clear();
  m_run.flips.clear();
  m_run.noDecision.clear();
  open();
  EXPECT_TRUE(m_panel.sentence()->text().startsWith(QStringLiteral("This run reads no decisions")));
  EXPECT_FALSE(named<QAbstractButton>(QStringLiteral("Copy the statement"))->isVisible());
  EXPECT_FALSE(m_panel.marginFilter()->isEnabled());
  EXPECT_EQ(m_panel.marginPlot()->legendText(), QString());
}

TEST_F(Flips, KeepTheLimitWhileTheRunsOfASessionAreLookedAtInTurn) {
  open();
  const auto added = storage::addRun(m_bench.sessionPath().toStdString(), *m_bench.session(), m_run, metrics(), {}, storage::WriteMode::append);
  ASSERT_TRUE(added.ok());
  m_bench.openSession(m_bench.sessionPath());
  ASSERT_TRUE(testing::waitFor([this] { return m_bench.runA() != nullptr; }));
  m_panel.marginFilter()->setBelow(0.01);
  m_bench.setView(views::RunView::a);
  EXPECT_EQ(m_panel.marginFilter()->below(), 0.01);
  EXPECT_EQ(m_panel.table()->model()->rowCount(), 2);
}

TEST_F(Flips, PointAtSamplesInTheMarginPlot) {
  open();
  plots::MarginPlot* plot = m_panel.marginPlot();
  EXPECT_EQ(plot->legendText(), QStringLiteral("regressed 2, fixed 1, wrong to wrong 1, no decision 2, same 2, AMP margin 0, no flip possible beyond 0.04 (2 × largest error)"));
  EXPECT_EQ(plot->tooltipOf(7), QStringLiteral("sample reg1: regressed\nFP32 margin 0.03\nAMP FP16 margin 0.02"));
  ASSERT_TRUE(plot->pixelOf(2) && plot->pixelOf(7) && plot->pixelOf(5));
  EXPECT_GT(plot->pixelOf(2)->y(), plot->pixelOf(7)->y()) << "NaN stands on the rug below";
  EXPECT_LT(plot->pixelOf(5)->x(), plot->pixelOf(6)->x()) << "no margin in FP32: left of the smallest";
  EXPECT_LT(plot->pixelOf(3)->y(), plot->pixelOf(7)->y()) << "a margin that grew is above one that shrank";
  QTest::mouseClick(plot->surface(), Qt::LeftButton, {}, plot->pixelOf(7)->toPoint());
  EXPECT_EQ(selectedSample(), 7);
  plot->setFocus();
  QTest::keyClick(plot, Qt::Key_Home);
  EXPECT_EQ(selectedSample(), 5);
  QTest::keyClick(plot, Qt::Key_Right);
  EXPECT_EQ(selectedSample(), 6) << "the smallest margin";
  QTest::keyClick(plot, Qt::Key_Left);
  QTest::keyClick(plot, Qt::Key_Left);
  EXPECT_EQ(selectedSample(), 5) << "the first stays the first";
  QTest::keyClick(plot, Qt::Key_End);
  EXPECT_EQ(selectedSample(), 0);
}

}  // namespace
}  // namespace ulpscope
