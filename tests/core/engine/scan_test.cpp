// Scans of models whose boundaries numpy worked out from float32 and float16 alone (tests/support/fixtures/scan.py).
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::engine {
namespace {

using nlohmann::json;
using session::Scan;
using session::ScanKind;
using session::ScanRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A model with a session of one run.
class Scanned {
 public:
  explicit Scanned(const std::string& name, const std::string& decision = "argmax", const std::function<void(session::RunSettings&)>& change = {}) {
    session::RunRequest request = tests::requestFor(name);
    request.settings.decision = session::parseDecisionRule(decision).value();
    if (change) change(request.settings);
    auto outcome = m_engine.run(request, {}, {});
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message());
    if (!outcome) return;
    m_session.model = outcome->model;
    m_session.samples = outcome->samples;
    outcome.value().run.number = 1;
    m_session.runs = {std::move(outcome.value().run)};
  }

  base::Result<Scan> scan(ScanRequest request, std::stop_token stop = {}) {
    request.sessionPath = "s.ulps";
    return m_engine.scan(request, m_session, {}, stop);
  }
  Scan found(const ScanRequest& request) {
    auto scanned = scan(request);
    EXPECT_TRUE(scanned.ok()) << (scanned.ok() ? "" : scanned.error().message());
    return scanned.ok() ? std::move(scanned).value() : Scan();
  }
  std::string refused(const ScanRequest& request) {
    const auto scanned = scan(request);
    return scanned ? "" : scanned.error().message();
  }
  session::Session& session() { return m_session; }

 private:
  Engine m_engine;
  session::Session m_session;
};

ScanRequest between(const std::string& a, const std::string& b) {
  ScanRequest request;
  request.samples = {a, b};
  return request;
}

std::vector<double> places(const std::vector<session::Crossing>& crossings) {
  std::vector<double> ts;
  for (const session::Crossing& c : crossings) ts.push_back(static_cast<double>(c.t));
  return ts;
}

// Each segment of the fixture, to the bit.
void expectSegments(const std::string& name, const std::string& decision) {
  Scanned model(name, decision);
  const json expected = tests::expectedOf(name);
  ASSERT_FALSE(expected.at("segments").empty());
  for (const json& segment : expected.at("segments")) {
    const Scan scan = model.found(between(segment.at("from"), segment.at("to")));
    ASSERT_TRUE(scan.segment) << segment;
    EXPECT_EQ(places(scan.segment->referenceCrossings), segment.at("reference").get<std::vector<double>>()) << segment;
    EXPECT_EQ(places(scan.segment->candidateCrossings), segment.at("candidate").get<std::vector<double>>()) << segment;
    EXPECT_THAT(scan.segment->flicker, IsEmpty()) << segment;
  }
}

TEST(Scan, FindsLinearBoundariesToTheLastFloat) { expectSegments("scan_pair", "argmax"); }
TEST(Scan, FindsQuadraticBoundariesToTheLastFloat) { expectSegments("scan_square", "argmax"); }
TEST(Scan, FindsAThresholdToTheLastFloat) { expectSegments("scan_third", "threshold:0.6"); }

TEST(Scan, SaysUnderWhatItWasMade) {
  Scanned model("scan_pair");
  ScanRequest request = between("4", "5");
  request.steps = 101;
  const Scan scan = model.found(request);
  EXPECT_EQ(scan.runId, "run_0001");
  EXPECT_THAT(scan.sampleIds, ElementsAre("4", "5"));
  EXPECT_EQ(scan.settings.batchSize, 32);
  EXPECT_EQ(scan.settings.decisionOutput, "output");
  EXPECT_EQ(scan.policyTable, model.session().runs.front().policyTable);
  EXPECT_THAT(scan.classes, ElementsAre(0, 1));
  ASSERT_THAT(scan.inputs, SizeIs(1));
  EXPECT_TRUE(scan.inputs[0].moves);
  EXPECT_THAT(scan.segment->samples, SizeIs(101));
  EXPECT_DOUBLE_EQ(scan.segment->length, 2.5) << "(-2, 1.5)";
  EXPECT_GE(scan.evaluations, 101);
  EXPECT_TRUE(scan.noise.skipped.empty());
  EXPECT_EQ(scan.noise.threads, 2);
  const session::PairAtPoint& start = scan.segment->samples.front().at;
  EXPECT_EQ(start.referenceMargin, 2);
  EXPECT_THAT(start.referenceScores, ElementsAre(3, 1));
  EXPECT_EQ(start.noiseError, 0);
}

// 1.0000 and 1.0003 are one number in half: FP32 changes its mind in the middle, autocast never.
TEST(Scan, APairThatHalfCannotTellApartDisagreesFromTheBoundaryOn) {
  Scanned model("scan_pair");
  const Scan scan = model.found(between("0", "1"));
  EXPECT_THAT(scan.segment->candidateCrossings, IsEmpty());
  ASSERT_THAT(scan.segment->disagreement, SizeIs(1));
  EXPECT_EQ(scan.segment->disagreement[0].at.from, scan.segment->referenceCrossings.at(0).t);
  EXPECT_EQ(scan.segment->disagreement[0].at.to, 1.0F);
  EXPECT_FALSE(scan.segment->disagreement[0].withinNoise);
  ScanRequest flagged = between("0", "1");
  flagged.tie = "flag";
  const Scan ties = model.found(flagged);
  const double tied = tests::expectedOf("scan_pair").at("tied").get<double>();
  ASSERT_GT(tied, 0);
  EXPECT_NEAR(ties.segment->disagreeing(), 1 - tied, tied / 100) << "a tie all along is a decision that FP32 makes but in the few floats where its own are equal";
  EXPECT_TRUE(ties.decisions.at(static_cast<std::size_t>(ties.segment->samples[0].at.candidate)).tied);
  flagged.tie = "refuse";
  EXPECT_THAT(model.refused(flagged), HasSubstr("best scores are equal at a point of it, and the tie rule is 'refuse'"));
}

TEST(Scan, FlickerIsFoundWithItsExtent) {
  Scanned model("scan_pair");
  const json expected = tests::expectedOf("scan_pair").at("flicker");
  const Scan scan = model.found(between("2", "3"));
  ASSERT_THAT(scan.segment->flicker, SizeIs(1));
  const session::Flicker& flicker = scan.segment->flicker[0];
  // A piece at a distance d from the end is 0.01 d wide, by the difference of the slopes: what is shorter than a step of the look may be missed.
  ASSERT_THAT(scan.segment->closeLooks, SizeIs(3));
  EXPECT_NEAR(static_cast<double>(flicker.at.from), expected.at("first").get<double>(), scan.segment->closeLooks[1].resolution() / 0.01);
  EXPECT_NEAR(static_cast<double>(flicker.at.to), expected.at("last").get<double>(), scan.segment->closeLooks[2].resolution() / 0.01);
  EXPECT_GE(static_cast<double>(flicker.at.from), expected.at("first").get<double>());
  EXPECT_LE(static_cast<double>(flicker.at.to), expected.at("last").get<double>());
  EXPECT_GT(flicker.changes, 40);
  EXPECT_LE(flicker.changes, expected.at("changes").get<std::int64_t>());
}

TEST(Scan, ARegionMovesTheBoundaryAndKeepsTheSegment) {
  Scanned model("scan_third", "threshold:0.6");
  ScanRequest request = between("0", "1");
  request.fp32 = {"first"};
  const Scan scan = model.found(request);
  EXPECT_EQ(places(scan.segment->candidateCrossings), tests::expectedOf("scan_third").at("with_region").at("candidate").get<std::vector<double>>());
  EXPECT_EQ(places(scan.segment->referenceCrossings), tests::expectedOf("scan_third").at("with_region").at("reference").get<std::vector<double>>());
  EXPECT_THAT(scan.settings.fp32, ElementsAre("first"));
  request.fp32 = {"frist"};
  EXPECT_THAT(model.refused(request), HasSubstr("frist"));
  request.fp32 = {"."};
  EXPECT_THAT(model.refused(request), HasSubstr("nothing was autocast"));
}

TEST(Scan, NaNIsNoDecisionFromWhereItBegins) {
  Scanned root("scan_root");  // x = -1 + 2t: NaN below zero, in both
  const Scan both = root.found(between("0", "1"));
  ASSERT_THAT(both.segment->referenceNoDecision, SizeIs(1));
  EXPECT_EQ(both.segment->referenceNoDecision[0].from, 0.0F);
  EXPECT_EQ(both.segment->referenceNoDecision[0].to, 0.5F);
  EXPECT_THAT(both.segment->candidateNoDecision, SizeIs(1));
  const json roots = tests::expectedOf("scan_root");
  ASSERT_THAT(both.segment->disagreement, SizeIs(1)) << "only where both decide, by the roots' rounding";
  EXPECT_EQ(static_cast<double>(both.segment->disagreement[0].at.from), roots.at("candidate").get<double>());
  EXPECT_EQ(static_cast<double>(both.segment->disagreement[0].at.to), roots.at("reference").get<double>());
  Scanned large("scan_large");  // x = 131072 t overflows in half from 65520 on, where the candidate has inf - inf
  const Scan one = large.found(between("0", "1"));
  EXPECT_THAT(one.segment->referenceNoDecision, IsEmpty());
  ASSERT_THAT(one.segment->candidateNoDecision, SizeIs(1));
  EXPECT_EQ(static_cast<double>(one.segment->candidateNoDecision[0].from), 65520.0 / 131072.0);
  EXPECT_EQ(one.segment->candidateNoDecision[0].to, 1.0F);
  EXPECT_EQ(one.segment->samples.back().at.maxError, std::numeric_limits<double>::infinity());
}

TEST(Scan, AConstantModelHasNoBoundary) {
  Scanned model("scan_constant");
  const Scan scan = model.found(between("0", "1"));
  EXPECT_THAT(scan.segment->referenceCrossings, IsEmpty());
  EXPECT_THAT(scan.segment->candidateCrossings, IsEmpty());
  EXPECT_THAT(scan.segment->disagreement, IsEmpty());
  ScanRequest near;
  near.kind = ScanKind::near;
  const Scan around = model.found(near);
  for (const session::NearSample& sample : around.near->samples) EXPECT_EQ(sample.skipped, "the margin's gradient is zero there");
}

TEST(Scan, RefusesWhatSpansNothing) {
  Scanned model("scan_pair");
  EXPECT_THAT(model.refused(between("4", "6")), HasSubstr("the samples hold the same inputs, so nothing lies between them"));
  EXPECT_THAT(model.refused(between("4", "4")), HasSubstr("stands twice"));
  EXPECT_THAT(model.refused(between("4", "44")), HasSubstr("44: is no sample of the session; the nearest are"));
  ScanRequest line;
  line.kind = ScanKind::plane;
  line.samples = {"4", "6", "5"};
  EXPECT_THAT(model.refused(line), HasSubstr("lie on one line"));
  line.samples = {"7", "8", "4"};  // (0.5, 0.5), (1.5, 1.5), (3, 1)
  EXPECT_EQ(model.refused(line), "");
}

TEST(Scan, MovesFloatingInputsTogetherAndKeepsTheOthers) {
  Scanned model("scan_mixed", "argmax", [](session::RunSettings& s) { s.batchAxis = {{"y", 1}, {"bias", -1}}; });
  const Scan scan = model.found(between("0", "1"));
  for (const session::ScannedInput& input : scan.inputs) EXPECT_EQ(input.moves, input.name == "x" || input.name == "y") << input.name;
  // Scores 3.125 - 1.75 t and 2 + 0.75 t (x + y, kind 1 adds 0.5 to the second, bias 0.125 to the first): equal at t = 0.45.
  ASSERT_THAT(scan.segment->referenceCrossings, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(scan.segment->referenceCrossings[0].t), 0.45, 1e-6);
  EXPECT_NEAR(scan.segment->length, std::sqrt(4 + 1 + 0.0625 + 0.0625), 1e-12);
  EXPECT_THAT(model.refused(between("0", "2")), HasSubstr("input 'kind' is int64, which cannot be interpolated, and it differs between the samples"));
}

TEST(Scan, RefusesScoresThatHangOnTheirCompany) {
  Scanned coupled("scan_coupled");
  ScanRequest request = between("0", "1");
  EXPECT_THAT(coupled.refused(request), AllOf(HasSubstr("a point's scores hang on what else is in its batch"), HasSubstr("--batch-size 1")));
  Scanned counting("scan_counting");
  EXPECT_THAT(counting.refused(request), HasSubstr("the model keeps something between its forwards"));
}

TEST(Scan, GoesByTheSessionsFilesOnly) {
  Scanned model("scan_pair");
  ScanRequest request = between("4", "5");
  request.modelPath = tests::modelPath("scan_square");
  EXPECT_THAT(model.refused(request), HasSubstr("is not the session's model: its code differs"));
  request.modelPath.clear();
  request.inputsPath = tests::modelFolder("scan_pair") + "/inputs.h5";
  EXPECT_THAT(model.refused(request), HasSubstr("is not the session's inputs file: its SHA-256 differs"));
  request.inputsPath.clear();
  model.session().model.path = "/none/model.ts";
  EXPECT_THAT(model.refused(request), HasSubstr("/none/model.ts: does not exist, and the session was made from it; say where it is now with --model F"));
  request.modelPath = tests::modelPath("scan_pair");
  EXPECT_EQ(model.refused(request), "");
}

TEST(Scan, NeedsADecision) {
  Scanned model("scan_pair", "none");
  ScanRequest request = between("4", "5");
  EXPECT_THAT(model.refused(request), HasSubstr("run_0001 decides nothing (--decision none), so there is no boundary; say by which rule"));
  request.decision = "argmax";
  EXPECT_EQ(model.refused(request), "");
  request.decision = "topk:3";
  EXPECT_THAT(model.refused(request), HasSubstr("fewer than the set"));
  request.decision = "argmax:0";
  EXPECT_THAT(model.refused(request), HasSubstr("counts the samples"));
  request.decision = "argmax";
  request.decisionOutput = "logits";
  EXPECT_THAT(model.refused(request), HasSubstr("--decision-output logits: is no output of the model"));
}

TEST(Scan, ARecordedSessionHasNoModelToRun) {
  Scanned model("scan_pair");
  model.session().runs.front().settings.mode = session::Mode::recorded;
  EXPECT_THAT(model.refused(between("4", "5")), HasSubstr("no engine can run it again"));
  model.session().runs.clear();
  EXPECT_THAT(model.refused(between("4", "5")), HasSubstr("holds no run"));
}

TEST(Scan, IsTheSameInAnyBatchSizeHere) {
  Scanned model("scan_pair");
  const Scan whole = model.found(between("4", "5"));
  ScanRequest request = between("4", "5");
  request.batchSize = 1;
  const Scan single = model.found(request);
  EXPECT_EQ(single.settings.batchSize, 1);
  EXPECT_EQ(places(single.segment->candidateCrossings), places(whole.segment->candidateCrossings)) << "sums of one product are exact";
}

TEST(Scan, IsCancelledBetweenBatches) {
  Scanned model("scan_pair");
  std::stop_source stop;
  stop.request_stop();
  const auto scanned = model.scan(between("4", "5"), stop.get_token());
  ASSERT_FALSE(scanned.ok());
  EXPECT_EQ(scanned.error().kind, base::ErrorKind::cancelled);
}

// From (3, 1) the margin x0 - x1 falls fastest along (-1, 1) / sqrt(2), and is gone after 2 / sqrt(2).
TEST(Scan, TheNearestFlipOfALinearMarginIsItsMarginOverItsGradient) {
  Scanned model("scan_pair");
  ScanRequest request;
  request.kind = ScanKind::near;
  request.samples = {"4", "0"};
  const Scan scan = model.found(request);
  ASSERT_THAT(scan.near->samples, SizeIs(2));
  const session::NearSample& plain = scan.near->samples[0];
  EXPECT_NEAR(plain.gradientNorm, std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(plain.norm, std::sqrt(10.0), 1e-12);
  EXPECT_NEAR(plain.linearStep(), std::sqrt(2.0), 1e-6);
  ASSERT_TRUE(plain.reference.found);
  EXPECT_NEAR(plain.reference.step, std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(plain.reference.relative, std::sqrt(2.0) / std::sqrt(10.0), 1e-6);
  // The candidate waits until x1 is a whole step of half (2^-10 between 1 and 2, 2^-9 above) larger: both are near 2.
  ASSERT_TRUE(plain.candidate.found);
  EXPECT_NEAR(plain.candidate.step, std::sqrt(2.0), 2e-3);
  EXPECT_GT(plain.candidate.step, plain.reference.step);
  const session::NearSample& close = scan.near->samples[1];
  EXPECT_NEAR(close.reference.step, 0.0003 / std::sqrt(2.0), 1e-6);
  EXPECT_GT(close.candidate.step, 2 * close.reference.step) << "half sees no difference before";
  // Of the set, those whose margin is at most twice the largest error: (1.0003, 1) and its mirror image, and the ties.
  EXPECT_THAT(scan.near->curve, SizeIs(12));
  EXPECT_TRUE(std::is_sorted(scan.near->curve.begin(), scan.near->curve.end(), [](const auto& a, const auto& b) { return a.margin < b.margin; }));
  std::vector<std::string> within;
  for (const session::DecidedWithin& d : scan.near->curve)
    if (d.withinError()) within.push_back(d.id);
  EXPECT_THAT(within, testing::UnorderedElementsAre("0", "1", "7", "8"));
}

// (1, 1.0003) is a tie in half, which the first class wins: autocast has flipped it where it stands, on the way it need not go.
TEST(Scan, WhatAutocastHasFlippedHasNoWayToGo) {
  Scanned model("scan_pair");
  ScanRequest request;
  request.kind = ScanKind::near;
  request.samples = {"1"};
  const Scan scan = model.found(request);
  const session::NearSample& flipped = scan.near->samples.at(0);
  EXPECT_TRUE(flipped.at.differs());
  EXPECT_TRUE(flipped.candidate.found);
  EXPECT_EQ(flipped.candidate.step, 0);
  EXPECT_EQ(session::decisionName(scan, flipped.candidate.to, {}), "0");
  EXPECT_NEAR(flipped.reference.step, 0.0003 / std::sqrt(2.0), 1e-6);
}

// 131072 is infinite in half, and inf - inf is NaN: the candidate decides nothing there, which is not "beyond" anything.
TEST(Scan, ADecisionLostToNaNIsNoSafety) {
  Scanned model("scan_large");
  ScanRequest request;
  request.kind = ScanKind::near;
  const Scan scan = model.found(request);
  const auto& samples = scan.near->samples;
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_TRUE(samples[1].candidate.found);
  EXPECT_EQ(samples[1].candidate.step, 0);
  EXPECT_EQ(samples[1].candidate.to, session::kNoDecision);
  EXPECT_EQ(scan.near->undecided(), 1);
  EXPECT_THAT(session::scanTitle(scan), HasSubstr("1 without a decision (NaN)"));
}

TEST(Scan, AStepBeyondTheLimitIsNotFound) {
  Scanned model("scan_pair");
  ScanRequest request;
  request.kind = ScanKind::near;
  request.samples = {"4"};
  request.limit = 0.4;  // of sqrt(10): 1.26, less than sqrt(2)
  const Scan scan = model.found(request);
  EXPECT_FALSE(scan.near->samples[0].reference.found);
  EXPECT_FALSE(scan.near->samples[0].candidate.found);
  EXPECT_NEAR(scan.near->samples[0].limit, 0.4 * std::sqrt(10.0), 1e-12);
}

TEST(Scan, CountsTheFlipsOfAPlane) {
  Scanned model("scan_pair");
  const json expected = tests::expectedOf("scan_pair").at("plane");
  ScanRequest request;
  request.kind = ScanKind::plane;
  request.samples = expected.at("samples").get<std::vector<std::string>>();
  request.grid = expected.at("side");
  const Scan scan = model.found(request);
  EXPECT_EQ(scan.plane->flips, expected.at("flips").get<std::int64_t>());
  EXPECT_GT(scan.plane->flips, 0);
  EXPECT_EQ(scan.plane->decided, request.grid * request.grid);
  EXPECT_THAT(scan.plane->points, SizeIs(static_cast<std::size_t>(request.grid * request.grid)));
  EXPECT_THAT(scan.plane->points.front().referenceScores, ElementsAre(static_cast<double>(1.0003F), 1));
}

}  // namespace
}  // namespace ulpscope::engine
