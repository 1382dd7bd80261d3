#include "core/session/recipe_changes.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace ulpscope::session;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

json basic() {
  return json::parse(R"({"model": "m.ts", "inputs": "in.h5", "loss": "output", "optimizers": [{"type": "SGD", "lr": 0.1, "name": "a.b"}], "steps": 3, "autocast": {"dtype": "float16"}, "scaler": {}})");
}

RecipeChanges with(const json& changes) {
  json after = basic();
  after.merge_patch(changes);
  if (changes.contains("scaler") && changes["scaler"].is_null()) after["scaler"] = nullptr;
  return changesBetween(recipeFromJson(basic()).value(), recipeFromJson(after).value());
}

std::vector<std::string> texts(const std::vector<RecipeDifference>& differences) {
  std::vector<std::string> list;
  for (const auto& difference : differences) list.push_back(difference.text());
  return list;
}

TEST(RecipeChanges, ADefaultThatIsWrittenOutIsNone) {
  const auto changes = with({{"autocast", {{"cast_cache", true}, {"policy", "cuda"}}}, {"scaler", {{"growth_interval", 2000}}}, {"batch_size", 32}, {"clip", nullptr}});
  EXPECT_THAT(texts(changes.experimental), IsEmpty());
  EXPECT_THAT(texts(changes.forbidden), IsEmpty());
}

TEST(RecipeChanges, PathsStepsAndSafeguardsAreNone) {
  const auto changes = with({{"model", "elsewhere/m.ts"}, {"steps", 900}, {"checkpoint_every", 5}, {"rollback", {{"max_loss", 3}}}});
  EXPECT_THAT(texts(changes.experimental), IsEmpty());
  EXPECT_THAT(texts(changes.forbidden), IsEmpty());
}

TEST(RecipeChanges, OfPrecisionAreExperiments) {
  EXPECT_THAT(texts(with({{"autocast", {{"dtype", "bfloat16"}, {"fp32", {"head"}}}}}).experimental), ElementsAre("autocast.dtype: \"float16\" -> \"bfloat16\"", "autocast.fp32: [] -> [\"head\"]"));
  EXPECT_THAT(texts(with({{"scaler", nullptr}}).experimental), ElementsAre(testing::StartsWith("scaler: {")));
  EXPECT_THAT(texts(with({{"scaler", {{"series", "1.13"}}}}).experimental), ElementsAre("scaler.series: \"2.1\" -> \"1.13\""));
  EXPECT_THAT(texts(with({{"optimizers", json::parse(R"([{"type": "SGD", "lr": 0.2, "name": "a.b"}])")}}).experimental), ElementsAre("optimizers.a.b.lr: 0.1 -> 0.2"));
}

TEST(RecipeChanges, OfWhatIsTrainedMakeItAnotherTraining) {
  EXPECT_THAT(texts(with({{"batch_size", 8}}).forbidden), ElementsAre("batch_size: 32 -> 8"));
  EXPECT_THAT(texts(with({{"seed", 1}}).forbidden), ElementsAre("seed: 0 -> 1"));
  EXPECT_THAT(texts(with({{"criteria", {{"no_alarm", true}}}}).forbidden), ElementsAre("criteria.no_alarm: false -> true"));
  EXPECT_THAT(texts(with({{"optimizers", json::parse(R"([{"type": "Adam", "lr": 0.1, "name": "a.b"}])")}}).forbidden), ElementsAre("optimizers.a.b.type: \"SGD\" -> \"Adam\""));
  const auto renamed = with({{"optimizers", json::parse(R"([{"type": "SGD", "lr": 0.1, "name": "c"}])")}});
  EXPECT_EQ(renamed.forbidden.size(), 2U) << "one is gone, one is new";
  EXPECT_THAT(texts(renamed.experimental), IsEmpty());
}

}  // namespace
