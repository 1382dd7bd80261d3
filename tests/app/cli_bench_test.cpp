// `ulpscope bench` with the real engine: what it refuses and why, and what it tells. No test hangs on which side is faster.
#include "program.h"
#include "tests/core/report/schema_validator.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

std::string fixture(const std::string& name, const std::string& file) { return ULPSCOPE_TEST_BUILD "/testdata/models/" + name + "/" + file; }

// A folder with copies of a model and its inputs, and criteria that its outputs meet or miss.
struct Release {
  explicit Release(const std::string& model = "odd/Stack") {
    fs::copy(fixture(model, "model.ts"), folder.path("model.ts"));
    fs::copy(fixture(model, "inputs.pt"), folder.path("inputs.pt"));
    folder.write("wide.json", R"({"schema": 1, "outputs": [{"output": "output", "atol": 1, "rtol": 1}]})");
    folder.write("strict.json", R"({"schema": 1, "outputs": [{"output": "output", "atol": 1e-30, "rtol": 0}]})");
    folder.write("absent.json", R"({"schema": 1, "outputs": [{"output": "boxes", "atol": 1}]})");
  }
  Finished run(const std::string& criteria, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"run", "model.ts", "--inputs", "inputs.pt", "--session", "s.ulps", "--no-noise-floor", "--append"};
    if (!criteria.empty()) more.insert(more.end(), {"--criteria", criteria});
    words.insert(words.end(), more.begin(), more.end());
    return ulpscope(folder, words);
  }
  Finished native(const std::string& criteria, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--mode", "native", "--autocast", "bf16"});
    return run(criteria, std::move(more));
  }
  Finished bench(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"bench", "s.ulps", "--json", "bench.json"};
    words.insert(words.end(), more.begin(), more.end());
    return ulpscope(folder, words);
  }
  json document() const {
    const json document = json::parse(folder.read("bench.json"));
    std::ifstream stream(ULPSCOPE_BENCH_SCHEMA);
    EXPECT_THAT(schemaFaults(json::parse(stream), document), IsEmpty());
    return document;
  }
  Folder folder;
};

TEST(CliBench, TellsTimesWithEverythingTheyHangOnAndKeepsThem) {
  const Release release;
  ASSERT_EQ(release.native("wide.json", {"--batch-size", "4"}).code, 0);
  const Finished timed = release.bench({"--threads", "1", "--pairs", "21"});
  ASSERT_EQ(timed.code, 0) << timed.err;
  EXPECT_THAT(timed.out, AllOf(HasSubstr("1 thread, batches of 4)"), HasSubstr("x float32 [4, 8]"), HasSubstr("21 pairs after 5 to warm up"), HasSubstr("native BF16 autocast, cpu@1.13"),
                               HasSubstr("run_0001: pass by criteria revision 1"), HasSubstr("bit for bit the judged ones")));
  const json document = release.document();
  EXPECT_EQ(document["status"], "measured");
  EXPECT_EQ(document["number"], 1);
  EXPECT_EQ(document["run_id"], "run_0001");
  EXPECT_EQ(document["verdict"]["status"], "pass");
  EXPECT_EQ(document["speed"]["pairs"], 21);
  ASSERT_EQ(document["pairs"].size(), 21U);
  // The summary is that of the pairs beside it, worked out here once more.
  std::vector<double> ratios;
  for (const json& pair : document["pairs"]) ratios.push_back(pair["reference_seconds"].get<double>() / pair["candidate_seconds"].get<double>());
  std::sort(ratios.begin(), ratios.end());
  EXPECT_DOUBLE_EQ(document["speed"]["ratio"], ratios[10]);
  EXPECT_DOUBLE_EQ(document["speed"]["ratio_low"], ratios[5]);
  EXPECT_DOUBLE_EQ(document["speed"]["ratio_high"], ratios[15]);
  EXPECT_EQ(document["speed"]["shown"], ratios[5] > 1 ? "faster" : ratios[15] < 1 ? "slower" : "no difference shown");
  for (const char* side : {"reference", "candidate"}) {
    const json& memory = document["memory"][side];
    EXPECT_EQ(memory["forwards"], 3);
    if (memory["why_not"] == "") { EXPECT_GE(memory["peak_bytes"], memory["before_bytes"]); }
  }
  EXPECT_EQ(release.bench().code, 0);
  EXPECT_EQ(release.document()["number"], 2);
  EXPECT_THAT(ulpscope(release.folder, {"check", "s.ulps"}).out, HasSubstr("VERDICT PASS"));
}

