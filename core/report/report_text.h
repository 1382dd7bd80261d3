// Text of a report before it has a format.
#pragma once

#include <string>
#include <vector>

namespace ulpscope::report {

// code: a name, an id, words to type; set apart, so that its direction and its characters touch nothing else.
struct Span {
  enum class Style { plain, strong, code, muted } style = Style::plain;
  std::string text;
};
class Text : public std::vector<Span> {
 public:
  using std::vector<Span>::vector;
  Text() = default;
  Text(std::string plain) { emplace_back(Span::Style::plain, std::move(plain)); }
  Text(const char* plain) : Text(std::string(plain)) {}
  std::string plain() const {
    std::string all;
    for (const Span& span : *this) all += span.text;
    return all;
  }
};
inline Text code(std::string text) { return Text{Span{Span::Style::code, std::move(text)}}; }
inline Text strong(std::string text) { return Text{Span{Span::Style::strong, std::move(text)}}; }
inline Text muted(std::string text) { return Text{Span{Span::Style::muted, std::move(text)}}; }
Text operator+(Text a, const Text& b);
// "a, b" as code, and how many more by the phrase that the caller adds.
Text codes(const std::vector<std::string>& names);

}  // namespace ulpscope::report
