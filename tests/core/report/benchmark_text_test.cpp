#include "core/report/benchmark_text.h"

#include "tests/core/report/schema_validator.h"
#include "tests/support/sample_benchmark.h"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>

using namespace ulpscope;
using nlohmann::json;
using report::benchmarkHeadline;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tests::sampleBenchmark;

namespace {

std::vector<std::string> faultsOf(const json& document) {
  std::ifstream file(ULPSCOPE_BENCH_SCHEMA);
  return test::schemaFaults(json::parse(file), document);
}

TEST(BenchmarkText, SaysFasterSlowerOrNothingByTheInterval) {
  EXPECT_EQ(benchmarkHeadline(sampleBenchmark(2)), "BF16 autocast is faster here: FP32 takes 2 times as long (95.9 % interval 2 to 2, median of 20 pairs, 2 threads, batches of 8)");
  EXPECT_THAT(benchmarkHeadline(sampleBenchmark(0.5)), HasSubstr("BF16 autocast is slower here: FP32 takes 0.5 of its time (95.9 % interval 0.5 to 0.5"));
  EXPECT_THAT(benchmarkHeadline(sampleBenchmark(1)), HasSubstr("No difference shown: FP32's time over BF16 autocast's is 1, and the interval holds 1"));
  EXPECT_THAT(benchmarkHeadline(sampleBenchmark(1.00001)), AllOf(HasSubstr("is faster"), HasSubstr("interval 1.00001 to 1.00001"))) << "a bound that is not 1 is not shown as 1";
  session::Benchmark few = sampleBenchmark();
  few.pairs.resize(19);
  EXPECT_THAT(benchmarkHeadline(few), HasSubstr("no speed can be told: benchmark: 19 pairs are fewer than 20"));
}

TEST(BenchmarkText, LetsNoNumberStandWithoutWhatItHangsOn) {
  const std::string text = report::benchmarkText(sampleBenchmark());
  EXPECT_THAT(text, AllOf(HasSubstr("12 ms a forward, 24 ms of processor time (medians); peak memory 180 MiB resident over 3 forwards, 80 MiB more than before them"),
                          HasSubstr("6 ms a forward, 12 ms of processor time (medians); peak memory 150 MiB"), HasSubstr("forward, batches of 8: x float32 [8, 3, 32, 32], steps"),
                          HasSubstr("20 pairs after 5 to warm up, in alternating order, 2 threads; interception off"), HasSubstr("native BF16 autocast, cpu@1.13, FP32: head"),
                          HasSubstr("A processor, 4 processors usable, BF16 instructions avx512_bf16; load 0.125 before, 1.5 after"),
                          HasSubstr("Ulpscope 9.9, LibTorch 1.13.0"), HasSubstr("run_0001: pass by criteria revision 1 (SHA-256 0123456789ab)"), HasSubstr("2026-02-03T04:05:06Z")));
}

TEST(BenchmarkText, SaysWhyMemoryWasNotMeasured) {
  session::Benchmark b = sampleBenchmark();
  b.candidate = {0, 0, 3, "this system does not tell"};
  EXPECT_THAT(report::benchmarkText(b), HasSubstr("peak memory not measured: this system does not tell"));
}

TEST(BenchmarkDocument, IsThatOfItsSchema) {
  session::Benchmark b = sampleBenchmark();
  b.number = 3;
  b.conditions.loadBefore = std::numeric_limits<double>::quiet_NaN();
  const json document = report::benchmarkDocument(b, "s.ulps");
  EXPECT_THAT(faultsOf(document), IsEmpty());
  EXPECT_EQ(document["status"], "measured");
  EXPECT_EQ(document["number"], 3);
  EXPECT_EQ(document["speed"]["shown"], "faster");
  EXPECT_EQ(document["speed"]["threads"], document["conditions"]["threads"]);
  EXPECT_EQ(document["speed"]["pairs"], document["pairs"].size());
  json without = document;
  without["conditions"].erase("processor");
  EXPECT_THAT(faultsOf(without), Not(IsEmpty()));
}

TEST(BenchmarkDocument, OfWhatWasNotMeasuredHasNoNumber) {
  session::Verdict verdict;
  verdict.status = session::JudgedAs::fail;
  for (const json& document : {report::noBenchmarkDocument("refused", "it fails", verdict, "s.ulps"), report::noBenchmarkDocument("withheld", "it fails", std::nullopt, "s.ulps"),
                               report::benchmarkErrorDocument({base::ErrorKind::input, "a", "b", "c"}), report::benchmarkErrorDocument({base::ErrorKind::cancelled, "a", "b", "c"})}) {
    EXPECT_THAT(faultsOf(document), IsEmpty());
    EXPECT_TRUE(document["speed"].is_null());
    EXPECT_TRUE(document["memory"].is_null());
    EXPECT_THAT(document["pairs"], IsEmpty());
  }
}

TEST(Benchmark, ReadsBackAsItWasWritten) {
  session::Benchmark b = sampleBenchmark();
  b.number = 7;
  b.training = 2;
  b.conditions.disable = {"a", "b"};
  b.conditions.trainMode = true;
  b.conditions.castCache = false;
  b.candidate.whyNot = "so";
  b.warnings = {"one"};
  b.recheck.criteria = {{"flips", 0, 1, 0, "s", session::JudgedAs::pass, "n"}};
  const session::Benchmark back = session::benchmarkFromJson(session::toJson(b));
  EXPECT_EQ(session::toJson(back), session::toJson(b));
  EXPECT_EQ(back.pairs[1].candidateFirst, true);
  EXPECT_EQ(back.conditions.inputs[0].shape, b.conditions.inputs[0].shape);
  EXPECT_THROW(session::benchmarkFromJson(json::object()), json::exception);
}

}  // namespace