TEST(CliBench, OfARunWithAnFp32RegionSaysWhatWasOnInInterceptionsPlace) {
  const Release release("resnet18_script");
  ASSERT_EQ(release.native("wide.json", {"--fp32", "layer4"}).code, 0);
  const Finished timed = release.bench();
  ASSERT_EQ(timed.code, 0) << timed.err;
  EXPECT_THAT(timed.out, AllOf(HasSubstr("interception off; module markers on in both sides"), HasSubstr("FP32: layer4")));
}

TEST(CliBench, IsRefusedForARunThatFailsItsCriteria) {
  const Release release;
  ASSERT_EQ(release.native("strict.json").code, 1);
  const Finished refused = release.bench();
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("ulpscope: s.ulps, run_0001: fails its criteria: output.tolerance (measured "), HasSubstr(", limit 1); time it once its verdict is a pass")));
  EXPECT_THAT(refused.out, IsEmpty());
  EXPECT_EQ(release.document()["status"], "refused");
  EXPECT_EQ(release.document()["verdict"]["status"], "fail");
  EXPECT_TRUE(release.document()["speed"].is_null());
}

TEST(CliBench, IsRefusedWithoutAVerdict) {
  const Release exploratory, open;
  ASSERT_EQ(exploratory.native("").code, 0);
  const Finished none = exploratory.bench();
  EXPECT_EQ(none.code, 5);
  EXPECT_THAT(none.err, HasSubstr("has no verdict: no criteria are locked"));
  ASSERT_EQ(open.native("absent.json").code, 5);
  const Finished unjudged = open.bench();
  EXPECT_EQ(unjudged.code, 5);
  EXPECT_THAT(unjudged.err, HasSubstr("was not judged: boxes"));
  EXPECT_EQ(open.document()["status"], "refused");
}

// Nothing can be claimed about its speed, whatever its verdict.
TEST(CliBench, IsRefusedForWhatIsEmulatedAndNamesTheRunThatIsNot) {
  const Release release;
  ASSERT_EQ(release.run("wide.json").code, 0);
  const Finished refused = release.bench();
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("s.ulps, run_0001: is emulated, so nothing can be claimed about speed; validate and time"));
  ASSERT_EQ(release.native("").code, 0);
  ASSERT_EQ(release.run("").code, 0);
  EXPECT_THAT(release.bench().err, HasSubstr("s.ulps, run_0003: is emulated, so nothing can be claimed about speed; time another run of it: --run run_0002"));
  EXPECT_EQ(release.bench({"--run", "2"}).code, 0);
  EXPECT_EQ(release.document()["run_id"], "run_0002");
}

TEST(CliBench, IsRefusedForAnOpSiteKeptInFp32) {
  const Release release("resnet18_script");
  ASSERT_EQ(release.native("wide.json", {"--fp32", "fc:aten::linear"}).code, 0);
  const Finished refused = release.bench();
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("keeps the op site fc:aten::linear in FP32, which only interception can do"));
}

TEST(CliBench, IsRefusedForOtherFilesThanThoseThatPassed) {
  const Release release;
  ASSERT_EQ(release.native("wide.json").code, 0);
  fs::copy(fixture("odd/Fork", "model.ts"), release.folder.path("model.ts"), fs::copy_options::overwrite_existing);
  const Finished other = release.bench();
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.err, HasSubstr("model.ts: the files are not those that passed: the model's code: "));
  EXPECT_EQ(release.document()["error"]["code"], "input");
  fs::remove(release.folder.path("model.ts"));
  EXPECT_EQ(release.bench().code, 3);
}

// Dropout in train mode: no forward gives the judged outputs again.
TEST(CliBench, WithholdsTheSpeedOfWhatIsNotWhatWasJudged) {
  const Release release("odd/TrainMode");
  release.folder.write("any.json", R"({"schema": 1, "outputs": [{"output": "output", "atol": 1000}]})");
  ASSERT_EQ(release.native("any.json", {"--train"}).code, 0);
  const Finished withheld = release.bench();
  EXPECT_EQ(withheld.code, 5);
  EXPECT_THAT(withheld.err, HasSubstr("what was timed is not what was judged: the model draws random numbers"));
  EXPECT_THAT(withheld.out, IsEmpty());
  EXPECT_EQ(release.document()["status"], "withheld");
  EXPECT_THAT(release.document()["pairs"], IsEmpty());
  EXPECT_EQ(release.document()["verdict"]["status"], "not evaluated");
}

