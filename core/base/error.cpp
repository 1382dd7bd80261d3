#include "core/base/error.h"

#include <nlohmann/json.hpp>

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

}  // namespace

std::string name(ErrorKind kind) { return row(kind).name; }

ErrorKind errorKindFromName(const std::string& name) {
  for (const KindRow& r : kKinds)
    if (name == r.name) return r.kind;
  return ErrorKind::internal;
}

int exitCode(ErrorKind kind) { return row(kind).exitCode; }

std::string Error::message() const {
  std::string text = which.empty() ? what : which + ": " + what;
  if (!remedy.empty()) text += "; " + remedy;
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
