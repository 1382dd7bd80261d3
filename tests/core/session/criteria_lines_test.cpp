#include "core/session/criteria_lines.h"

#include "core/session/criteria.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ulpscope::session {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json templateOf(const std::string& rule) { return criteriaTemplate({"logits"}, parseDecisionRule(rule).value()); }

const CriteriaLine& lineAt(const std::vector<CriteriaLine>& lines, const std::string& pointer) {
  for (const CriteriaLine& line : lines)
    if (line.pointer == pointer) return line;
  static const CriteriaLine none;
  ADD_FAILURE() << pointer;
  return none;
}

std::vector<CriteriaLine> linesOf(const json& document) {
  auto lines = criteriaLines(document);
  EXPECT_TRUE(lines.ok());
  return lines.ok() ? lines.value() : std::vector<CriteriaLine>();
}

TEST(CriteriaLines, AreOpenInATemplateAndFilledOneByOne) {
  json document = templateOf("argmax");
  for (const CriteriaLine& line : linesOf(document)) EXPECT_FALSE(line.limit) << line.pointer;
  EXPECT_TRUE(lineAt(linesOf(document), "/decisions/max_flips").listed);
  EXPECT_FALSE(lineAt(linesOf(document), "/decisions/max_flip_rate").listed);
  document = withLimit(document, "/decisions/max_flips", 2);
  document = withLimit(document, "/outputs/0/sqnr_db", 40);
  EXPECT_EQ(lineAt(linesOf(document), "/decisions/max_flips").limit, 2);
  EXPECT_TRUE(lineAt(linesOf(document), "/outputs/0/sqnr_db").atLeast);
  EXPECT_EQ(lineAt(linesOf(document), "/outputs/0/sqnr_db").about, "output 'logits'");
}

// Each limit that the list offers is one that the reader of criteria files takes, under the same name.
TEST(CriteriaLines, AreAllKnownToTheReader) {
  for (const std::string rule : {"argmax", "regression"}) {
    json document = withSites(withOutput(templateOf(rule), "mask"), "encoder.*");
    document["nonfinite"] = json::object();
    document["decisions"] = json::object();
    for (const CriteriaLine& line : linesOf(document)) {
      json one = withLimit(document, line.pointer, line.key == "max_share_outside" ? 0.5 : 0);
      if (line.key == "max_share_outside") one = withLimit(one, line.pointer.substr(0, line.pointer.rfind('/')) + "/atol", 1e-3);
      const auto criteria = criteriaFromJson(withoutEmptyLimits(one));
      EXPECT_TRUE(criteria.ok()) << line.pointer << (criteria.ok() ? "" : criteria.error().message());
      if (!criteria.ok()) continue;
      EXPECT_EQ(criteria->list.size(), 1U) << line.pointer;
      EXPECT_EQ(criteria->list.front().atLeast(), line.atLeast) << line.pointer;
    }
  }
}

TEST(CriteriaLines, WithoutLimitsLeaveNothingToJudge) {
  const json left = withoutEmptyLimits(templateOf("argmax"));
  EXPECT_FALSE(left.contains("outputs"));
  EXPECT_FALSE(left.contains("nonfinite"));
  EXPECT_EQ(left.at("decision").at("rule"), "argmax");
  const auto criteria = criteriaFromJson(left);
  ASSERT_FALSE(criteria.ok());
  EXPECT_THAT(criteria.error().message(), HasSubstr("nothing to judge"));
}

TEST(CriteriaLines, AFlagAloneIsNoLimit) {
  const json left = withoutEmptyLimits(json::parse(R"({"schema": 1, "decisions": {"no_decision_is_flip": true, "max_flips": null}, "nonfinite": {"max_samples": 0}})"));
  EXPECT_FALSE(left.contains("decisions"));
  EXPECT_TRUE(left.contains("nonfinite"));
}

TEST(CriteriaLines, SectionsComeAndGo) {
  json document = withOutput(templateOf("argmax"), "mask");
  document = withLimit(document, "/outputs/1/rel_l2", 0.5);
  document = withoutSection(document, "/outputs/0/rel_l2");
  ASSERT_EQ(document.at("outputs").size(), 1U);
  EXPECT_EQ(document.at("outputs")[0].at("output"), "mask");
  EXPECT_FALSE(withoutSection(document, "/decisions/max_flips").contains("decisions"));
}

TEST(CriteriaLines, OfAnythingElseAreRefused) {
  for (const char* text : {"3", "[]", R"({"outputs": 3})", R"({"outputs": [1]})", R"({"decisions": []})", R"({"quality": {}})"}) EXPECT_FALSE(criteriaLines(json::parse(text)).ok()) << text;
}

}  // namespace
}  // namespace ulpscope::session
