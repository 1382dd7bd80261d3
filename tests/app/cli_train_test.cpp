// Trainings through the real command line and engine; what is expected of them numpy worked out (tests/support/fixtures/training.py).
#include "program.h"
#include "tests/core/report/schema_validator.h"

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

// The document that was written, checked against its schema.
json documentIn(const Folder& folder, const std::string& name) {
  std::ifstream file(ULPSCOPE_TRAINING_SCHEMA);
  const json document = json::parse(folder.read(name), nullptr, /*allow_exceptions=*/false);
  EXPECT_THAT(schemaFaults(json::parse(file), document), testing::IsEmpty());
  return document;
}

TEST(CliTrain, AccountsForEverySkippedStep) {
  const Folder folder;
  folder.write("recipe.json", recipe("training_loud_loss").dump());
  const Finished done = ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps", "--json", "t.json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("4 of 16 steps applied"), HasSubstr("0-11\n"), HasSubstr("aten::linear in layer"), HasSubstr("Session: t.ulps (training 1)")));
  const json document = documentIn(folder, "t.json");
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
  EXPECT_THAT(failed.out, AllOf(HasSubstr("measured 0.75, limit 0.1"), HasSubstr("criteria revision 1 of the session"))) << "12 of 16";
  folder.write("wide.json", recipe("training_loud_loss", {{"criteria", {{"max_skip_rate", 0.75}, {"min_applied_updates", 4}}}}).dump());
  EXPECT_EQ(ulpscope(folder, {"train", "wide.json"}).code, 0);
}

