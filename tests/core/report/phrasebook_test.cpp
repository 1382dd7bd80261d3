#include "core/report/phrasebook.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace ulpscope::report {
namespace {

std::multiset<std::string> placeholders(std::string_view text) {
  std::multiset<std::string> found;
  const std::string all(text);
  const std::regex pattern(R"(\{\d\})");
  for (std::sregex_iterator it(all.begin(), all.end(), pattern), end; it != end; ++it) found.insert(it->str());
  return found;
}

std::vector<std::string> forms(std::string_view text) {
  std::vector<std::string> parts;
  std::stringstream all{std::regex_replace(std::string(text), std::regex(R"(\|x\|)"), "x")};  // a magnitude has bars too
  for (std::string part; std::getline(all, part, '|');) parts.push_back(part);
  return parts;
}

std::map<std::string, Phrase> phrases() {
  std::map<std::string, Phrase> all;
  for (const std::span<const Phrase> part : catalogue())
    for (const Phrase& phrase : part) EXPECT_TRUE(all.emplace(std::string(phrase.key), phrase).second) << phrase.key << " stands twice";
  return all;
}

std::string sources() {
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(ULPSCOPE_REPORT_SOURCES))
    if (entry.path().extension() == ".cpp" && entry.path().filename().string().rfind("phrases_", 0) != 0) {
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      all += text.str();
    }
  return all;
}

TEST(Phrasebook, EveryKeyHasBothLanguagesWithTheSamePlaceholdersAndForms) {
  const auto all = phrases();
  ASSERT_GT(all.size(), 200U);
  for (const auto& [key, phrase] : all) {
    EXPECT_FALSE(phrase.english.empty()) << key;
    EXPECT_FALSE(phrase.portuguese.empty()) << key;
    const auto english = forms(phrase.english), portuguese = forms(phrase.portuguese);
    ASSERT_EQ(english.size(), portuguese.size()) << key;
    ASSERT_LE(english.size(), 2U) << key;
    for (std::size_t i = 0; i < english.size(); ++i) EXPECT_EQ(placeholders(english[i]), placeholders(portuguese[i])) << key;
    auto one = placeholders(english.front()), several = placeholders(english.back());
    one.erase("{0}"), several.erase("{0}");  // "the limit" needs no count
    EXPECT_EQ(one, several) << key;
  }
}

// Keys in the sources are literals; those with a group ("cause.overflow") are asked for by stored() and are listed by their group's name.
TEST(Phrasebook, TheSourcesUseEveryKeyAndNoOther) {
  const auto all = phrases();
  const std::string text = sources();
  std::set<std::string> groups, used;
  const std::regex stored(R"re(stored\("(\w+)")re"), literal(R"re("([a-zA-Z]+(?:\.[A-Za-z0-9]+)?)")re"), asked(R"re((?:say|text|counted)\("([^"]+)")re");
  for (std::sregex_iterator it(text.begin(), text.end(), stored), end; it != end; ++it) groups.insert((*it)[1]);
  for (std::sregex_iterator it(text.begin(), text.end(), literal), end; it != end; ++it) used.insert((*it)[1]);
  for (std::sregex_iterator it(text.begin(), text.end(), asked), end; it != end; ++it)
    EXPECT_TRUE((*it)[1] == "overview." || all.count((*it)[1]) > 0) << (*it)[1] << " is not in the catalogue";
  groups.insert("overview");  // its rows' names are put together
  for (const auto& [key, phrase] : all) EXPECT_TRUE(used.count(key) || groups.count(key.substr(0, key.find('.')))) << key << " is used nowhere";
}

TEST(Phrasebook, FillsPlaceholdersOnceAndKeepsBracesOfValues) {
  const Phrasebook book(Language::english);
  EXPECT_EQ(book.say("list.more", {"{1}", "3"}), "{1} and 3 more");
  EXPECT_EQ(book.counted("samples", 1), "1 sample");
  EXPECT_EQ(book.counted("samples", 1200), "1,200 samples");
  EXPECT_EQ(book.text("list.more", {code("a"), "2"}).plain(), "a and 2 more");
  EXPECT_EQ(book.text("list.more", {code("a"), "2"}).front().style, Span::Style::code);
}

// No mark in one document may mean two things: a comma is a decimal one, groups are set apart by a thin space.
TEST(Phrasebook, PortugueseWritesNumbersSoThatNoneCanBeReadAsAnother) {
  const Phrasebook book(Language::portuguese);
  EXPECT_EQ(book.number(0.671), "0,671");
  EXPECT_EQ(book.number(4e-4), "4,00e-04");
  EXPECT_EQ(book.count(65504), "65\u202F504");
  EXPECT_EQ(book.grouped(81920.5), "81\u202F920,5");
  EXPECT_EQ(book.groupedCell(81920.5), "81\u202F920.5");
  EXPECT_EQ(book.cell(0.671), "0.671");
  EXPECT_EQ(book.percent(0.9375), "93,8 %");
  EXPECT_EQ(book.number(std::numeric_limits<double>::infinity()), "+inf");
  EXPECT_EQ(book.counted("samples", 2), "2 amostras");
  EXPECT_EQ(Phrasebook(Language::english).grouped(65504), "65,504");
}

TEST(Phrasebook, AStoredWordThatItDoesNotKnowStaysAsItIs) {
  EXPECT_EQ(Phrasebook(Language::portuguese).stored("cause", "overflow"), "estouro (overflow)");
  EXPECT_EQ(Phrasebook(Language::portuguese).stored("cause", "something new"), "something new");
}

TEST(Phrasebook, LanguagesAreNamedAsLocalesAre) {
  EXPECT_EQ(languageFromName("pt-BR").value(), Language::portuguese);
  EXPECT_EQ(name(languageFromName("pt_BR").value()), "pt_BR");
  EXPECT_THAT(languageFromName("de").error().message(), testing::HasSubstr("use 'en' or 'pt_BR'"));
}

}  // namespace
}  // namespace ulpscope::report
