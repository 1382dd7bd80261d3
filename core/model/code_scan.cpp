#include "core/model/code_scan.h"

#include "core/model/archive.h"

#include <fmt/format.h>

#include <cctype>
#include <string>
#include <vector>

namespace ulpscope::model {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Depth at a place: for every open bracket, the operators, attributes and calls chained so far in its expression
// ("a + b.c(d" chains three, then one bracket deeper none); plus the indentation.
class CodeScanner {
 public:
  explicit CodeScanner(std::string_view source) : m_source(source) {}

  // Line of the first thing that nests too deeply, 0: none.
  int firstTooDeep() {
    startLine();
    while (m_at < m_source.size())
      if (step() > kMaxCodeNesting) return m_line;
    return 0;
  }

 private:
  // Takes one token; gives how deep the source is nested there.
  int step() {
    const char c = m_source[m_at];
    if (c == '\n') return newLine();
    if (c == '"' || c == '\'') return skipString(c);
    if (c == '#') return skipComment();
    if (isWord(c)) return word();
    ++m_at;
    switch (c) {
      case '(': case '[': case '{': return open();
      case ')': case ']': case '}': return close();
      case ',': case ':': case ';': return resetChain();
      case ' ': case '\t': case '\r': return depth();
      default: return chain();
    }
  }

  int depth() const { return m_total + m_indentation; }

  int chain() {
    ++m_chains.back();
    ++m_total;
    return depth();
  }

  int resetChain() {
    m_total -= m_chains.back();
    m_chains.back() = 0;
    return depth();
  }

  // A call or subscript also makes its own level's expression one deeper.
  int open() {
    chain();
    m_chains.push_back(0);
    return depth();
  }

  int close() {
    resetChain();
    if (m_chains.size() > 1) m_chains.pop_back();
    return depth();
  }

  int newLine() {
    const bool continued = m_chains.size() > 1 || (m_at > 0 && m_source[m_at - 1] == '\\');
    ++m_at;
    ++m_line;
    if (continued) return depth();
    resetChain();
    startLine();
    return depth();
  }

  // Each deeper indentation opens a block.
  void startLine() {
    std::size_t end = m_at;
    while (end < m_source.size() && (m_source[end] == ' ' || m_source[end] == '\t')) ++end;
    if (end == m_source.size() || m_source[end] == '\n') return;
    const auto width = static_cast<int>(end - m_at);
    while (!m_blocks.empty() && m_blocks.back() > width) m_blocks.pop_back();
    if (width > 0 && (m_blocks.empty() || m_blocks.back() < width)) m_blocks.push_back(width);
    m_indentation = static_cast<int>(m_blocks.size());
    m_at = end;
  }

  int word() {
    const std::size_t start = m_at;
    while (m_at < m_source.size() && isWord(m_source[m_at])) ++m_at;
    const std::string_view text = m_source.substr(start, m_at - start);
    if (text == "elif" && ++m_elifs > kMaxCodeNesting) return m_elifs;
    return text == "not" || text == "if" || text == "else" || text == "and" || text == "or" || text == "lambda" ? chain() : depth();
  }

  int skipString(char quote) {
    const bool triple = m_source.substr(m_at, 3) == std::string(3, quote);
    m_at += triple ? 3 : 1;
    while (m_at < m_source.size()) {
      const char c = m_source[m_at];
      if (c == '\n' && !triple) break;  // an unfinished string ends with its line
      if (c == '\n') ++m_line;
      const bool ends = triple ? m_source.substr(m_at, 3) == std::string(3, quote) : c == quote;
      m_at += ends && triple ? 3 : c == '\\' ? 2 : 1;
      if (ends) break;
    }
    return depth();
  }

  // "# type:" comments are code to LibTorch's parser, others are not.
  int skipComment() {
    if (m_source.substr(m_at).starts_with("# type:")) {
      ++m_at;
      return depth();
    }
    while (m_at < m_source.size() && m_source[m_at] != '\n') ++m_at;
    return depth();
  }

  std::string_view m_source;
  std::size_t m_at = 0;
  int m_line = 1;
  std::vector<int> m_chains{0};  // by open bracket
  int m_total = 0;               // of m_chains
  std::vector<int> m_blocks;     // indentation widths that are open
  int m_indentation = 0;
  int m_elifs = 0;
};

}  // namespace

base::Status scanCode(std::string_view source) {
  const int line = CodeScanner(source).firstTooDeep();
  if (line == 0) return base::success();
  return base::Error{base::ErrorKind::input, fmt::format("nests deeper than {} levels, which would overflow LibTorch's stack", kMaxCodeNesting),
                     fmt::format("line {}", line), "do not load this file; export the model again"};
}

}  // namespace ulpscope::model
