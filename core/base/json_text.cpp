#include "core/base/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace ulpscope::base {
namespace {

using nlohmann::json;

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::size_t kMostShown = 40;  // bytes of a word
constexpr int kNumberTooLarge = 406;    // nlohmann's id

// Behind the closing quote of the text that opens at `quote`, or the end.
std::size_t behindText(std::string_view text, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    else if (text[i] == '"') return i + 1;
  }
  return text.size();
}

// The bracket that is one level too deep.
std::size_t tooDeepAt(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') i = behindText(text, i) - 1;
    else if ((c == '[' || c == '{') && ++depth > kDeepestJson) return i;
    else if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return std::string_view::npos;
}

// Where the word or text that holds the byte at `at` begins.
struct Token {
  std::size_t start = 0;
  bool isText = false;
};
Token tokenAt(std::string_view text, std::size_t at) {
  for (std::size_t i = 0; i <= at && i < text.size(); ++i) {
    if (text[i] != '"') continue;
    const std::size_t end = behindText(text, i);
    if (end > at) return {i, true};
    i = end - 1;
  }
  constexpr std::string_view marks = ",:[]{}\"";
  if (at >= text.size() || marks.find(text[at]) != std::string_view::npos) return {at};
  const std::size_t before = text.substr(0, at).find_last_of(" \t\r\n,:[]{}\"");
  return {before == std::string_view::npos ? 0 : before + 1};
}

// As it stands there, without bytes that a terminal cannot show.
std::string shownWord(std::string_view text, const Token& token) {
  std::size_t end = token.isText ? behindText(text, token.start) : std::min(text.find_first_of(" \t\r\n,:[]{}\"", token.start), text.size());
  end = std::max(end, token.start + 1);
  const bool cut = end - token.start > kMostShown;
  const std::string dumped = json(std::string(text.substr(token.start, cut ? kMostShown : end - token.start))).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string word;
  for (std::size_t i = 1; i + 1 < dumped.size(); ++i)
    if (dumped[i] != '\\' || dumped[i + 1] != '"') word += dumped[i];
  return "'" + word + (cut ? "..." : "") + "'";
}

// Follows the parser, and keeps where and why it stopped.
class Look : public json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override {
    m_keys.emplace_back();
    return true;
  }
  bool end_object() override {
    m_keys.pop_back();
    return true;
  }
  bool key(string_t& key) override {
    if (!m_keys.back().insert(key).second && twice.empty()) twice = "'" + key + "'";
    return true;
  }
  bool parse_error(std::size_t read, const std::string&, const json::exception& e) override {
    at = read - std::min<std::size_t>(read, 1);
    tooLarge = e.id == kNumberTooLarge;
    return false;
  }

  std::size_t at = 0;     // the last byte that was read; the text's size: its end
  bool tooLarge = false;  // a number
  std::string twice;      // the first such key, in quotes

 private:
  std::vector<std::set<std::string>> m_keys;  // of the objects that are open
};

struct Fault {
  std::string what;
  std::size_t at = 0;
};

Fault faultInText(std::string_view text, const Token& token, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(at) < 0x20) return {"a line break, a tab or another control character stands inside a text", at};
  if (byte(at) >= 0x80 || byte(at - 1) >= 0x80) return {"a text holds a byte that is no UTF-8", byte(at) >= 0x80 ? at : at - 1};
  return {"the text " + shownWord(text, token) + " has an escape that JSON does not know", token.start};
}

Fault faultOf(std::string_view text, const Look& look) {
  const std::size_t at = std::min(look.at, text.size());
  const Token token = tokenAt(text, at);
  if (at == text.size()) {
    const Token open = tokenAt(text, text.size() - 1);
    if (open.isText && (text.back() != '"' || open.start + 1 == text.size())) return {"a text is not closed", open.start};
    return {"it ends where more should follow", at};
  }
  const bool isWholeText = token.isText && text[at] == '"' && at > token.start;
  if (token.isText && !isWholeText) return faultInText(text, token, at);
  if (look.tooLarge) return {"the number " + shownWord(text, token) + " is beyond double precision", token.start};
  const std::size_t before = text.substr(0, token.start).find_last_not_of(kSpace);
  const bool closes = text[token.start] == ']' || text[token.start] == '}';
  if (closes && before != std::string_view::npos && text[before] == ',') return {"the comma before " + shownWord(text, token) + " is one too many", before};
  return {shownWord(text, token) + " does not belong there", token.start};
}

Error at(const Fault& fault, std::string_view text, const JsonPlace& place) {
  const std::string_view before = text.substr(0, fault.at);
  const auto breaks = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto column = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(start), before.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }) + 1;
  const Error error{ErrorKind::input, fault.what, "line " + std::to_string(place.firstLine + breaks) + ", column " + std::to_string(column), place.remedy};
  return place.which.empty() ? error : error.within(place.which);
}

}  // namespace

bool isTooDeep(std::string_view json) { return tooDeepAt(json) != std::string_view::npos; }

Result<json> readJson(const std::string& text, const JsonPlace& place) {
  if (text.find_first_not_of(kSpace) == std::string::npos) return Error{ErrorKind::input, "is empty", place.which, place.remedy};
  if (const std::size_t deep = tooDeepAt(text); deep != std::string_view::npos) {
    Error error = at({"is nested deeper than " + std::to_string(kDeepestJson) + " levels of brackets", deep}, text, place);
    error.remedy = "write it flatter";
    return error;
  }
  Look look;
  if (!json::sax_parse(text, &look)) {
    Fault fault = faultOf(text, look);
    fault.what = "is no JSON: " + fault.what;
    return at(fault, text, place);
  }
  if (!look.twice.empty()) return Error{ErrorKind::input, "has the key " + look.twice + " twice in one object", place.which.empty() ? "line " + std::to_string(place.firstLine) : place.which, "take one of the two out"};
  return json::parse(text);
}

}  // namespace ulpscope::base
