#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace ulpscope::base {
namespace {

struct KindRow {
  ErrorKind kind;
  const char* name;
  int exitCode;
};

constexpr std::array<KindRow, 6> kKinds{{
    {ErrorKind::usage, "usage", 2},
    {ErrorKind::input, "input", 3},
    {ErrorKind::run, "run", 4},
    {ErrorKind::inconclusive, "inconclusive", 5},
    {ErrorKind::cancelled, "cancelled", 130},
    {ErrorKind::internal, "internal", 4},
}};

const KindRow& row(ErrorKind kind) {
  for (const KindRow& r : kKinds)
    if (r.kind == kind) return r;
  return kKinds.back();
}

// What a message may echo of one word or place; the end of a path tells as much as its start.
constexpr std::size_t kEchoed = 200;
constexpr std::size_t kEchoedEnd = 50;

bool continuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }  // UTF-8

std::string shortened(const std::string& text) {
  if (text.size() <= kEchoed) return text;
  std::size_t head = kEchoed - kEchoedEnd, tail = text.size() - kEchoedEnd;
  while (head > 0 && continuesCharacter(text[head])) --head;
  while (tail < text.size() && continuesCharacter(text[tail])) ++tail;
  return text.substr(0, head) + "..." + text.substr(tail);
}

// A sentence may be long, none of its words.
std::string withWordsShortened(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    result += shortened(text.substr(at, end - at)) + (end < text.size() ? " " : "");
    at = end + 1;
  }
  return result;
}

}  // namespace

std::string name(ErrorKind kind) { return row(kind).name; }

ErrorKind errorKindFromName(const std::string& name) {
  for (const KindRow& r : kKinds)
    if (name == r.name) return r.kind;
  return ErrorKind::internal;
}

int exitCode(ErrorKind kind) { return row(kind).exitCode; }

std::string Error::message() const {
  std::string text = which.empty() ? withWordsShortened(what) : shortened(which) + ": " + withWordsShortened(what);
  if (!remedy.empty()) text += "; " + withWordsShortened(remedy);
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

Error Error::within(const std::string& place) const {
  Error wider = *this;
  wider.which = which.empty() ? place : place + ", " + which;
  return wider;
}

nlohmann::json toJson(const Error& error) {
  return {{"code", name(error.kind)}, {"what", error.what}, {"which", error.which}, {"do", error.remedy}};
}

Error errorFromJson(const nlohmann::json& json) {
  return Error{errorKindFromName(json.value("code", "internal")), json.value("what", "unknown error"),
               json.value("which", ""), json.value("do", "")};
}

void checkFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "ulpscope: internal check failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace ulpscope::base
