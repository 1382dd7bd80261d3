// The words of a report in one language. Data (module paths, ids, what an engine wrote) is no phrase and stays as it is.
#pragma once

#include "core/base/error.h"
#include "core/report/report_text.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope::report {

enum class Language { english, portuguese };
std::string name(Language language);  // "en", "pt_BR"
base::Result<Language> languageFromName(const std::string& name);  // error kind usage names those that there are

// "{0}" and so on stand for values; "one|several" is chosen by the first value's count.
struct Phrase {
  std::string_view key, english, portuguese;
};
// All parts of the catalogue, for the test that holds both languages together.
std::vector<std::span<const Phrase>> catalogue();

class Phrasebook {
 public:
  explicit Phrasebook(Language language) : m_language(language) {}
  Language language() const { return m_language; }
  std::string htmlName() const { return m_language == Language::portuguese ? "pt-BR" : "en"; }

  // Precondition of all: the catalogue has the key.
  std::string say(std::string_view key, std::initializer_list<std::string> values = {}) const;
  // The same with values that keep their style.
  Text text(std::string_view key, std::initializer_list<Text> values = {}) const;
  // {0} is the count, as count() writes it.
  std::string counted(std::string_view key, std::int64_t count, std::initializer_list<std::string> values = {}) const;
  // A word of our own that a session stores ("overflow", "regressed"); one that the catalogue has not stays as it is.
  std::string stored(std::string_view group, const std::string& word) const;

  // Numbers are core/base/number_text.h's. Portuguese has a comma before decimals in sentences; digits are grouped by a thin space in every
  // language but English, so that no mark can be read as the other.
  std::string number(double value) const;           // in a sentence
  std::string grouped(double value) const;          // 65,504
  std::string count(std::int64_t value) const;
  std::string cell(double value) const;             // in a table: the formatter's own decimal point
  std::string groupedCell(double value) const;      // the same of grouped()
  std::string percent(double share) const;          // 0.25 -> "25 %"
  std::string inSentence(const std::string& formatted) const;  // of a number that is text already
  std::string list(const std::vector<std::string>& names, std::size_t most = 6) const;  // "a, b and 3 more"

 private:
  std::string_view find(std::string_view key) const;
  Language m_language;
};

}  // namespace ulpscope::report