TEST(CliTrain, LocksItsCriteriaInTheSession) {
  const Folder folder;
  folder.write("strict.json", recipe("training_loud_loss", {{"criteria", {{"max_skip_rate", 0.1}}}}).dump());
  folder.write("wide.json", recipe("training_loud_loss", {{"criteria", {{"max_skip_rate", 0.8}}}}).dump());
  folder.write("none.json", recipe("training_loud_loss").dump());
  const auto train = [&](const std::string& file, std::vector<std::string> more) {
    more.insert(more.begin(), {"train", file, "--session", "t.ulps", "--append"});
    return ulpscope(folder, more);
  };
  EXPECT_EQ(train("strict.json", {}).code, 1);
  const Finished refused = train("wide.json", {"--json", "refused.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("ulpscope: t.ulps: the recipe's criteria, SHA-256 "), HasSubstr("are not revision 1"), HasSubstr("a session of its own, or say why with --revise-criteria")));
  EXPECT_FALSE(folder.has("t.ulps.d/train-0002.json"));
  EXPECT_EQ(train("none.json", {}).code, 1) << "held against those of the session";
  EXPECT_EQ(ulpscope(folder, {"check", "t.ulps"}).code, 1);
  const Finished revised = train("wide.json", {"--revise-criteria", "0.1 was a guess", "--json", "revised.json"});
  EXPECT_EQ(revised.code, 0) << revised.err;
  EXPECT_THAT(revised.out, HasSubstr("criteria revision 2 of the session, SHA-256 "));
  EXPECT_THAT(revised.out, HasSubstr(", revised after results: 0.1 was a guess\n"));
  const json verdict = documentIn(folder, "revised.json")["verdict"];
  EXPECT_EQ(verdict["revised"], "revised after results: 0.1 was a guess");
  EXPECT_EQ(verdict["criteria_after_results"], true);
  const Finished checked = ulpscope(folder, {"check", "t.ulps", "--junit", "v.xml", "--json", "checked.json"});
  EXPECT_EQ(checked.code, 0);
  EXPECT_EQ(documentIn(folder, "checked.json")["verdict"], verdict);
  EXPECT_THAT(checked.out, AllOf(HasSubstr("t.ulps training 3 (FP16, scaler, 12 of 16 steps skipped)\nVERDICT pass\n"), HasSubstr("revised after results: 0.1 was a guess")));
  EXPECT_THAT(folder.read("v.xml"), HasSubstr("name=\"skip_rate\""));
  EXPECT_EQ(train("wide.json", {"--revise-criteria", "again"}).code, 2) << "nothing is revised";
}

TEST(CliTrain, ASessionOfTrainingsWithoutCriteriaIsInconclusive) {
  const Folder folder;
  folder.write("recipe.json", recipe("training_loud_loss", {{"steps", 1}}).dump());
  EXPECT_EQ(ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps"}).code, 0);
  const Finished checked = ulpscope(folder, {"check", "t.ulps"});
  EXPECT_EQ(checked.code, 5);
  EXPECT_THAT(checked.err, HasSubstr("t.ulps: has no criteria for its trainings: no recipe of them had any"));
  EXPECT_EQ(ulpscope(folder, {"check", "t.ulps", "--criteria", "recipe.json"}).code, 2);
}

// Neither a run that fails nor one that is cancelled takes away what it did not make.
TEST(CliTrain, ItsSessionSurvivesARunThatFails) {
  const Folder folder;
  folder.write("recipe.json", recipe("training_loud_loss", {{"steps", 1}}).dump());
  EXPECT_EQ(ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps"}).code, 0);
  const std::string before = folder.read("t.ulps");
  const std::vector<std::string> words{"run", fixture("training_loud_loss", "model.ts"), "--inputs", fixture("training_loud_loss", "inputs.h5"), "--session", "t.ulps", "--append"};
  auto wrong = words;
  wrong.insert(wrong.end(), {"--decision", "topk:99"});
  EXPECT_NE(ulpscope(folder, wrong).code, 0);
  EXPECT_EQ(folder.read("t.ulps"), before);
  EXPECT_TRUE(folder.has("t.ulps.d/train-0001.json"));
  auto other = words;
  other[1] = fixture("ffn_wo_overflow", "model.ts");
  EXPECT_NE(ulpscope(folder, other).code, 0);
  EXPECT_EQ(folder.read("t.ulps"), before);
  const Finished cancelled = ulpscope(folder, Call{words, {}, SIGINT, "running", ""});
  EXPECT_TRUE(folder.has("t.ulps")) << cancelled.err;
  EXPECT_EQ(ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps", "--append"}).code, 0);
}

TEST(CliTrain, RefusesAnotherModelsSessionBeforeTheFirstStep) {
  const Folder folder;
  folder.write("recipe.json", recipe("training_loud_loss", {{"steps", 1}}).dump());
  EXPECT_EQ(ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps"}).code, 0);
  json other = recipe("training_loud_loss", {{"steps", 2}});
  other["model"] = fixture("training_two_losses", "model.ts");
  other["inputs"] = fixture("training_two_losses", "inputs.h5");
  folder.write("other.json", other.dump());
  const Finished refused = ulpscope(folder, {"train", "other.json", "--session", "t.ulps", "--append"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("is a session of another model"), Not(HasSubstr("training recipe")))) << "a step was made";
}

TEST(CliTrain, StoresWhatWasDoneWhenItIsCancelledTwiceAtOnce) {
  const Folder folder;
  folder.write("recipe.json", recipe("training_loud_loss", {{"steps", 1000000}}).dump());
  Finished cancelled;
  // The signals may come before the first step is done, when there is nothing to store, and on a busy machine more than a
  // second apart, when the second is one of its own and gives up: then once more.
  for (int attempt = 0; attempt < 20; ++attempt) {
    cancelled = ulpscope(folder, Call{{"train", "recipe.json", "--session", "t.ulps", "--json", "t.json"}, {}, SIGINT, "training recipe", "", "cancelling: "});
    if (cancelled.err.find("earlier results are kept") == std::string::npos && cancelled.err.find("was ended before it had stored") == std::string::npos) break;
  }
  EXPECT_EQ(cancelled.code, 130) << cancelled.err;
  EXPECT_THAT(cancelled.err, HasSubstr("ulpscope: cancelled; what was done until then is stored as training 1 of t.ulps\n"));
  EXPECT_TRUE(folder.has("t.ulps.d/train-0001.json"));
  const json document = documentIn(folder, "t.json");
  EXPECT_EQ(document["cancelled"], true);
  EXPECT_EQ(ulpscope(folder, {"check", "t.ulps"}).code, 5);
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
  EXPECT_EQ(glob.code, 3);
  EXPECT_THAT(glob.err, HasSubstr("glob.json, recipe, optimizer optimizer: 'layr.*' matches no parameter"));
  folder.write("fp32.json", recipe("training_loud_loss", {{"autocast", {{"fp32", {"nope"}}}}}).dump());
  const Finished fp32 = ulpscope(folder, {"train", "fp32.json"});
  EXPECT_EQ(fp32.code, 3);
  EXPECT_THAT(fp32.err, AllOf(HasSubstr("fp32.json, recipe, autocast.fp32, nope: matches no module"), Not(HasSubstr("--fp32"))));
  folder.write("policy.json", recipe("training_loud_loss", {{"autocast", {{"policy", "tpu"}}}}).dump());
  const Finished policy = ulpscope(folder, {"train", "policy.json"});
  EXPECT_EQ(policy.code, 3);
  EXPECT_THAT(policy.err, HasSubstr("policy.json, recipe, autocast.policy, tpu: is no policy table"));
  EXPECT_FALSE(folder.has("glob-training.ulps"));
  EXPECT_FALSE(folder.has("glob-training.ulps.d"));
  EXPECT_EQ(ulpscope(folder, {"train", "none.json"}).code, 3);
  EXPECT_EQ(ulpscope(folder, {"train"}).code, 2);
}

TEST(CliTrain, RefusesJsonThatIsNoneOrTooDeep) {
  const Folder folder;
  const auto says = [&](const std::string& text) {
    folder.write("r.json", text);
    const Finished done = ulpscope(folder, {"train", "r.json"});
    EXPECT_EQ(done.code, 3) << done.err;
    return done.err;
  };
  EXPECT_EQ(says("{\n  \"model\": True}"), "ulpscope: r.json, line 2, column 12: is no JSON: 'True' does not belong there; `ulpscope train --help` shows a recipe\n");
  EXPECT_THAT(says(""), HasSubstr("r.json: is empty"));
  EXPECT_THAT(says("{\"events\": " + std::string(70000, '[') + std::string(70000, ']') + "}"), HasSubstr("r.json, line 1, column 111: is nested deeper than 100 levels"));
  folder.write("deep.jsonl", "{\"ulpscope_events\": 1, \"optimizers\": [\"a\"]}\n" + std::string(300000, '['));
  const Finished deep = ulpscope(folder, {"train", "--check-events", "deep.jsonl"});
  EXPECT_EQ(deep.code, 3);
  EXPECT_THAT(deep.err, HasSubstr("deep.jsonl, line 2, column 101: is nested deeper than 100 levels"));
}

TEST(CliTrain, CallsNoLogRightThatHasNoStep) {
  const Folder folder;
  folder.write("loop.jsonl", "{\"ulpscope_events\": 1, \"optimizers\": [\"a\"]}\n");
  const Finished done = ulpscope(folder, {"train", "--check-events", "loop.jsonl"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("0 events"), HasSubstr("Nothing to judge: no step"), Not(HasSubstr("right"))));
  folder.write("headless.jsonl", "{\"iteration\": 0, \"event\": \"step\"}\n");
  EXPECT_THAT(ulpscope(folder, {"train", "--check-events", "headless.jsonl"}).err, HasSubstr("headless.jsonl, line 1, ulpscope_events: is missing; begin the log with its head"));
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
