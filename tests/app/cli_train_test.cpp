// Trainings through the real command line and engine; what is expected of them numpy worked out (tests/support/fixtures/training.py).
#include "program.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string fixture(const std::string& name, const std::string& file) { return ULPSCOPE_TEST_BUILD "/testdata/models/" + name + "/" + file; }

json recipe(const std::string& name, const json& more = json::object()) {
  json document = {{"model", fixture(name, "model.ts")}, {"inputs", fixture(name, "inputs.h5")}, {"loss", "output"}, {"steps", 16}, {"batch_size", 4},
                   {"optimizers", {{{"type", "SGD"}, {"lr", 0}}}}, {"autocast", {{"dtype", "float16"}}}, {"scaler", json::object()}};
  document.update(more);
  return document;
}

TEST(CliTrain, AccountsForEverySkippedStep) {
  const Folder folder;
  folder.write("recipe.json", recipe("training_loud_loss").dump());
  const Finished done = ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps", "--json", "t.json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("4 of 16 steps applied"), HasSubstr("0-11\n"), HasSubstr("aten::linear in layer"), HasSubstr("Session: t.ulps (training 1)")));
  const json document = json::parse(folder.read("t.json"));
  std::ifstream file(fixture("training_loud_loss", "expected.json"));
  const json expected = json::parse(file);
  EXPECT_EQ(document["skipped"]["optimizer"], expected["skipped"]);
  EXPECT_EQ(document["final_scale"], expected["scales"].back());
  EXPECT_EQ(document["ledger"].size(), 16U);
  EXPECT_EQ(document["ledger"][0]["scale_before"], 65536);
  EXPECT_EQ(document["first_nonfinite"]["stage"], "gradient");
  EXPECT_EQ(document["violations"], json::array());
  EXPECT_EQ(document["runs"].size(), 2U) << "the recipe and FP32";
  EXPECT_TRUE(folder.has("t.ulps.d/train-0001.json"));
}

TEST(CliTrain, AddsToASessionOnlyWhenAsked) {
  const Folder folder;
  folder.write("recipe.json", recipe("training_loud_loss", {{"steps", 1}}).dump());
  EXPECT_EQ(ulpscope(folder, {"train", "recipe.json"}).code, 0);
  EXPECT_TRUE(folder.has("recipe-training.ulps"));
  const Finished refused = ulpscope(folder, {"train", "recipe.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("recipe-training.ulps: exists already"));
  const Finished added = ulpscope(folder, {"train", "recipe.json", "--append", "--isolate"});
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_THAT(added.out, AllOf(HasSubstr("training 2"), HasSubstr("autocast off, scaling on"), HasSubstr("autocast on, scaling off")));
}

TEST(CliTrain, JudgesByTheRecipesCriteria) {
  const Folder folder;
  folder.write("strict.json", recipe("training_loud_loss", {{"criteria", {{"max_skip_rate", 0.1}}}}).dump());
  const Finished failed = ulpscope(folder, {"train", "strict.json"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, HasSubstr("measured 0.75, limit 0.1")) << "12 of 16";
  folder.write("wide.json", recipe("training_loud_loss", {{"criteria", {{"max_skip_rate", 0.75}, {"min_applied_updates", 4}}}}).dump());
  EXPECT_EQ(ulpscope(folder, {"train", "wide.json"}).code, 0);
}

TEST(CliTrain, NamesWhatIsWrongInOneLine) {
  const Folder folder;
  folder.write("typo.json", recipe("training_loud_loss", {{"batchsize", 4}}).dump());
  const Finished typo = ulpscope(folder, {"train", "typo.json", "--json", "-"});
  EXPECT_EQ(typo.code, 3);
  EXPECT_THAT(typo.err, HasSubstr("typo.json, recipe, batchsize: is no key that is known here; nearest: 'batch_size'"));
  EXPECT_EQ(json::parse(typo.out)["error"]["code"], "input");
  folder.write("glob.json", recipe("training_loud_loss", {{"optimizers", {{{"type", "SGD"}, {"lr", 0}, {"parameters", {"layr.*"}}}}}}).dump());
  const Finished glob = ulpscope(folder, {"train", "glob.json"});
  EXPECT_EQ(glob.code, 2);
  EXPECT_THAT(glob.err, HasSubstr("'layr.*' matches no parameter"));
  EXPECT_FALSE(folder.has("glob-training.ulps"));
  EXPECT_FALSE(folder.has("glob-training.ulps.d"));
  EXPECT_EQ(ulpscope(folder, {"train", "none.json"}).code, 3);
  EXPECT_EQ(ulpscope(folder, {"train"}).code, 2);
}

TEST(CliTrain, ChecksTheOrderOfALog) {
  const Folder folder;
  folder.write("loop.jsonl", R"({"ulpscope_events": 1, "optimizers": ["adam"]}
{"iteration": 0, "event": "zero_grad"}
{"iteration": 0, "event": "autocast_begin", "api": "torch.cuda.amp"}
{"iteration": 0, "event": "forward"}
{"iteration": 0, "event": "autocast_end"}
{"iteration": 0, "event": "scale"}
{"iteration": 0, "event": "backward"}
{"iteration": 0, "event": "clip"}
{"iteration": 0, "event": "step", "applied": false}
{"iteration": 0, "event": "update"}
{"iteration": 0, "event": "scheduler_step"}
)");
  const Finished done = ulpscope(folder, {"train", "--check-events", "loop.jsonl", "--json", "o.json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("10 events"), HasSubstr("step 0: clip of adam: clip_before_unscale: clips gradients"), HasSubstr("deprecated_api"), HasSubstr("schedule_on_skipped_update")));
  EXPECT_EQ(json::parse(folder.read("o.json"))["violations"].size(), 3U);
  EXPECT_EQ(ulpscope(folder, {"train", "--check-events", "loop.jsonl", "--isolate"}).code, 2);
}

TEST(CliTrain, AuditsOneTrainingAgainstAnother) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("audit"));
  const auto train = [&](const std::string& name, double scale) {
    folder.write(name + ".recipe", recipe("training_loud_loss", {{"scaler", {{"init_scale", scale}}}}).dump());
    EXPECT_EQ(ulpscope(folder, {"train", name + ".recipe", "--session", "audit/" + name + ".ulps", "--json", name + ".json"}).code, 0);
  };
  train("uninterrupted", 32768);
  train("resumed", 65536);
  const Finished done = ulpscope(folder, {"train", "--audit", "audit"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("audit: resumed.ulps against uninterrupted.ulps"), HasSubstr("16 steps, 0 to 15"), HasSubstr("step 0: scale_before: 65536 instead of 32768"),
                              HasSubstr("recipe, scaler.init_scale: 65536.0 instead of 32768.0"), HasSubstr("both records begin at step 0")));
  std::filesystem::create_directory(folder.path("mixed"));
  folder.write("mixed/uninterrupted.json", folder.read("resumed.json"));
  std::filesystem::rename(folder.path("audit/resumed.ulps"), folder.path("mixed/resumed.ulps"));
  std::filesystem::rename(folder.path("audit/resumed.ulps.d"), folder.path("mixed/resumed.ulps.d"));
  const Finished same = ulpscope(folder, {"train", "--audit", "mixed"});
  EXPECT_THAT(same.out, HasSubstr("no recorded state differs in any bit")) << same.err;
}

}  // namespace
}  // namespace ulpscope::test
