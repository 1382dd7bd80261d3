#include "core/analysis/speed.h"

#include "core/analysis/benchmark_admission.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <numeric>

using namespace ulpscope;
using analysis::MedianInterval;
using analysis::SpeedShown;
using session::TimedPair;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// n, n - 1, ..., 1: each value is its rank.
std::vector<double> ranks(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

struct Known {
  int n, rank;
  double coverage;
};

class MedianOfRanks : public testing::TestWithParam<Known> {};

// Python, exactly: 1 - 2 * sum(math.comb(n, i) for i in range(rank)) / 2**n; one rank more is below 0.95.
INSTANTIATE_TEST_SUITE_P(Sizes, MedianOfRanks,
                         testing::Values(Known{6, 1, 0.96875}, Known{7, 1, 0.984375}, Known{20, 6, 0.9586105346679688}, Known{21, 6, 0.9733963012695312}, Known{50, 18, 0.9671608624357315},
                                         Known{100, 40, 0.9647997997822952}, Known{1000, 469, 0.9537088026395019}, Known{5000, 2431, 0.9506841418958282}),
                         [](const auto& size) { return "n" + std::to_string(size.param.n); });

TEST_P(MedianOfRanks, LiesBetweenTheTwoValuesThatTheBinomialNames) {
  const auto [n, rank, coverage] = GetParam();
  const auto interval = analysis::medianInterval(ranks(n));
  ASSERT_TRUE(interval.ok()) << interval.error().message();
  EXPECT_EQ(interval->rank, rank);
  EXPECT_EQ(interval->low, rank);
  EXPECT_EQ(interval->high, n + 1 - rank);
  EXPECT_EQ(interval->median, (n + 1) / 2.0);
  EXPECT_NEAR(interval->coverage, coverage, 1e-10);
}

TEST(MedianInterval, IsRefusedWhereThereIsNone) {
  EXPECT_THAT(analysis::medianInterval(ranks(5)).error().message(), HasSubstr("5 values have no interval"));
  EXPECT_FALSE(analysis::medianInterval({}).ok());
  for (const double bad : {kNaN, kInf, -kInf}) {
    auto values = ranks(20);
    values[3] = bad;
    const auto interval = analysis::medianInterval(values);
    ASSERT_FALSE(interval.ok());
    EXPECT_EQ(interval.error().message(), "pair 4: its ratio is not a number; measure again");
  }
}

std::vector<TimedPair> pairsOf(const std::vector<double>& ratios) {
  std::vector<TimedPair> pairs;
  for (const double ratio : ratios) pairs.push_back({0, false, ratio * 0.01, 0.01, ratio * 0.02, 0.02});
  return pairs;
}

// From the smallest up; the interval is from the sixth to the fifteenth.
std::vector<double> twenty(double sixth, double fifteenth) {
  std::vector<double> ratios(5, sixth / 2);
  ratios.insert(ratios.end(), 5, sixth);
  ratios.insert(ratios.end(), 5, fifteenth);
  ratios.insert(ratios.end(), 5, fifteenth * 2);
  return ratios;
}

TEST(Speed, IsShownOnlyWhereTheWholeIntervalLiesOnOneSideOfOne) {
  const auto shown = [](double low, double high) { return analysis::speedOf(pairsOf(twenty(low, high))).value().shown; };
  EXPECT_EQ(shown(1.2, 1.4), SpeedShown::faster);
  EXPECT_EQ(shown(0.6, 0.9), SpeedShown::slower);
  EXPECT_EQ(shown(0.9, 1.1), SpeedShown::noDifference);
  EXPECT_EQ(shown(1, 1.4), SpeedShown::noDifference) << "an end that is 1";
  EXPECT_EQ(shown(0.6, 1), SpeedShown::noDifference);
  EXPECT_EQ(shown(1 + 1e-9, 1.4), SpeedShown::faster);
}

// Batches of three kinds: 1, 10 and 100 ms in FP32, 2, 30 and 50 ms under autocast. Ratios 1/2, 1/3 and 2, of which the median is 1/2; the medians
// of the times are 10 and 30 ms, and their ratio 1/3 would be another.
TEST(Speed, IsTheMedianOfThePairsRatiosAndNotARatioOfMedians) {
  constexpr double kFp32[] = {0.001, 0.01, 0.1}, kAutocast[] = {0.002, 0.03, 0.05};
  std::vector<TimedPair> pairs;
  for (int i = 0; i < 21; ++i) pairs.push_back({i % 3, i % 2 == 1, kFp32[i % 3], kAutocast[i % 3], 2 * kFp32[i % 3], 3 * kAutocast[i % 3]});
  const auto speed = analysis::speedOf(pairs);
  ASSERT_TRUE(speed.ok());
  EXPECT_DOUBLE_EQ(speed->ratio.median, 0.5);
  EXPECT_DOUBLE_EQ(speed->ratio.low, 1.0 / 3);
  EXPECT_DOUBLE_EQ(speed->ratio.high, 2);
  EXPECT_EQ(speed->shown, SpeedShown::noDifference);
  EXPECT_DOUBLE_EQ(speed->referenceSeconds, 0.01);
  EXPECT_DOUBLE_EQ(speed->candidateSeconds, 0.03);
  EXPECT_DOUBLE_EQ(speed->referenceCpuSeconds, 0.02);
  EXPECT_DOUBLE_EQ(speed->candidateCpuSeconds, 0.09);
}

TEST(Speed, IsRefusedForFewPairsAndForWhatIsNoTime) {
  EXPECT_THAT(analysis::speedOf(pairsOf(std::vector<double>(19, 2))).error().message(), HasSubstr("19 pairs are fewer than 20"));
  EXPECT_TRUE(analysis::speedOf(pairsOf(std::vector<double>(20, 2))).ok());
  for (const double bad : {0.0, -1.0, kNaN, kInf}) {
    auto pairs = pairsOf(std::vector<double>(20, 2));
    pairs[7].candidateSeconds = bad;
    const auto speed = analysis::speedOf(pairs);
    ASSERT_FALSE(speed.ok()) << bad;
    EXPECT_THAT(speed.error().message(), HasSubstr("pair 8: took "));
    EXPECT_EQ(speed.error().kind, base::ErrorKind::inconclusive);
  }
  auto pairs = pairsOf(std::vector<double>(20, 2));
  pairs[0].referenceCpuSeconds = -1;
  EXPECT_FALSE(analysis::speedOf(pairs).ok());
  pairs[0].referenceCpuSeconds = 0;  // a clock that ticks seldom
  EXPECT_TRUE(analysis::speedOf(pairs).ok());
}

session::RunSettings native(const std::vector<std::string>& fp32 = {}) {
  session::RunSettings settings;
  settings.mode = session::Mode::native;
  settings.autocast = base::DType::bfloat16;
  settings.fp32 = fp32;
  return settings;
}

TEST(BenchmarkAdmission, RefusesWhatNothingCanBeClaimedAboutWhateverItsVerdict) {
  session::RunSettings settings = native();
  EXPECT_FALSE(analysis::cannotBeTimed(settings, "s.ulps, run_0001").has_value());
  settings.mode = session::Mode::emulated;
  const auto emulated = analysis::cannotBeTimed(settings, "s.ulps, run_0001");
  ASSERT_TRUE(emulated.has_value());
  EXPECT_EQ(emulated->exitCode, 3);
  EXPECT_THAT(emulated->error.message(), HasSubstr("s.ulps, run_0001: is emulated, so nothing can be claimed about speed"));
  settings.mode = session::Mode::recorded;
  EXPECT_EQ(analysis::cannotBeTimed(settings, "")->exitCode, 3);
  EXPECT_THAT(analysis::cannotBeTimed(settings, "")->error.what, HasSubstr("there is no model here to time"));
}

TEST(BenchmarkAdmission, RefusesARegionThatOnlyInterceptionObeys) {
  EXPECT_FALSE(analysis::cannotBeTimed(native({"encoder.*", "."}), "").has_value());
  const auto site = analysis::cannotBeTimed(native({"encoder", "fc:aten::linear#2"}), "");
  ASSERT_TRUE(site.has_value());
  EXPECT_EQ(site->exitCode, 3);
  EXPECT_THAT(site->error.what, HasSubstr("fc:aten::linear#2"));
}

TEST(BenchmarkAdmission, StandsOnAVerdictOfPass) {
  session::Verdict verdict;
  verdict.criteria = {{"logits.rel_l2", 0.03, 0.01, 3, "a", session::JudgedAs::fail, ""}, {"flips", 0, 0, 0, "", session::JudgedAs::pass, ""}, {"boxes.atol", kNaN, 1, kNaN, "", session::JudgedAs::notEvaluated, "the run has no output 'boxes'"}};
  verdict.status = session::JudgedAs::pass;
  EXPECT_FALSE(analysis::notPassed(verdict, "r").has_value());
  verdict.status = session::JudgedAs::fail;
  const auto failed = analysis::notPassed(verdict, "r");
  EXPECT_EQ(failed->exitCode, 1);
  EXPECT_TRUE(failed->criteriaFailed);
  EXPECT_EQ(failed->error.message(), "r: fails its criteria: logits.rel_l2 (measured 0.03, limit 0.01); time it once its verdict is a pass");
  verdict.status = session::JudgedAs::notEvaluated;
  const auto open = analysis::notPassed(verdict, "r");
  EXPECT_EQ(open->exitCode, 5);
  EXPECT_THAT(open->error.what, AllOf(HasSubstr("boxes.atol (the run has no output 'boxes')"), testing::Not(HasSubstr("flips"))));
  verdict.criteria.clear();
  verdict.reason = "the run is partial";
  EXPECT_THAT(analysis::notPassed(verdict, "r")->error.what, HasSubstr("was not judged: the run is partial"));
  const auto none = analysis::notPassed(std::nullopt, "r");
  EXPECT_EQ(none->exitCode, 5);
  EXPECT_FALSE(none->criteriaFailed);
}

TEST(BenchmarkAdmission, OfATrainingIsAskedOfItsRecipe) {
  const auto refusal = [](const nlohmann::json& changes) {
    nlohmann::json recipe = {{"model", "m.ts"}, {"inputs", "i.h5"}, {"loss", "output"}, {"steps", 3}, {"optimizers", {{{"type", "SGD"}, {"lr", 0.1}}}}};
    recipe.update(changes);
    session::Training training;
    training.recipe = recipe.dump();
    const auto refused = analysis::cannotBeTimed(training, "t");
    EXPECT_TRUE(!refused || refused->exitCode == 3);
    return refused ? refused->error.what : std::string();
  };
  const nlohmann::json native = {{"dtype", "bfloat16"}, {"mode", "native"}};
  EXPECT_THAT(refusal(nlohmann::json::object()), HasSubstr("trains in FP32"));
  EXPECT_THAT(refusal({{"autocast", {{"dtype", "bfloat16"}}}}), HasSubstr("is emulated"));
  EXPECT_EQ(refusal({{"autocast", native}}), "");
  EXPECT_THAT(refusal({{"autocast", native}, {"loss", {{"kind", "script"}, {"path", "l.ts"}, {"target", "t"}}}}), HasSubstr("a script that the session does not hold"));
  session::Training recorded;
  recorded.recorded.emplace();
  EXPECT_THAT(analysis::cannotBeTimed(recorded, "t")->error.what, HasSubstr("was recorded in another PyTorch"));
  EXPECT_EQ(analysis::cannotBeTimed(session::Training{}, "t")->exitCode, 3) << "no recipe that can be read";
}

}  // namespace
