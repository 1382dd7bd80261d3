// What can go wrong, in the user's words. Every function that can fail returns a Result<T>.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <utility>
#include <variant>

namespace ulpscope::base {

// Decides the exit code (see exitCode) and the "code" of the JSON error object.
enum class ErrorKind {
  usage,         // 2: the words of the command are wrong
  input,         // 3: a file is unreadable, hostile, foreign or of a kind not supported
  run,           // 4: the run failed, or the reference cannot serve as a baseline
  inconclusive,  // 5: nothing was compared, nothing was autocast, no verdict possible
  cancelled,     // 130
  internal,      // 4: a mistake of ours
};

// "usage", "input", ...
std::string name(ErrorKind kind);
ErrorKind errorKindFromName(const std::string& name);  // unknown names give internal
int exitCode(ErrorKind kind);

// what: what happened. which: the file, module, op or argument concerned. remedy: what to do next (may be empty).
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string what;
  std::string which;
  std::string remedy;

  // "which: what; remedy", one line; a `which` or a word of more than 200 bytes is cut in its middle.
  std::string message() const;
  // Puts a wider place before `which` ("run.h5, /flips").
  Error within(const std::string& place) const;
};

// {"code", "what", "which", "do"}, as in the run document.
nlohmann::json toJson(const Error& error);
Error errorFromJson(const nlohmann::json& json);

// A value or an Error; `Result<void>` is Result<Done>.
struct Done {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : m_value(std::move(value)) {}
  Result(Error error) : m_value(std::move(error)) {}

  bool ok() const { return m_value.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Precondition: ok().
  const T& value() const& { return std::get<0>(m_value); }
  T& value() & { return std::get<0>(m_value); }
  T&& value() && { return std::get<0>(std::move(m_value)); }
  const T* operator->() const { return &std::get<0>(m_value); }
  // Precondition: !ok().
  const Error& error() const { return std::get<1>(m_value); }

 private:
  std::variant<T, Error> m_value;
};

using Status = Result<Done>;
inline Status success() { return Status(Done{}); }

// Prints the expression and its place on stderr and aborts: a mistake of ours, never of the input.
[[noreturn]] void checkFailed(const char* expression, const char* file, int line);

}  // namespace ulpscope::base

#define ULPSCOPE_CHECK(expression) \
  do {                             \
    if (!(expression)) ::ulpscope::base::checkFailed(#expression, __FILE__, __LINE__); \
  } while (false)
