#include "core/base/json_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace ulpscope::base;

namespace {

std::string says(const std::string& text, const JsonPlace& place = {"f.json", "see the manual"}) {
  const auto read = readJson(text, place);
  return read ? "read" : read.error().message();
}
std::string nested(std::size_t levels, const std::string& open = "[", const std::string& close = "]") {
  std::string text;
  for (std::size_t i = 0; i < levels; ++i) text += open;
  for (std::size_t i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(JsonText, IsReadWhereItIsJson) {
  EXPECT_EQ(readJson(R"( {"a": [1, 2.5, "x\"]", null, true]} )", {}).value(), nlohmann::json::parse(R"({"a": [1, 2.5, "x\"]", null, true]})"));
  EXPECT_EQ(says("\xEF\xBB\xBF{}"), "read") << "a byte order mark, as some editors write";
  EXPECT_EQ(readJson("\"\xC3\xA9\"", {}).value(), "\xC3\xA9");
}

TEST(JsonText, NamesWhatStandsWhere) {
  EXPECT_EQ(says("{\n  \"a\": True}"), "f.json, line 2, column 8: is no JSON: 'True' does not belong there; see the manual");
  EXPECT_EQ(says("{\"a\": 1,\n }"), "f.json, line 1, column 8: is no JSON: the comma before '}' is one too many; see the manual");
  EXPECT_EQ(says("[1, 2,]"), "f.json, line 1, column 6: is no JSON: the comma before ']' is one too many; see the manual");
  EXPECT_EQ(says("{\"a\": NaN}"), "f.json, line 1, column 7: is no JSON: 'NaN' does not belong there; see the manual");
  EXPECT_EQ(says("{'a': 1}"), "f.json, line 1, column 2: is no JSON: ''a'' does not belong there; see the manual");
  EXPECT_EQ(says("{\"a\" 12}"), "f.json, line 1, column 6: is no JSON: '12' does not belong there; see the manual");
  EXPECT_EQ(says("{\"a\": 1 \"b\": 2}"), "f.json, line 1, column 9: is no JSON: '\"b\"' does not belong there; see the manual");
  EXPECT_EQ(says("{} // done"), "f.json, line 1, column 4: is no JSON: '//' does not belong there; see the manual");
  EXPECT_EQ(says("{\"\xC3\xA9\": 01}"), "f.json, line 1, column 7: is no JSON: '01' does not belong there; see the manual") << "a column is a character";
  EXPECT_EQ(says("{\"a\": 1e400}"), "f.json, line 1, column 7: is no JSON: the number '1e400' is beyond double precision; see the manual");
  EXPECT_EQ(says("\x89HDF\r\n"), "f.json, line 1, column 1: is no JSON: '\xEF\xBF\xBDHDF' does not belong there; see the manual") << "no byte that a terminal cannot show";
  EXPECT_EQ(says("]"), "f.json, line 1, column 1: is no JSON: ']' does not belong there; see the manual");
}

TEST(JsonText, NamesWhatIsWrongInAText) {
  EXPECT_EQ(says("{\"a\": \"x\ny\"}"), "f.json, line 1, column 9: is no JSON: a line break, a tab or another control character stands inside a text; see the manual");
  EXPECT_EQ(says("[\"\xFF\"]"), "f.json, line 1, column 3: is no JSON: a text holds a byte that is no UTF-8; see the manual");
  EXPECT_EQ(says("[\"\xC3(\"]"), "f.json, line 1, column 3: is no JSON: a text holds a byte that is no UTF-8; see the manual");
  EXPECT_EQ(says(R"(["C:\data"])"), "f.json, line 1, column 2: is no JSON: the text '\"C:\\\\data\"' has an escape that JSON does not know; see the manual");
  EXPECT_EQ(says("[\"abc"), "f.json, line 1, column 2: is no JSON: a text is not closed; see the manual");
  EXPECT_EQ(says("[\""), "f.json, line 1, column 2: is no JSON: a text is not closed; see the manual");
}

TEST(JsonText, SaysWhereItEnds) {
  EXPECT_EQ(says("{\"a\": [1,\n 2"), "f.json, line 2, column 3: is no JSON: it ends where more should follow; see the manual");
  EXPECT_EQ(says("{\"a\""), "f.json, line 1, column 5: is no JSON: it ends where more should follow; see the manual");
  EXPECT_EQ(says(""), "f.json: is empty; see the manual");
  EXPECT_EQ(says(" \n\t"), "f.json: is empty; see the manual");
  EXPECT_EQ(says("{\"a\"", {"", "write it anew", 7}), "line 7, column 5: is no JSON: it ends where more should follow; write it anew");
}

TEST(JsonText, IsRefusedWhereItIsTooDeep) {
  EXPECT_EQ(says(nested(kDeepestJson)), "read");
  EXPECT_EQ(says(nested(kDeepestJson + 1)), "f.json, line 1, column 101: is nested deeper than 100 levels of brackets; write it flatter");
  for (const std::size_t levels : {60000U, 1000000U}) {
    EXPECT_TRUE(isTooDeep(nested(levels)));
    EXPECT_TRUE(isTooDeep(nested(levels, "{\"a\":")));
    EXPECT_EQ(says("{\"events\": " + nested(levels) + "}"), "f.json, line 1, column 111: is nested deeper than 100 levels of brackets; write it flatter");
    EXPECT_FALSE(isTooDeep("\"\\\"" + nested(levels) + "\"")) << "brackets of a text are none";
  }
  std::string flat = "[";
  for (int i = 0; i < 1000; ++i) flat += "[1],";
  EXPECT_EQ(says(flat + "[]]"), "read");
}

TEST(JsonText, IsRefusedWhereAKeyStandsTwice) {
  EXPECT_EQ(says(R"({"a": {"b": 1, "b": 2}})"), "f.json: has the key 'b' twice in one object; take one of the two out");
  EXPECT_EQ(says(R"({"a": 1, "a": 1})", {"", "", 7}), "line 7: has the key 'a' twice in one object; take one of the two out");
  EXPECT_EQ(says(R"([{"a": 1}, {"a": {"a": 2}}])"), "read") << "in objects of their own";
}

}  // namespace
