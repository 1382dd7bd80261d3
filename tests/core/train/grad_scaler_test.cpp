// GradScaler against torch.amp's rules (torch/cuda/amp/grad_scaler.py of 1.13, torch/amp/grad_scaler.py of 2.x) and against PyTorch's own
// class run over the same gradients (make_training_cases.py). Expected scales in the small tests are worked out by hand.
#include "core/train/grad_scaler.h"
#include "tests/core/train/training_cases.h"

#include <gmock/gmock.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope::train {
namespace {

using Kind = ScalerError::Kind;
using Series = GradScaler::Series;

const float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

// One parameter of its own optimizer, plain descent with rate 1: its change is the gradient.
struct Subject {
  at::Tensor parameter;
  torch::optim::SGD optimizer;

  explicit Subject(std::int64_t size = 1, at::ScalarType type = at::kFloat) : parameter(at::zeros({size}, type).set_requires_grad(true)), optimizer({parameter}, 1.0) {}
  void give(std::vector<float> gradient) { parameter.mutable_grad() = at::tensor(gradient).to(parameter.scalar_type()); }
  double value(std::int64_t i = 0) const { return parameter.detach()[i].item<double>(); }
  double gradient(std::int64_t i = 0) const { return parameter.grad()[i].item<double>(); }
};

GradScaler started(const GradScaler::Options& options = {}) {
  GradScaler scaler(options);
  scaler.scale(at::ones({}));
  return scaler;
}

template <typename F>
void expectRaises(Kind kind, const std::string& words, F&& call) {
  try {
    call();
    FAIL() << "did not raise: " << words;
  } catch (const ScalerError& e) {
    EXPECT_EQ(e.what(), words);
    EXPECT_EQ(e.kind(), kind);
  }
}

// One iteration in which the only gradient is `gradient`.
bool iterate(GradScaler& scaler, Subject& subject, float gradient) {
  subject.give({gradient});
  const bool applied = scaler.step(subject.optimizer).applied;
  scaler.update();
  return applied;
}

TEST(GradScalerOptions, AreTorchAmps) {
  const GradScaler scaler;
  EXPECT_EQ(scaler.getScale(), 65536);
  EXPECT_EQ(scaler.growthFactor(), 2);
  EXPECT_EQ(scaler.backoffFactor(), 0.5);
  EXPECT_EQ(scaler.growthInterval(), 2000);
  EXPECT_TRUE(scaler.isEnabled());
  expectRaises(Kind::assertion, "The growth factor must be > 1.0.", [] { GradScaler{{.growthFactor = 1}}; });
  expectRaises(Kind::assertion, "The backoff factor must be < 1.0.", [] { GradScaler{{.backoffFactor = 1}}; });
  EXPECT_NO_THROW((GradScaler{{.growthFactor = 1, .enabled = false}}));
}

TEST(GradScalerScale, MultipliesInFloat32AndRoundsTheGradientOfAHalfLoss) {
  for (const auto& [scale, gradient] : {std::pair(65536.0, double(kInf)), std::pair(32768.0, 32768.0)}) {
    GradScaler scaler({.initScale = scale});
    const at::Tensor loss = at::ones({}, at::kHalf).set_requires_grad(true);
    const at::Tensor scaled = scaler.scale(loss);
    EXPECT_EQ(scaled.scalar_type(), at::kFloat);
    EXPECT_EQ(scaled.item<double>(), scale);
    scaled.backward();
    EXPECT_EQ(loss.grad().item<double>(), gradient);
  }
}

TEST(GradScalerScale, TakesSeveralOutputs) {
  GradScaler scaler({.initScale = 4});
  const auto scaled = scaler.scale({at::full({}, 1.5), at::full({2}, -1.0)});
  EXPECT_EQ(scaled[0].item<double>(), 6);
  EXPECT_EQ(scaled[1][1].item<double>(), -4);
}

TEST(GradScalerStages, RaiseBeforeTheFirstScale) {
  Subject subject;
  GradScaler scaler;
  subject.give({1});
  const std::string fix = " but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.";
  expectRaises(Kind::assertion, "Attempted unscale_" + fix, [&] { scaler.unscale_(subject.optimizer); });
  expectRaises(Kind::assertion, "Attempted step" + fix, [&] { scaler.step(subject.optimizer); });
  expectRaises(Kind::assertion, "Attempted update" + fix, [&] { scaler.update(); });
}

TEST(GradScalerStages, RaiseInPyTorchsWords) {
  Subject subject;
  GradScaler scaler = started();
  subject.give({65536});
  scaler.unscale_(subject.optimizer);
  expectRaises(Kind::runtime, "unscale_() has already been called on this optimizer since the last update().", [&] { scaler.unscale_(subject.optimizer); });
  EXPECT_EQ(subject.gradient(), 1) << "divided once";
  scaler.step(subject.optimizer);
  expectRaises(Kind::runtime, "unscale_() is being called after step().", [&] { scaler.unscale_(subject.optimizer); });
  expectRaises(Kind::runtime, "step() has already been called since the last update().", [&] { scaler.step(subject.optimizer); });
  scaler.update();
  EXPECT_NO_THROW(scaler.unscale_(subject.optimizer)) << "update() clears the stages";
}

TEST(GradScalerStages, AreEachOptimizersOwn) {
  Subject a, b;
  GradScaler scaler = started();
  a.give({1});
  b.give({1});
  scaler.unscale_(a.optimizer);
  EXPECT_NO_THROW(scaler.unscale_(b.optimizer));
  scaler.step(a.optimizer);
  EXPECT_NO_THROW(scaler.step(b.optimizer));
}

TEST(GradScalerStages, NeedAGradientThatWasLookedAt) {
  Subject without;
  GradScaler scaler = started();
  expectRaises(Kind::assertion, "No inf checks were recorded for this optimizer.", [&] { scaler.step(without.optimizer); });
  expectRaises(Kind::assertion, "No inf checks were recorded prior to update.", [&] { started().update(); });
}

TEST(GradScalerUnscale, RefusesHalfAndTakesBfloat16InFloat32) {
  Subject half(2, at::kHalf), brain(1, at::kBFloat16);
  half.give({8, 8});
  GradScaler scaler = started({.initScale = 3});
  expectRaises(Kind::value, "Attempting to unscale FP16 gradients.", [&] { scaler.unscale_(half.optimizer); });
  EXPECT_EQ(half.gradient(), 8) << "nothing was written";
  brain.give({7});
  scaler.unscale_(brain.optimizer);
  // 1/3 in float is 0.3333333433; times 7 is 2.33333..., between the bfloat16 neighbours 2.328125 and 2.34375. A third rounded to
  // bfloat16 (0.333984375) would give 2.337890625, which rounds to the other one.
  EXPECT_EQ(brain.gradient(), 2.328125);
}

// The scaled gradient is finite; what comes of it is not, and nobody sees it: pytorch#99640.
TEST(GradScalerUnscale, LooksAtTheScaledGradient) {
  Subject subject;
  GradScaler scaler = started({.initScale = 0.25});
  subject.give({2e38F});
  EXPECT_TRUE(scaler.step(subject.optimizer).applied);
  EXPECT_EQ(subject.gradient(), kInf);
  EXPECT_EQ(subject.value(), -kInf);
}

TEST(GradScalerUnscale, MultipliesByTheReciprocalRoundedToFloat) {
  Subject subject;
  GradScaler scaler = started({.initScale = 41});
  subject.give({41});
  scaler.unscale_(subject.optimizer);
  EXPECT_EQ(subject.gradient(), static_cast<double>(41.0F * static_cast<float>(1.0 / 41)));
  EXPECT_NE(subject.gradient(), 1) << "41 tells a product from a division";
}

TEST(GradScalerUnscale, LeavesGradientsAtScaleOneToTheBit) {
  at::Tensor signalling = at::zeros({1});
  const std::uint32_t bits = 0x7FA00001;  // a NaN that arithmetic would change
  std::memcpy(signalling.data_ptr(), &bits, sizeof bits);
  EXPECT_TRUE(checkFiniteAndUnscale(signalling, 1.0F));
  EXPECT_EQ(std::memcmp(signalling.data_ptr(), &bits, sizeof bits), 0);
}

TEST(GradScalerUnscale, TakesDoubleStridedAndSparseGradients) {
  at::Tensor wide = at::full({1}, 1e300, at::kDouble);
  EXPECT_FALSE(checkFiniteAndUnscale(wide, 0.5F)) << "finite in its own dtype";
  EXPECT_EQ(wide.item<double>(), 5e299);
  const at::Tensor whole = at::arange(6, at::kFloat).view({2, 3});
  EXPECT_FALSE(checkFiniteAndUnscale(whole.t(), 0.5F));
  EXPECT_EQ(whole[1][2].item<double>(), 2.5);
  const at::Tensor sparse = at::sparse_coo_tensor(at::tensor({1, 1}, at::kLong).view({1, 2}), at::tensor({3.0F, 5.0F}), {4});
  EXPECT_FALSE(checkFiniteAndUnscale(sparse, 0.5F));
  EXPECT_EQ(sparse.to_dense()[1].item<double>(), 4);
  for (const float bad : {kInf, -kInf, kNan}) EXPECT_TRUE(checkFiniteAndUnscale(at::tensor({1.0F, bad}), 0.5F));
  EXPECT_FALSE(checkFiniteAndUnscale(at::empty({0}), 0.5F));
}

TEST(GradScalerStep, SkipsAndSaysSo) {
  for (const float bad : {kInf, -kInf, kNan}) {
    Subject subject(2);
    GradScaler scaler = started();
    subject.give({65536, bad});
    EXPECT_FALSE(scaler.step(subject.optimizer).applied);
    EXPECT_EQ(subject.value(), 0);
    EXPECT_EQ(scaler.foundInf(subject.optimizer), true);
    subject.give({65536, 131072});
    scaler.update();
    EXPECT_FALSE(scaler.foundInf(subject.optimizer).has_value());
    EXPECT_TRUE(scaler.step(subject.optimizer).applied);
    EXPECT_EQ(subject.value(0), -2) << "unscaled by 32,768";
  }
}

TEST(GradScalerUpdate, OneOptimizersInfMovesTheScaleOfBoth) {
  Subject good, bad;
  GradScaler scaler = started();
  good.give({65536});
  bad.give({kNan});
  EXPECT_TRUE(scaler.step(good.optimizer).applied);
  EXPECT_FALSE(scaler.step(bad.optimizer).applied);
  scaler.update();
  EXPECT_EQ(good.value(), -1);
  EXPECT_EQ(scaler.getScale(), 32768);
}

// interval 3: grows after the 3rd good step in a row, a bad one starts the count again.
TEST(GradScalerUpdate, GrowsWhenTheCountEqualsTheInterval) {
  Subject subject;
  GradScaler scaler = started({.initScale = 8, .growthInterval = 3});
  std::vector<double> scales;
  for (const float gradient : {1.0F, 1.0F, kInf, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F}) {
    iterate(scaler, subject, gradient);
    scales.push_back(scaler.getScale());
  }
  EXPECT_THAT(scales, testing::ElementsAre(8, 8, 4, 4, 4, 8, 8, 8, 16));
}

// It equals, it does not pass: a count that stands above a shortened interval never meets it.
TEST(GradScalerUpdate, NeverGrowsWhereTheCountHasPassedTheInterval) {
  Subject subject;
  GradScaler scaler = started({.initScale = 8, .growthInterval = 100});
  for (int i = 0; i < 5; ++i) iterate(scaler, subject, 1);
  scaler.setGrowthInterval(4);
  for (int i = 0; i < 20; ++i) iterate(scaler, subject, 1);
  EXPECT_EQ(scaler.getScale(), 8);
  EXPECT_EQ(scaler.growthTracker(), 25);
}

TEST(GradScalerUpdate, GrowsToInfinityBefore21AndNeverComesBack) {
  for (const Series series : {Series::v1_13, Series::v2_1}) {
    Subject subject;
    GradScaler scaler = started({.initScale = 0x1p126, .growthInterval = 1, .series = series});
    for (int i = 0; i < 3; ++i) iterate(scaler, subject, 1);  // 2^127 is float32's last power of two
    EXPECT_EQ(scaler.getScale(), series == Series::v1_13 ? kInf : 0x1p127);
    iterate(scaler, subject, kNan);
    EXPECT_EQ(scaler.getScale(), series == Series::v1_13 ? kInf : 0x1p126);
  }
}

TEST(GradScalerUpdate, HasNoLowerBound) {
  Subject subject;
  GradScaler scaler = started({.initScale = 1});
  for (int i = 0; i < 200; ++i) iterate(scaler, subject, kInf);
  EXPECT_EQ(scaler.getScale(), 0) << "below float32's smallest subnormal 2^-149";
}

TEST(GradScalerUpdate, KeepsTheScaleInFloat32) {
  Subject subject;
  GradScaler scaler = started({.initScale = 0.1, .backoffFactor = 0.1});
  EXPECT_EQ(scaler.getScale(), static_cast<double>(0.1F));
  iterate(scaler, subject, kInf);
  EXPECT_EQ(scaler.getScale(), static_cast<double>(static_cast<float>(static_cast<double>(0.1F) * 0.1)));
}

TEST(GradScalerUpdate, TakesANewScaleAndClearsTheStages) {
  Subject subject;
  GradScaler scaler = started();
  subject.give({kInf});
  scaler.unscale_(subject.optimizer);
  scaler.update(128.0);
  EXPECT_EQ(scaler.getScale(), 128) << "no backoff";
  EXPECT_NO_THROW(scaler.unscale_(subject.optimizer));
  scaler.update(at::tensor({16.0F}));
  EXPECT_EQ(scaler.getScale(), 16);
  for (const at::Tensor& wrong : {at::ones({2}), at::ones({1}, at::kDouble), at::ones({1}).set_requires_grad(true)})
    expectRaises(Kind::assertion, "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False.", [&] { scaler.update(wrong); });
}

TEST(GradScalerState, HasTorchAmpsKeysAndComesBack) {
  Subject subject;
  GradScaler scaler = started({.initScale = 8, .growthFactor = 3, .backoffFactor = 0.25, .growthInterval = 5});
  iterate(scaler, subject, 1);
  iterate(scaler, subject, 1);
  const std::map<std::string, double> state = scaler.stateDict();
  EXPECT_THAT(state, testing::ElementsAre(testing::Pair("_growth_tracker", 2), testing::Pair("backoff_factor", 0.25), testing::Pair("growth_factor", 3),
                                          testing::Pair("growth_interval", 5), testing::Pair("scale", 8)));
  for (const bool hasScale : {false, true}) {
    GradScaler other = hasScale ? started() : GradScaler();
    other.loadStateDict(state);
    EXPECT_EQ(other.stateDict(), state);
    other.scale(at::ones({}));
    EXPECT_EQ(other.stateDict(), state) << "the first scale() keeps what was loaded";
    for (int i = 0; i < 3; ++i) iterate(other, subject, 1);
    EXPECT_EQ(other.getScale(), 24) << "the 5th good step";
  }
  auto incomplete = state;
  incomplete.erase("_growth_tracker");
  expectRaises(Kind::key, "'_growth_tracker'", [&] { GradScaler().loadStateDict(incomplete); });
  expectRaises(Kind::runtime, "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.", [] { GradScaler().loadStateDict({}); });
}

TEST(GradScalerDisabled, DoesNothingAndStepsPlainly) {
  Subject subject;
  GradScaler scaler({.enabled = false});
  const at::Tensor loss = at::ones({});
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  subject.give({kInf});
  scaler.unscale_(subject.optimizer);
  scaler.unscale_(subject.optimizer);
  EXPECT_TRUE(scaler.step(subject.optimizer).applied) << "also what is not finite";
  EXPECT_EQ(subject.value(), -kInf);
  scaler.update();
  EXPECT_EQ(scaler.getScale(), 1);
  EXPECT_TRUE(scaler.stateDict().empty());
  scaler.loadStateDict({});
  scaler.loadStateDict({{"scale", 4}});
  EXPECT_EQ(scaler.getScale(), 1);
}

TEST(GradScalerStep, WorksOnAnyOptimizerOfTorchOptim) {
  const at::Tensor parameter = at::zeros({1}).set_requires_grad(true);
  torch::optim::Adam adam({parameter}, torch::optim::AdamOptions(0.5));
  GradScaler scaler;
  scaler.scale(parameter.sum()).backward();
  EXPECT_TRUE(scaler.step(adam).applied);
  EXPECT_NEAR(parameter.item<double>(), -0.5, 1e-6) << "Adam's first step is its rate";
}

// Bits of PyTorch's own class over 60 iterations each, which unscales beforehand or in step() by chance.
TEST(GradScalerOracle, IsPyTorchsOwnToTheBit) {
  const nlohmann::json traces = tests::trainingCases("scaler");
  ASSERT_EQ(traces.size(), 4U);
  int skipped = 0, iterations = 0;
  for (const auto& trace : traces) {
    const auto& given = trace.at("options");
    Subject subjects[2] = {Subject(5), Subject(5)};
    GradScaler scaler = started({.initScale = given.at("init_scale"), .growthFactor = given.value("growth_factor", 2.0), .backoffFactor = given.value("backoff_factor", 0.5),
                                 .growthInterval = given.at("growth_interval"), .series = Series::v1_13});
    for (const auto& step : trace.at("steps")) {
      for (std::size_t i = 0; i < 2; ++i) {
        subjects[i].give(tests::floats(step.at("gradients")[i]));
        if (iterations++ % 2 == 0) scaler.unscale_(subjects[i].optimizer);
        skipped += !scaler.step(subjects[i].optimizer).applied;
        EXPECT_TRUE(tests::sameBits(subjects[i].parameter.grad(), step.at("unscaled")[i]));
        EXPECT_TRUE(tests::sameBits(subjects[i].parameter, step.at("weights")[i]));
      }
      scaler.update();
      EXPECT_EQ(static_cast<float>(scaler.getScale()), tests::floatOf(step.at("scale")));
      EXPECT_EQ(scaler.growthTracker(), step.at("tracker").get<std::int64_t>());
    }
  }
  EXPECT_GT(skipped, 40) << "the traces hold what they are for";
}

}  // namespace
}  // namespace ulpscope::train
