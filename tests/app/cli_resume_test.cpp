// Checkpoints, resume, rollback, replay and comparison through the real command line and engine.
#include "program.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

json recipe(const json& more = json::object()) {
  json document = {{"model", ULPSCOPE_TEST_BUILD "/testdata/models/training_loud_loss/model.ts"},
                   {"inputs", ULPSCOPE_TEST_BUILD "/testdata/models/training_loud_loss/inputs.h5"},
                   {"loss", "output"}, {"steps", 16}, {"batch_size", 4}, {"optimizers", {{{"type", "SGD"}, {"lr", 0.0}}}}, {"autocast", {{"dtype", "float16"}}}, {"scaler", json::object()}};
  document.update(more);
  return document;
}

json read(const Folder& folder, const std::string& name) { return json::parse(folder.read(name)); }
std::string checkpoint(const std::string& session, int step) { return session + ".d/train-0001.checkpoints/step-" + std::string(step < 10 ? "0000000" : "000000") + std::to_string(step) + ".h5"; }

class CliResume : public testing::Test {
 protected:
  // Twelve of sixteen steps are skipped: the scale is what a resume may not lose.
  void train(const json& more = json::object(), int code = 0) {
    folder.write("recipe.json", recipe(more).dump());
    const Finished done = ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps", "--checkpoint-every", "4", "--json", "whole.json"});
    ASSERT_EQ(done.code, code) << done.err;
  }
  Folder folder;
};

