#include "core/session/recipe_changes.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

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

// Another value that the key takes.
json otherThan(const json& schema) {
  const json& value = schema.at("default");
  if (schema.contains("enum")) return schema["enum"].back() == value ? schema["enum"].front() : schema["enum"].back();
  if (value.is_boolean() && schema.contains("type")) return !value.get<bool>();
  if (value.is_array()) return json::array({"x"});
  if (value.is_string()) return "cpu";
  if (schema.value("type", "integer") == "integer") return value.is_number() ? value.get<int>() + 1 : 1;
  return value == 0 ? 0.5 : value.get<double>() * 0.75;
}

// A recipe with `section` (of the optimizer, where that is "optimizers"), which has `key` at `value`; null: left out.
Recipe recipeWith(const std::string& section, const std::string& key, const json& value) {
  json document = basic();
  document.erase("autocast");
  document.erase("scaler");
  const bool ofAdam = key.rfind("beta", 0) == 0 || key == "eps" || key == "amsgrad";
  json inside = section == "clip" ? json{{"norm", 1}} : json::object();
  if (section == "optimizers") inside = {{"type", ofAdam ? "Adam" : "SGD"}, {"lr", 0.1}};
  if (key == "nesterov") inside["momentum"] = 0.9;
  if (!value.is_null()) (section.empty() ? document : inside)[key] = value;
  if (section == "optimizers") document[section] = json::array({inside});
  else if (!section.empty()) document[section] = inside;
  const auto recipe = recipeFromJson(document);
  EXPECT_TRUE(recipe.ok()) << section << "." << key << ": " << recipe.error().message();
  return recipe.value();
}

TEST(RecipeChanges, FindTheReadersDefaultsInTheSchema) {
  std::ifstream file(ULPSCOPE_TEST_DATA "/../../../resources/schema/recipe.schema.json");
  const json schema = json::parse(file);
  const auto check = [](const std::string& section, const json& properties) {
    int count = 0;
    for (const auto& [key, of] : properties.items()) {
      if (!of.contains("default") || of["default"].is_null()) continue;
      ++count;
      const Recipe left = recipeWith(section, key, nullptr), written = recipeWith(section, key, of["default"]);
      const auto same = changesBetween(left, written);
      EXPECT_THAT(texts(same.experimental), IsEmpty()) << section << "." << key;
      EXPECT_THAT(texts(same.forbidden), IsEmpty()) << section << "." << key;
      EXPECT_EQ(left.checkpointEvery, written.checkpointEvery);
      EXPECT_EQ(left.rollback.outputsNonfinite, written.rollback.outputsNonfinite);
      if (key == "schema" || key == "checkpoint_every" || section == "rollback") continue;  // no change of what is trained
      const auto other = changesBetween(left, recipeWith(section, key, otherThan(of)));
      EXPECT_EQ(other.experimental.size() + other.forbidden.size(), 1U) << section << "." << key << " is compared";
    }
    return count;
  };
  EXPECT_EQ(check("", schema["properties"]), 7);
  EXPECT_EQ(check("optimizers", schema["properties"]["optimizers"]["items"]["properties"]), 9);
  for (const auto& [section, count] : std::map<std::string, int>{{"scheduler", 4}, {"autocast", 6}, {"scaler", 5}, {"accumulation", 2}, {"clip", 1}, {"criteria", 1}, {"rollback", 1}}) {
    json properties;
    for (const json& one : schema["properties"][section]["anyOf"])
      if (one.contains("properties")) properties = one["properties"];
    EXPECT_EQ(check(section, properties), count) << section;
  }
}

}  // namespace
