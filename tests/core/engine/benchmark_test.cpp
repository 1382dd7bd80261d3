// Forwards without interception: that they give the bits of the run that was judged, and what a benchmark makes of them. Nothing here hangs on
// how fast anything is.
#include "core/engine/benchmark.h"

#include "core/engine/benchmark_run.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/engine/machine.h"
#include "core/engine/native_executor.h"
#include "core/engine/peak_meter.h"
#include "core/engine/plain_forward.h"
#include "tests/core/engine/fixture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

namespace ulpscope::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A model with the regions that its candidate has.
struct Timed {
  std::string name;
  std::vector<std::string> fp32, disable;
  bool castCache = true;
};

void PrintTo(const Timed& timed, std::ostream* out) { *out << timed.name; }

class PlainForward : public testing::TestWithParam<Timed> {};

INSTANTIATE_TEST_SUITE_P(Models, PlainForward,
                         testing::Values(Timed{"resnet18_script", {}, {}}, Timed{"resnet18_trace", {"layer4", "fc"}, {}}, Timed{"resnet18_script", {"layer2.0"}, {"conv1"}},
                                         Timed{"mobilenet_v3_small_script", {"features.1*"}, {}, false}, Timed{"vit", {}, {"heads"}}, Timed{"encoder_script", {"layers.1"}, {}}, Timed{"lstm_script", {"head"}, {}},
                                         Timed{"loop", {"step"}, {}}, Timed{"modulelist_shared", {"stages.0.0.projection"}, {}}, Timed{"modulelist_shared_mask", {"."}, {}}, Timed{"odd/OwnCpuOff", {}, {}},
                                         Timed{"odd/OwnCudaOff", {}, {}}, Timed{"odd/OwnCpuOff", {"b"}, {}}, Timed{"odd/Fork", {"a"}, {}}, Timed{"odd/WritesInput", {}, {}}),
                         [](const auto& timed) { return "n" + std::to_string(timed.index); });

TEST_P(PlainForward, GivesTheBitsOfTheInterceptedRunOnBothSides) {
  const Timed& timed = GetParam();
  const auto model = loadModel(tests::modelPath(timed.name));
  ASSERT_TRUE(model.ok()) << model.error().message();
  const auto set = loadReferenceSet(tests::requestFor(timed.name), model.value());
  ASSERT_TRUE(set.ok()) << set.error().message();
  const Arguments arguments = argumentsFor(set.value(), Batch{0, static_cast<std::int64_t>(set->samples.ids.size())});
  const auto regions = RegionSet::make(timed.fp32, timed.disable, model->info, model->ops);
  ASSERT_TRUE(regions.ok()) << regions.error().message();
  const RegionSet none;
  const bool markers = needsMarkers(model.value(), regions.value());
  for (const bool autocast : {false, true}) {
    SCOPED_TRACE(autocast ? "BF16" : "FP32");
    const RegionSet& own = autocast ? regions.value() : none;
    torch::jit::Module seen = copyForRun(model->module, false), plain = copyForRun(model->module, false);
    NativeExecutor native({&own, timed.castCache});
    ReferenceExecutor fp32;
    ForwardSetup setup{&seen, &model->aliases, &own, autocast ? static_cast<OpExecutor*>(&native) : &fp32, arguments, 0, 1, nullptr};
    setup.device = "cpu";
    const SideResult intercepted = runForward(setup, [](OpEvent&) {});
    ASSERT_FALSE(intercepted.failed) << intercepted.error;
    Times times;
    const SideResult result = forwardPlainly({&model.value(), &own, autocast, timed.castCache, 1}, markers, plain, arguments, &times);
    ASSERT_FALSE(result.failed) << result.error;
    EXPECT_TRUE(bitIdentical(flattenOutputs(result.value), flattenOutputs(intercepted.value)));
    EXPECT_GT(times.seconds, 0);
    EXPECT_FALSE(compat::cpuAutocastEnabled()) << "the thread is left as it was";
  }
}

