#include "core/report/phrasebook.h"

#include "core/base/nearest_names.h"
#include "core/base/number_text.h"
#include "core/report/phrases.h"

#include <unordered_map>

namespace ulpscope::report {
namespace {

constexpr const char* kThinSpace = "\u202F";  // narrow, no break

const std::unordered_map<std::string_view, const Phrase*>& byKey() {
  static const auto* map = [] {
    auto* made = new std::unordered_map<std::string_view, const Phrase*>();
    for (const std::span<const Phrase> part : catalogue())
      for (const Phrase& phrase : part) made->emplace(phrase.key, &phrase);
    return made;
  }();
  return *map;
}

void replaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

// Calls plain(text) and value(index) as they stand in the phrase.
template <typename Plain, typename Value>
void walk(std::string_view phrase, const Plain& plain, const Value& value) {
  std::size_t from = 0;
  for (std::size_t at = phrase.find('{'); at != std::string_view::npos; at = phrase.find('{', at)) {
    if (at + 2 >= phrase.size() || phrase[at + 2] != '}' || phrase[at + 1] < '0' || phrase[at + 1] > '9') {
      ++at;
      continue;
    }
    plain(phrase.substr(from, at - from));
    value(static_cast<std::size_t>(phrase[at + 1] - '0'));
    from = at += 3;
  }
  plain(phrase.substr(from));
}

std::string filled(std::string_view phrase, const std::vector<std::string>& values) {
  std::string out;
  walk(phrase, [&](std::string_view plain) { out += plain; }, [&](std::size_t i) {
    ULPSCOPE_CHECK(i < values.size());
    out += values[i];
  });
  return out;
}

}  // namespace

std::string name(Language language) { return language == Language::portuguese ? "pt_BR" : "en"; }

base::Result<Language> languageFromName(const std::string& name) {
  if (name == "en") return Language::english;
  if (name == "pt_BR" || name == "pt-BR") return Language::portuguese;
  return base::Error{base::ErrorKind::usage, "is no language of reports", name, "use " + base::quotedChoice({"en", "pt_BR"})};
}

std::vector<std::span<const Phrase>> catalogue() { return {summaryPhrases(), comparedPhrases(), findingPhrases(), figurePhrases(), trainingPhrases(), closingPhrases()}; }

Text operator+(Text a, const Text& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Text codes(const std::vector<std::string>& names) {
  Text all;
  for (const std::string& name : names) all = all + (all.empty() ? Text() : Text(", ")) + code(name);
  return all;
}

std::string_view Phrasebook::find(std::string_view key) const {
  const auto found = byKey().find(key);
  ULPSCOPE_CHECK(found != byKey().end());
  return m_language == Language::portuguese ? found->second->portuguese : found->second->english;
}

std::string Phrasebook::say(std::string_view key, std::initializer_list<std::string> values) const { return filled(find(key), values); }

Text Phrasebook::text(std::string_view key, std::initializer_list<Text> values) const {
  const std::vector<Text> all = values;
  Text out;
  walk(find(key), [&](std::string_view plain) { if (!plain.empty()) out.push_back({Span::Style::plain, std::string(plain)}); }, [&](std::size_t i) {
    ULPSCOPE_CHECK(i < all.size());
    out = out + all[i];
  });
  return out;
}

std::string Phrasebook::counted(std::string_view key, std::int64_t count, std::initializer_list<std::string> values) const {
  const std::string_view both = find(key);
  const std::size_t bar = both.find('|');
  ULPSCOPE_CHECK(bar != std::string_view::npos);
  std::vector<std::string> all{this->count(count)};
  all.insert(all.end(), values.begin(), values.end());
  return filled(count == 1 ? both.substr(0, bar) : both.substr(bar + 1), all);
}

std::string Phrasebook::stored(std::string_view group, const std::string& word) const {
  const auto found = byKey().find(std::string(group) + "." + word);
  if (found == byKey().end()) return word;
  return std::string(m_language == Language::portuguese ? found->second->portuguese : found->second->english);
}

std::string Phrasebook::inSentence(const std::string& formatted) const {
  if (m_language == Language::english) return formatted;
  std::string text = formatted;
  replaceAll(text, ",", kThinSpace);
  replaceAll(text, ".", ",");
  return text;
}

std::string Phrasebook::number(double value) const { return inSentence(base::shortNumber(value)); }
std::string Phrasebook::grouped(double value) const { return inSentence(base::groupedNumber(value)); }

std::string Phrasebook::count(std::int64_t value) const { return inSentence(base::groupedInteger(value)); }

std::string Phrasebook::cell(double value) const { return base::shortNumber(value); }

std::string Phrasebook::groupedCell(double value) const {
  std::string text = base::groupedNumber(value);
  if (m_language != Language::english) replaceAll(text, ",", kThinSpace);
  return text;
}

std::string Phrasebook::percent(double share) const { return inSentence(base::shortNumber(100 * share)) + " %"; }

std::string Phrasebook::list(const std::vector<std::string>& names, std::size_t most) const {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > most ? say("list.more", {text, count(static_cast<std::int64_t>(names.size() - most))}) : text;
}

}  // namespace ulpscope::report
