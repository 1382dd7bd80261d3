#include "core/protocol/message.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::protocol {
namespace {

using testing::ElementsAre;

CellBlock sample() {
  CellBlock block;
  block.sites = {{"a", "aten::linear", 1}, {"a", "aten::relu", 2}, {"", "aten::add", 1}};
  block.samples = {4, 7};
  block.relL2 = {1e-4F, std::numeric_limits<float>::quiet_NaN(), 0, 0.5F, std::numeric_limits<float>::infinity(), 3};
  block.flags = {0, 1, 0, 64, 2, 32};
  return block;
}

std::vector<std::uint32_t> bitsOf(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::bit_cast<std::uint32_t>(v));
  return bits;
}

TEST(Cells, ComeBackBitForBit) {
  const auto message = parseMessage(encodeCells(9, sample()));
  ASSERT_TRUE(message.ok()) << message.error().message();
  EXPECT_EQ(message->kind, Message::Kind::cells);
  EXPECT_EQ(message->id, 9);
  EXPECT_EQ(bitsOf(message->cells.relL2), bitsOf(sample().relL2));
  EXPECT_EQ(message->cells.flags, sample().flags);
  EXPECT_EQ(message->cells.sites, sample().sites);
  EXPECT_THAT(message->cells.samples, ElementsAre(4, 7));
  EXPECT_EQ(message->cells.rows(), 3);
}

// 1.0 is 0x3f800000, little-endian 00 00 80 3f: "AACAPw==".
TEST(Cells, AreLittleEndianFloat32) {
  CellBlock block;
  block.samples = {0};
  block.relL2 = {1};
  block.flags = {64};
  EXPECT_EQ(toJson(block).at("rel_l2"), "AACAPw==");
  EXPECT_EQ(toJson(block).at("flags"), "QA==");
  EXPECT_FALSE(toJson(block).contains("sites"));
}

TEST(Cells, SplitByRowsAndOnlyTheFirstPartNamesTheSites) {
  const auto parts = splitRows(sample(), 3);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(parts[0].sites.has_value());
  EXPECT_FALSE(parts[1].sites.has_value());
  EXPECT_EQ(parts[1].firstSite, 1);
  EXPECT_THAT(parts[2].flags, ElementsAre(2, 32));
  EXPECT_EQ(splitRows(sample(), 6).size(), 1U);
}

TEST(Cells, OfNoSampleAreNoRows) {
  EXPECT_EQ(CellBlock{}.rows(), 0);
  EXPECT_TRUE(parseMessage(encodeCells(1, {})).ok());
}

TEST(Cells, ThatDoNotFitEachOtherAreNoMessage) {
  const auto spoilt = [](const char* key, const nlohmann::json& value) {
    nlohmann::json j = toJson(sample());
    j[key] = value;
    return nlohmann::json{{"id", 1}, {"cells", j}}.dump();
  };
  for (const auto& [key, value] : std::vector<std::pair<const char*, nlohmann::json>>{
           {"rel_l2", "AAAA"}, {"rel_l2", "AACAPw=="}, {"flags", "QA=="}, {"flags", 3}, {"samples", {1, 2, 3, 4}}, {"samples", {-1, 2}}, {"samples", nlohmann::json::array()},
           {"first_site", -1}, {"first_site", "x"}, {"sites", {{"a"}}}, {"sites", 4}, {"rel_l2", "not base64!"}})
    EXPECT_FALSE(parseMessage(spoilt(key, value)).ok()) << key << " " << value.dump();
}

TEST(Experiment, ComesBack) {
  LiveExperiment experiment;
  experiment.model.path = "m.ts";
  experiment.model.modules = {{"", "Net", {}, 0}};
  experiment.sampleIds = {"a", "b"};
  const auto message = parseMessage(encodeExperiment(3, experiment));
  ASSERT_TRUE(message.ok()) << message.error().message();
  EXPECT_EQ(message->kind, Message::Kind::experiment);
  EXPECT_THAT(message->experiment.sampleIds, ElementsAre("a", "b"));
  EXPECT_EQ(message->experiment.model.modules.front().typeName, "Net");
  EXPECT_FALSE(parseMessage(R"({"id":1,"experiment":{"sample_ids":[]}})").ok());
}

TEST(Requests, AskForALiveRunOnlyWhenTold) {
  EXPECT_FALSE(parseMessage(encodeRun(1, {}))->body.contains("live"));
  EXPECT_EQ(parseMessage(encodeRun(1, {}, Live::yes))->body.at("live"), true);
  EXPECT_EQ(parseMessage(encodeOpen(2, {}))->kind, Message::Kind::open);
}

}  // namespace
}  // namespace ulpscope::protocol