TEST(PlainForwards, LeaveTheThreadAsItWasWhenTheModelFails) {
  const auto model = loadModel(tests::modelPath("kinds/LinearNorm"));  // layer_norm takes no bfloat16 in LibTorch 1.13
  ASSERT_TRUE(model.ok());
  const auto set = loadReferenceSet(tests::requestFor("kinds/LinearNorm"), model.value());
  torch::jit::Module module = copyForRun(model->module, false);
  for (const bool markers : {false, true}) {
    const RegionSet none;
    const SideResult result = forwardPlainly({&model.value(), &none, true, true, 1}, markers, module, argumentsFor(set.value(), Batch{0, 1}));
    EXPECT_TRUE(result.failed);
    EXPECT_THAT(result.error, HasSubstr("expected scalar type"));
    EXPECT_FALSE(compat::cpuAutocastEnabled());
    EXPECT_EQ(currentPlace(), nullptr);
  }
}

TEST(PlainForwards, NeedMarkersOnlyForRegions) {
  const auto plain = loadModel(tests::modelPath("loop")), own = loadModel(tests::modelPath("odd/OwnCpuOff"));
  const auto regions = RegionSet::make({"step"}, {}, plain->info, plain->ops);
  EXPECT_FALSE(needsMarkers(plain.value(), RegionSet()));
  EXPECT_TRUE(needsMarkers(plain.value(), regions.value()));
  EXPECT_TRUE(needsMarkers(own.value(), RegionSet()));
}

// Sides that tell who was called: no clock is looked at.
TEST(AlternatingPairs, WarmUpAndThenBeginWithEachSideInTurn) {
  std::string calls;
  std::vector<std::int64_t> batches;
  PairPlan plan{20, 3, {}, {}};
  plan.tell = [](const std::string&, int, int) {};
  plan.side = [&](bool isCandidate, std::int64_t batch, Times& times) {
    calls += isCandidate ? 'c' : 'r';
    if (isCandidate) batches.push_back(batch);
    times = {isCandidate ? 2.0 : 3.0, isCandidate ? 4.0 : 9.0, calls.size() <= 10 ? 1000.0 : isCandidate ? 7.0 : 0.0};
    return base::success();
  };
  const auto pairs = alternatingPairs(plan, {});
  ASSERT_TRUE(pairs.ok());
  EXPECT_EQ(calls.substr(0, 10), "rccrrccrrc");
  EXPECT_EQ(calls.substr(10, 8), "rccrrccr");
  EXPECT_EQ(calls.size(), 50U);
  EXPECT_EQ(std::vector<std::int64_t>(batches.begin() + 5, batches.begin() + 9), (std::vector<std::int64_t>{0, 1, 2, 0}));
  EXPECT_EQ(pairs->referenceFaults, 0) << "those of the warm-up do not count";
  EXPECT_EQ(pairs->candidateFaults, 7);
  ASSERT_EQ(pairs->pairs.size(), 20U);
  for (const session::TimedPair& pair : pairs->pairs) {
    EXPECT_EQ(pair.referenceSeconds, 3);
    EXPECT_EQ(pair.candidateSeconds, 2);
    EXPECT_EQ(pair.referenceCpuSeconds, 9);
    EXPECT_EQ(pair.candidateCpuSeconds, 4);
  }
}

TEST(AlternatingPairs, EndWithTheFirstErrorOfASide) {
  int calls = 0;
  PairPlan plan{20, 1, {}, {}};
  plan.tell = [](const std::string&, int, int) {};
  plan.side = [&](bool, std::int64_t, Times&) { return ++calls == 13 ? base::Status(base::Error{base::ErrorKind::run, "broke", "", ""}) : base::success(); };
  EXPECT_EQ(alternatingPairs(plan, {}).error().what, "broke");
  EXPECT_EQ(calls, 13);
}

TEST(PageFaults, AreToldWhereTheyMayCostAFiftiethOfASide) {
  PairTimes times;
  for (int i = 0; i < 20; ++i) times.pairs.push_back({0, false, 0.01, 0.001, 0.01, 0.001});
  times.referenceFaults = 199;  // 10 ms hold two hundred of 1 us in a fiftieth
  times.candidateFaults = 19;
  EXPECT_EQ(faultsNote(times, "forward"), "");
  times.candidateFaults = 21;
  EXPECT_THAT(faultsNote(times, "forward"), HasSubstr("in the timed forwards, 199 page faults a forward in FP32 and 21 page faults under autocast"));
  times = {times.pairs, 201, 0};
  EXPECT_THAT(faultsNote(times, "step"), HasSubstr("201 page faults a step in FP32 and 0 page faults under autocast"));
}

