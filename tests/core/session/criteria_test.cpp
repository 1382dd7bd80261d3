#include "core/session/criteria.h"

#include "core/base/hashing.h"
#include "core/session/verdict.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ulpscope::session {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Criterion::Kind;

json whole() {
  return json::parse(R"({"schema": 1, "title": "release", "decision": {"rule": "topk:5", "output": "logits", "tie": "flag"},
    "allow_nonfinite": ["encoder:aten::masked_fill"],
    "outputs": [{"id": "logits", "output": "logits", "atol": 0.001, "rtol": 0.01, "rel_l2": 0.002, "sqnr_db": 40}, {"output": "mask", "atol": 0, "max_share_outside": 0.1}],
    "nonfinite": {"max_samples": 0}, "decisions": {"max_flips": 0, "max_flip_rate": 0.5, "no_flip_beyond_margin": 0.1, "max_regressions": 1, "no_decision_is_flip": false},
    "quality": [{"min": 0.9, "max_drop": 0.01}, {"measure": "mean_error", "max": 2, "max_increase": 0.5}], "sites": [{"id": "ffn", "sites": "*.ffn", "max_abs": 3}]})");
}

std::string faultOf(const json& document) {
  const auto criteria = criteriaFromJson(document);
  return criteria ? "" : criteria.error().message();
}

TEST(Criteria, ReadEveryKindOfLimit) {
  const auto read = criteriaFromJson(whole());
  ASSERT_TRUE(read.ok()) << read.error().message();
  std::vector<std::string> ids;
  for (const Criterion& c : read->list) ids.push_back(c.id);
  EXPECT_THAT(ids, ElementsAre("logits.tolerance", "logits.rel_l2", "logits.sqnr_db", "mask.share_outside", "nonfinite.samples", "decisions.flips", "decisions.flip_rate",
                               "decisions.flip_margin", "decisions.regressions", "accuracy.min", "accuracy.drop", "mean_error.max", "mean_error.increase", "ffn.max_abs"));
  EXPECT_EQ(read->list[0].atol, 0.001);
  EXPECT_EQ(read->list[0].rtol, 0.01);
  EXPECT_EQ(read->list[3].kind, Kind::shareOutside);
  EXPECT_EQ(read->list[3].limit, 0.1);
  EXPECT_TRUE(read->list[2].atLeast());
  EXPECT_TRUE(read->list[9].atLeast());
  EXPECT_FALSE(read->list[10].atLeast());
  EXPECT_EQ(read->decision->text(), "topk:5");
  EXPECT_EQ(read->tie, TieRule::flag);
  EXPECT_EQ(read->decisionOutput, "logits");
  EXPECT_FALSE(read->noDecisionIsFlip);
  EXPECT_TRUE(read->noiseFlipsCount);
  EXPECT_THAT(read->allowNonfinite, ElementsAre("encoder:aten::masked_fill"));
}

TEST(Criteria, FixTheDecisionOfTheRunAndWhatIsIntended) {
  RunSettings settings;
  settings.allowNonfinite = {"mask"};
  const Criteria criteria = criteriaFromJson(whole()).value();
  takeOver(criteria, settings);
  takeOver(criteria, settings);  // a run after that: nothing twice
  EXPECT_EQ(settings.decision.text(), "topk:5");
  EXPECT_EQ(settings.decisionOutput, "logits");
  EXPECT_EQ(settings.tie, TieRule::flag);
  EXPECT_THAT(settings.allowNonfinite, ElementsAre("mask", "encoder:aten::masked_fill"));
  RunSettings other;
  other.decision = parseDecisionRule("argmax").value();
  takeOver(criteriaFromJson(json::parse(R"({"schema": 1, "nonfinite": {"max_samples": 0}})")).value(), other);
  EXPECT_EQ(other.decision.text(), "argmax");
}

TEST(Criteria, AreTheSameWhateverTheOrderOfTheirKeys) {
  const auto a = criteriaFromJson(json::parse(R"({"schema": 1, "nonfinite": {"max_samples": 0, "id": "x"}})")), b = criteriaFromJson(json::parse(R"({"nonfinite": {"id": "x",
    "max_samples": 0}, "schema": 1})"));
  EXPECT_EQ(a->sha256, b->sha256);
  EXPECT_EQ(a->sha256, base::sha256(R"({"nonfinite":{"id":"x","max_samples":0},"schema":1})"));
}

struct Wrong {
  const char* name;
  const char* patch;  // JSON merge patch of the whole file
  const char* fault;
};
class WrongCriteria : public testing::TestWithParam<Wrong> {};

