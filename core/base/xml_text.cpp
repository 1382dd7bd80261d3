#include "core/base/xml_text.h"

#include <array>
#include <cstdint>

namespace ulpscope::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the character that begins there; 0: none does (truncated, overlong, a surrogate, beyond U+10FFFF).
std::size_t characterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80 ? 1 : (byte(0) >> 5) == 6 ? 2 : (byte(0) >> 4) == 14 ? 3 : (byte(0) >> 3) == 30 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  if (length == 1) return 1;
  std::uint32_t code = byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = (code << 6) | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool isSurrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[length] || isSurrogate || code > 0x10FFFF ? 0 : length;
}

// U+FFFE and U+FFFF are code points of Unicode, but of no XML document.
bool isNotOfXml(std::string_view character) { return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF"; }

template <typename Append>
void eachCharacter(std::string_view text, const Append& append) {
  while (!text.empty()) {
    const std::size_t length = characterLength(text);
    append(length == 0 ? kReplacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace

std::string validUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  eachCharacter(text, [&](std::string_view character) { valid += character; });
  return valid;
}

std::string xmlText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  eachCharacter(text, [&](std::string_view character) {
    const char c = character.front();
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&#39;";
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') out += ' ';
    else out += isNotOfXml(character) ? kReplacement : character;
  });
  return out;
}

}  // namespace ulpscope::base