TEST(PageFaults, AreCountedWhileTheClockRuns) {
  constexpr std::size_t kBytes = 64U << 20;  // glibc maps a block of this size anew each time
  Times times, none;
  {
    const Stopwatch watch(&times);
    std::vector<char> fresh(kBytes);
    EXPECT_EQ(fresh[kBytes / 2], 0);
  }
  { const Stopwatch watch(&none); }
  EXPECT_LT(none.faults, 16);
  if (times.faults == 0) GTEST_SKIP() << "this system counts no page faults";
  EXPECT_GE(times.faults, 32) << "at least one a huge page";
}

BenchmarkOrder orderFor(const std::string& name, int batchSize = 32) {
  BenchmarkOrder order;
  order.request = tests::requestFor(name);
  order.request.settings.mode = session::Mode::native;
  order.request.settings.autocast = base::DType::bfloat16;
  order.request.settings.policyTable = "cpu";
  order.request.settings.batchSize = batchSize;
  order.request.settings.noiseFloor = false;
  order.request.settings.observe = session::Observe::outputs;
  order.threads = 2;
  return order;
}

TEST(EngineBenchmark, TimesAlternatingPairsOnFullBatchesAndRunsAgain) {
  Engine engine;
  std::vector<std::string> stages;
  const auto timed = engine.time(orderFor("odd/Stack", 4), [&](const base::Progress& progress) {
    if (stages.empty() || stages.back() != progress.stage) stages.push_back(progress.stage);
  }, {});
  ASSERT_TRUE(timed.ok()) << timed.error().message();
  ASSERT_EQ(timed->pairs.size(), 20U);
  for (std::size_t i = 0; i < timed->pairs.size(); ++i) {
    EXPECT_EQ(timed->pairs[i].candidateFirst, i % 2 == 1);
    EXPECT_EQ(timed->pairs[i].batch, 0) << "six samples: one batch of four, and a smaller one that is not timed";
    EXPECT_GT(timed->pairs[i].referenceSeconds, 0);
    EXPECT_GT(timed->pairs[i].candidateSeconds, 0);
  }
  EXPECT_EQ(timed->conditions.batchSize, 4);
  EXPECT_THAT(timed->conditions.inputs.at(0).shape, ElementsAre(4, 8));
  EXPECT_EQ(timed->conditions.threads, 2);
  EXPECT_EQ(timed->conditions.interception, "off");
  EXPECT_EQ(timed->conditions.policyTable, "cpu@1.13");
  EXPECT_EQ(timed->differs, "");
  EXPECT_EQ(timed->recheck.run.samplesComplete, 6) << "all samples are judged again";
  EXPECT_EQ(timed->recheck.run.threadsPerRun, 2);
  EXPECT_THAT(stages, testing::IsSupersetOf({"loading", "warming up", "timing", "running"}));
}

TEST(EngineBenchmark, TakesEachFullBatchInTurn) {
  Engine engine;
  const auto timed = engine.time(orderFor("odd/Stack", 2), {}, {});
  ASSERT_TRUE(timed.ok()) << timed.error().message();
  for (std::size_t i = 0; i < timed->pairs.size(); ++i) EXPECT_EQ(timed->pairs[i].batch, static_cast<std::int64_t>(i % 3));
}

TEST(EngineBenchmark, SaysThatMarkersWereOnWhereThereAreRegions) {
  BenchmarkOrder order = orderFor("odd/Stack");
  order.threads = 1;  // two that wait for each other take half a minute on a busy machine
  order.request.settings.fp32 = {"a"};
  Engine engine;
  const auto timed = engine.time(order, {}, {});
  ASSERT_FALSE(timed.ok()) << "with its only linear layer in FP32 nothing is autocast";
  EXPECT_EQ(timed.error().kind, base::ErrorKind::inconclusive);
  order.request = orderFor("resnet18_script").request;
  order.request.settings.fp32 = {"layer4"};
  const auto some = engine.time(order, {}, {});
  ASSERT_TRUE(some.ok()) << some.error().message();
  EXPECT_THAT(some->conditions.interception, HasSubstr("off; module markers on in both sides"));
  EXPECT_EQ(some->differs, "");
}

// Dropout in train mode: the judged run's random numbers are seeded op by op, a plain forward's are the generator's.
TEST(EngineBenchmark, SaysWhyWhatWasTimedIsNotWhatWasJudged) {
  BenchmarkOrder order = orderFor("odd/TrainMode");
  order.request.settings.trainMode = true;
  Engine engine;
  const auto timed = engine.time(order, {}, {});
  ASSERT_TRUE(timed.ok()) << timed.error().message();
  EXPECT_THAT(timed->differs, HasSubstr("draws random numbers"));
}