TEST_P(WrongCriteria, AreRefusedByPlaceAndFault) {
  json document = whole();
  document.merge_patch(json::parse(GetParam().patch));
  EXPECT_THAT(faultOf(document), HasSubstr(GetParam().fault));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, WrongCriteria,
    testing::Values(Wrong{"NewerSchema", R"({"schema": 2})", "criteria, schema: 2 is not the schema"}, Wrong{"NoSchema", R"({"schema": null})", "criteria, schema: is missing"},
                    Wrong{"TextAsSchema", R"({"schema": "1"})", "criteria, schema: \"1\" is no whole number"},
                    Wrong{"UnknownKeyWithoutLimit", R"({"outputs": [{"atoll": 1}]})", "criteria, outputs[0].atoll: is no key"},
                    Wrong{"IntroducedOfAnOutput", R"({"outputs": [{"introduced_rel_l2": 1}]})", "criteria, outputs[0].introduced_rel_l2: is no key"},
                    Wrong{"UnknownKey", R"({"decisoins": {}})", "criteria, decisoins: is no key that is known here; nearest: 'decisions'"},
                    Wrong{"UnknownInnerKey", R"({"decisions": {"max_flip": 1}})", "criteria, decisions.max_flip: is no key"},
                    Wrong{"Negative", R"({"decisions": {"max_flips": -1}})", "criteria, decisions.max_flips: -1 is below 0"},
                    Wrong{"NaNAsText", R"({"decisions": {"max_flips": "NaN"}})", "criteria, decisions.max_flips: \"NaN\" is no finite number"},
                    Wrong{"RateAboveOne", R"({"decisions": {"max_flip_rate": 1.5}})", "criteria, decisions.max_flip_rate: 1.5 is above 1"},
                    Wrong{"OpenLimit", R"({"quality": [{"min": null}]})", "criteria, quality[0].min: has no limit yet"},
                    Wrong{"NoLimit", R"({"outputs": [{"output": "logits"}]})", "criteria, outputs[0]: has no limit"},
                    Wrong{"ShareWithoutTolerance", R"({"outputs": [{"max_share_outside": 0.5}]})", "criteria, outputs[0].max_share_outside: needs atol"},
                    Wrong{"IdTwice", R"({"sites": [{"id": "accuracy", "rel_l2": 1}]})", "criteria, sites[0].id: 'accuracy' stands twice"},
                    Wrong{"Measure", R"({"quality": [{"measure": "f1"}]})", "criteria, quality[0].measure: 'f1' is no measure"},
                    Wrong{"Rule", R"({"decision": {"rule": "best"}})", "criteria, decision.rule: 'best' is no decision rule"},
                    Wrong{"Tie", R"({"decision": {"tie": "last"}})", "criteria, decision.tie: 'last' is no tie rule"},
                    Wrong{"NoList", R"({"outputs": {}})", "criteria, outputs: must be a list"}, Wrong{"NoObject", R"({"nonfinite": 3})", "criteria, nonfinite: must be an object"},
                    Wrong{"Allowed", R"({"allow_nonfinite": [3]})", "criteria, allow_nonfinite: 3 is no text"}),
    [](const auto& wrong) { return wrong.param.name; });

TEST(Criteria, WithoutALimitJudgeNothing) {
  EXPECT_THAT(faultOf(json::parse(R"({"schema": 1, "title": "nothing"})")), HasSubstr("there is nothing to judge"));
  EXPECT_THAT(faultOf(json::parse("[]")), HasSubstr("must be an object"));
}

TEST(Criteria, ReadTheirOwnLockedTextAndNothingThatIsNoJson) {
  const Criteria criteria = criteriaFromJson(whole()).value();
  const auto again = criteriaFromText(criteria.canonical);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->sha256, criteria.sha256);
  for (const char* text : {"", "{", "criteria"}) {
    const auto broken = criteriaFromText(text);
    ASSERT_FALSE(broken.ok()) << text;
    EXPECT_EQ(broken.error().kind, base::ErrorKind::input);
    EXPECT_THAT(broken.error().message(), testing::AnyOf(HasSubstr("criteria: is empty; `ulpscope criteria new`"), HasSubstr("criteria, line 1, column 2: is no JSON: it ends"), HasSubstr("criteria, line 1, column 1: is no JSON: 'criteria' does not")));
  }
}

TEST(CriteriaTemplate, LeavesEveryLimitOpenAndIsRefusedAsItIs) {
  const json document = criteriaTemplate({"logits", "boxes"}, parseDecisionRule("argmax").value());
  EXPECT_EQ(document.at("outputs").size(), 2U);
  EXPECT_TRUE(document.at("decisions").at("max_flips").is_null());
  EXPECT_THAT(faultOf(document), HasSubstr("has no limit yet"));
}

TEST(CriteriaLock, FindsATextThatIsNotTheLockedOne) {
  CriteriaRevision revision{1, "now", base::sha256("{}"), "{}", false, ""};
  EXPECT_TRUE(checkUntouched(revision).ok());
  revision.canonical = "{ }";
  const auto changed = checkUntouched(revision);
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.error().message(), HasSubstr("revision 1"));
}

}  // namespace
}  // namespace ulpscope::session