TEST_F(CliResume, GoesOnAsIfNothingHadHappened) {
  train();
  EXPECT_TRUE(folder.has("t.ulps.d/train-0001.checkpoints/fp32.json"));
  const Finished done = ulpscope(folder, {"train", "--resume", checkpoint("t.ulps", 8), "--session", "t.ulps", "--append", "--json", "resumed.json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("Resumed      after 8 steps from step-00000008.h5"), HasSubstr("training 2")));
  const json whole = read(folder, "whole.json"), resumed = read(folder, "resumed.json");
  EXPECT_EQ(resumed["ledger"], whole["ledger"]);
  EXPECT_EQ(resumed["final_scale"], whole["final_scale"]);
  EXPECT_EQ(resumed["skipped"], whole["skipped"]);
  EXPECT_EQ(resumed["resumes"][0]["step"], 8);
  EXPECT_EQ(whole["checkpoints"].size(), 5U) << "before the first step, and after 4, 8, 12, 16";
}

// Killed without warning, somewhere between two steps or within one.
TEST_F(CliResume, GoesOnAfterItWasKilled) {
  folder.write("long.json", recipe({{"steps", 100000}}).dump());
  const Finished killed = ulpscope(folder, Call{{"train", "long.json", "--session", "t.ulps", "--checkpoint-every", "1"}, {}, SIGKILL, "training recipe", ""});
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  const std::string checkpoints = "t.ulps.d/train-0001.checkpoints";
  // The engine ends by itself once nobody listens: within two seconds, with what it did where that is enough to store it.
  for (int i = 0; i < 60 && !folder.has("t.ulps"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::string last;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(checkpoints)))
    if (const std::string name = entry.path().filename().string(); name.starts_with("step-") && name.ends_with(".h5")) last = std::max(last, name);
  ASSERT_FALSE(last.empty());
  const int steps = std::stoi(last.substr(5, 8)) + 4;
  folder.write("recipe.json", recipe({{"steps", steps}}).dump());
  const Finished resumed = ulpscope(folder, {"train", "recipe.json", "--resume", checkpoints + "/" + last, "--session", "t.ulps", "--append", "--json", "resumed.json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(ulpscope(folder, {"train", "recipe.json", "--session", "whole.ulps", "--json", "whole.json"}).code, 0);
  EXPECT_EQ(read(folder, "resumed.json")["ledger"], read(folder, "whole.json")["ledger"]);
}

TEST_F(CliResume, RefusesAnUnnamedChangeAndShowsANamedOne) {
  train();
  folder.write("bf16.json", recipe({{"autocast", {{"dtype", "bfloat16"}}}, {"criteria", nullptr}}).dump());
  const Finished refused = ulpscope(folder, {"train", "bf16.json", "--resume", checkpoint("t.ulps", 8), "--session", "b.ulps"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("autocast.dtype: \"float16\" -> \"bfloat16\""), HasSubstr("--change NAME")));
  EXPECT_FALSE(folder.has("b.ulps"));
  const Finished named = ulpscope(folder, {"train", "bf16.json", "--resume", checkpoint("t.ulps", 8), "--change", "bf16 from here", "--session", "b.ulps", "--json", "b.json"});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("with the experimental change 'bf16 from here'"));
  EXPECT_EQ(read(folder, "b.json")["resumes"][0]["differences"][0]["key"], "autocast.dtype");
}

TEST_F(CliResume, SaysInOneLineWhatIsNoCheckpoint) {
  train({{"steps", 1}});
  folder.write("text.h5", "no checkpoint");
  const auto says = [&](const std::vector<std::string>& words, int code) {
    const Finished done = ulpscope(folder, words);
    EXPECT_EQ(done.code, code) << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    return done.err;
  };
  EXPECT_THAT(says({"train", "recipe.json", "--resume", "text.h5", "--session", "x.ulps"}, 3), HasSubstr("text.h5"));
  EXPECT_THAT(says({"train", "recipe.json", "--resume", "none.h5", "--session", "x.ulps"}, 3), HasSubstr("none.h5"));
  EXPECT_THAT(says({"train", "recipe.json", "--resume", "t.ulps", "--session", "x.ulps"}, 3), HasSubstr("t.ulps"));
  std::filesystem::remove(folder.path("recipe.json"));
  EXPECT_THAT(says({"train", "--resume", "text.h5", "--session", "x.ulps"}, 3), HasSubstr("recipe.json")) << "which would lie beside it";
  folder.write("recipe.json", recipe().dump());
  EXPECT_THAT(says({"train", "recipe.json", "--change", "x"}, 2), HasSubstr("--change"));
  EXPECT_THAT(says({"train", "recipe.json", "--resume", "a", "--replay", "b"}, 2), HasSubstr("exclude each other"));
  EXPECT_FALSE(folder.has("x.ulps"));
}

TEST_F(CliResume, GoesBackReplaysAndWantsAComparisonBeforeItGoesOn) {
  train({{"rollback", {{"no_update_in", 6}}}}, 1);
  const json back = read(folder, "whole.json")["rollback"];
  EXPECT_EQ(back["step"], 5);
  EXPECT_EQ(back["to_step"], 4);
  const std::string caseFile = "t.ulps.d/train-0001.checkpoints/" + back["case"].get<std::string>();
  const Finished replayed = ulpscope(folder, {"train", "--replay", caseFile, "--session", "r.ulps", "--json", "r.json"});
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("the same numbers to the last bit"));
  EXPECT_EQ(read(folder, "r.json")["reproduced"], true);
  json edited = read(folder, caseFile);
  edited["batches"][0]["rows"][0] = edited["batches"][0]["rows"][0].get<int>() + 1;
  folder.write("t.ulps.d/train-0001.checkpoints/case-edited.json", edited.dump());
  const Finished other = ulpscope(folder, {"train", "--replay", "t.ulps.d/train-0001.checkpoints/case-edited.json", "--session", "e.ulps"});
  EXPECT_EQ(other.code, 5);
  EXPECT_THAT(other.out, HasSubstr("NOT REPRODUCED the case names other rows or seeds"));
  EXPECT_TRUE(folder.has("r.ulps.d/run-0001.metrics.h5")) << "the step's batch, op by op";
  const Finished refused = ulpscope(folder, {"train", "--resume", checkpoint("t.ulps", 4), "--session", "n.ulps"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("no update in 6 steps"), HasSubstr("train --compare")));
  const Finished compared = ulpscope(folder, {"train", "--compare", checkpoint("t.ulps", 4), "--session", "c.ulps"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("Compared"));
  folder.write("on.json", recipe().dump());
  EXPECT_EQ(ulpscope(folder, {"train", "on.json", "--resume", checkpoint("t.ulps", 4), "--session", "n.ulps"}).code, 0) << "without the rule it goes on";
}

TEST_F(CliResume, NeedsToKnowHowOftenACheckpointIsTaken) {
  folder.write("recipe.json", recipe({{"rollback", {{"no_update_in", 2}}}}).dump());
  const Finished refused = ulpscope(folder, {"train", "recipe.json", "--session", "t.ulps"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("checkpoint_every"));
  EXPECT_FALSE(folder.has("t.ulps"));
}

}  // namespace
}  // namespace ulpscope::test