TEST(EngineBenchmark, RefusesWhatItCannotTime) {
  Engine engine;
  const auto refusal = [&](const BenchmarkOrder& order) {
    const auto timed = engine.time(order, {}, {});
    EXPECT_FALSE(timed.ok());
    return timed.ok() ? base::Error{} : timed.error();
  };
  BenchmarkOrder order = orderFor("resnet18_script");
  order.request.settings.fp32 = {"fc:aten::linear"};
  EXPECT_EQ(refusal(order).kind, base::ErrorKind::input);
  EXPECT_THAT(refusal(order).message(), HasSubstr("only interception"));
  order = orderFor("resnet18_script");
  order.pairs = 19;
  EXPECT_THAT(refusal(order).message(), HasSubstr("--pairs 19: must be at least 20"));
  order = orderFor("resnet18_script");
  order.threads = 100000;
  EXPECT_THAT(refusal(order).message(), HasSubstr("must be at most"));
  order = orderFor("resnet18_script");
  order.open = [](const auto&, const auto&) { return base::Status(base::Error{base::ErrorKind::input, "is another model", "m", ""}); };
  EXPECT_EQ(refusal(order).what, "is another model");
  EXPECT_EQ(engine.peakMemory(order, TimedSide::candidate, {}, {}).error().what, "is another model");
  order = orderFor("kinds/LinearNorm");
  EXPECT_THAT(refusal(order).message(), HasSubstr("a forward in BF16 failed without interception: expected scalar type"));
}

TEST(EngineBenchmark, IsCancelledBetweenTwoForwards) {
  Engine engine;
  std::stop_source stop;
  const auto timed = engine.time(orderFor("odd/Stack"), [&](const base::Progress& progress) {
    if (progress.stage == "timing") stop.request_stop();
  }, stop.get_token());
  ASSERT_FALSE(timed.ok());
  EXPECT_EQ(timed.error().kind, base::ErrorKind::cancelled);
}

TEST(PeakMeter, SeesAPeakThatIsGoneWhenItReads) {
  constexpr std::int64_t kBytes = 96LL << 20;
  const PeakMeter meter;
  {
    std::vector<char> large(static_cast<std::size_t>(kBytes));
    std::memset(large.data(), 1, large.size());
    EXPECT_EQ(large[large.size() / 2], 1);
  }
  const session::PeakMemory memory = meter.read();
  if (!memory.whyNot.empty()) GTEST_SKIP() << memory.whyNot;
  EXPECT_GE(memory.addedBytes(), kBytes * 9 / 10);
  EXPECT_GT(memory.beforeBytes, 1 << 20);
  const session::PeakMemory later = PeakMeter().read();
  EXPECT_LT(later.addedBytes(), kBytes / 2) << "set back at the start";
}

TEST(EngineBenchmark, PeakMemoryIsOfTheForwardsAskedFor) {
  Engine engine;
  const auto memory = engine.peakMemory(orderFor("resnet18_script"), TimedSide::candidate, {}, {});
  ASSERT_TRUE(memory.ok()) << memory.error().message();
  EXPECT_EQ(memory->forwards, kPeakForwards);
  if (!memory->whyNot.empty()) GTEST_SKIP() << memory->whyNot;
  EXPECT_GE(memory->peakBytes, memory->beforeBytes);
}

TEST(MachineNotes, SpeakOfALoadAndOfTooManyThreads) {
  session::BenchmarkConditions c;
  c.threads = c.processors = 2;
  c.loadBefore = 0.5;
  EXPECT_THAT(machineNotes(c), IsEmpty());
  c.loadBefore = std::nan("");  // not told
  EXPECT_THAT(machineNotes(c), IsEmpty());
  c.loadBefore = 1.25;
  c.threads = 3;
  EXPECT_THAT(machineNotes(c), ElementsAre("the machine was not at rest: its load over the minute before the timing was 1.25", "3 threads of each side shared 2 processors: they waited for each other"));
}

TEST(Machine, IsNamed) {
  EXPECT_FALSE(processorName().empty());
  EXPECT_GE(usableProcessors(), 1);
  EXPECT_TRUE(std::isnan(loadAverage()) || loadAverage() >= 0);
  for (const std::string& word : bfloat16Instructions()) EXPECT_THAT(word, HasSubstr("bf16"));
}

}  // namespace
}  // namespace ulpscope::engine