// A recipe on three classes that trains in BF16, and whose criteria a training meets or misses.
json nativeRecipe(const json& criteria, const json& autocast = {{"dtype", "bfloat16"}, {"mode", "native"}}) {
  json recipe = {{"model", fixture("training_poisoned_buffers", "model.ts")}, {"inputs", fixture("training_poisoned_buffers", "inputs.pt")}, {"loss", {{"kind", "cross_entropy"}}}, {"steps", 4}, {"batch_size", 4},
                 {"optimizers", {{{"type", "SGD"}, {"lr", 0.125}}}}, {"autocast", autocast}};
  if (!criteria.is_null()) recipe["criteria"] = criteria;
  return recipe;
}

TEST(CliBench, TimesTheStepOfATrainingThatPassed) {
  const Release release;
  release.folder.write("recipe.json", nativeRecipe({{"min_applied_updates", 4}}).dump());
  ASSERT_EQ(ulpscope(release.folder, {"train", "recipe.json", "--session", "s.ulps"}).code, 0);
  const Finished timed = release.bench({"--threads", "1"});
  ASSERT_EQ(timed.code, 0) << timed.err;
  EXPECT_THAT(timed.out, AllOf(HasSubstr("training step: loss cross_entropy, SGD, no scaler, batches of 4"), HasSubstr("training 1: pass by criteria revision 1"), HasSubstr("trained again as it was timed"), HasSubstr("train mode")));
  const json document = release.document();
  EXPECT_EQ(document["training"], 1);
  EXPECT_TRUE(document["run_id"].is_null());
  EXPECT_EQ(document["verdict"]["status"], "pass");
  EXPECT_EQ(document["speed"]["pairs"], 20);
  EXPECT_EQ(document["conditions"]["train_mode"], true);
}

TEST(CliBench, IsRefusedForATrainingAsForARun) {
  const Release release;
  const auto refusal = [&](const json& recipe) {
    release.folder.write("recipe.json", recipe.dump());
    const std::string session = "t" + std::to_string(release.folder.names().size()) + ".ulps";
    static_cast<void>(ulpscope(release.folder, {"train", "recipe.json", "--session", session}));
    return ulpscope(release.folder, {"bench", session});
  };
  const Finished failed = refusal(nativeRecipe({{"min_applied_updates", 5}}));
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("training 1: fails its criteria: applied_updates (measured 4, limit 5)"));
  const Finished none = refusal(nativeRecipe(nullptr));
  EXPECT_EQ(none.code, 5);
  EXPECT_THAT(none.err, HasSubstr("no recipe of them had any"));
  const Finished emulated = refusal(nativeRecipe({{"min_applied_updates", 4}}, {{"dtype", "bfloat16"}}));
  EXPECT_EQ(emulated.code, 3);
  EXPECT_THAT(emulated.err, HasSubstr("training 1: is emulated, so nothing can be claimed about speed"));
}

TEST(CliBench, TellsWhatItCannotStore) {
  const Release release;
  ASSERT_EQ(release.native("wide.json").code, 0);
  fs::permissions(release.folder.path("s.ulps"), fs::perms::owner_read);
  const Finished timed = release.bench();
  EXPECT_EQ(timed.code, 0) << timed.err;
  EXPECT_THAT(timed.err, HasSubstr("the benchmark is not stored: "));
  EXPECT_TRUE(release.document()["number"].is_null());
  EXPECT_EQ(release.document()["speed"]["pairs"], 20);
}

TEST(CliBench, RefusesWrongWords) {
  const Release release;
  ASSERT_EQ(release.native("wide.json").code, 0);
  EXPECT_EQ(release.bench({"--pairs", "19"}).code, 2);
  EXPECT_EQ(release.bench({"--threads", "0"}).code, 2);
  EXPECT_EQ(release.bench({"--run", "run_0007"}).code, 2);
  EXPECT_EQ(release.bench({"--train"}).code, 2) << "it has no training";
  EXPECT_EQ(ulpscope(release.folder, {"bench", "nothing.ulps"}).code, 3);
  const Finished help = ulpscope(release.folder, {"bench", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("1 a criterion failed"), HasSubstr("5 no verdict, or none again after the timing"), Not(HasSubstr("is not a command"))));
}

}  // namespace
}  // namespace ulpscope::test
