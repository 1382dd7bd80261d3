#include "core/session/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using Kind = DecisionRule::Kind;

constexpr std::array<std::pair<Kind, const char*>, 7> kNames = {{{Kind::none, "none"},
                                                                 {Kind::argmax, "argmax"},
                                                                 {Kind::argmin, "argmin"},
                                                                 {Kind::topk, "topk"},
                                                                 {Kind::threshold, "threshold"},
                                                                 {Kind::exact, "exact"},
                                                                 {Kind::regression, "regression"}}};

std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    words.push_back(text.substr(at, colon - at));
    at = colon + 1;
  }
  return words;
}

Error wrong(const std::string& text, const std::string& what, const std::string& example) {
  return Error{ErrorKind::usage, what, "--decision " + text, "for instance " + example};
}

template <typename T>
std::from_chars_result parsed(const std::string& word, T& value) {
  const char* end = word.data() + word.size();
  std::from_chars_result result = std::from_chars(word.data(), end, value);
  if (result.ec == std::errc() && result.ptr != end) result.ec = std::errc::invalid_argument;
  return result;
}

// words: after the name.
Result<DecisionRule> withDimension(DecisionRule rule, const std::string& text, const std::vector<std::string>& words, const std::string& example) {
  if (words.empty()) return rule;
  int dim = 0;
  const auto result = parsed(words.front(), dim);
  if (result.ec == std::errc::result_out_of_range) return wrong(text, "names an axis that no tensor has", example);
  if (result.ec != std::errc() || words.size() > 1) return wrong(text, "needs one whole number as the axis of the classes", example);
  rule.dim = dim;
  return rule;
}

Result<DecisionRule> topK(DecisionRule rule, const std::string& text, const std::vector<std::string>& words) {
  if (words.empty() || parsed(words.front(), rule.k).ec != std::errc() || rule.k < 1)
    return wrong(text, "needs the number of classes in the set, at least 1, after 'topk:'", "topk:5 or topk:5:1");
  return withDimension(rule, text, {words.begin() + 1, words.end()}, "topk:5:1");
}

Result<DecisionRule> atThreshold(DecisionRule rule, const std::string& text, const std::vector<std::string>& words) {
  const std::string example = "threshold:0.5 or threshold:0.5:ge";
  if (words.empty() || parsed(words.front(), rule.threshold).ec != std::errc() || !std::isfinite(rule.threshold))
    return wrong(text, "needs a finite number after 'threshold:'", example);
  if (words.size() > 2 || (words.size() == 2 && words[1] != "gt" && words[1] != "ge"))
    return wrong(text, "may end with gt (above is greater) or ge (or equal) alone", example);
  rule.orEqual = words.size() == 2 && words[1] == "ge";
  return rule;
}

}  // namespace

std::string DecisionRule::text() const {
  const auto name = std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.first == kind; });
  std::string text = name->second;
  if (kind == Kind::topk) text += fmt::format(":{}", k);
  if (kind == Kind::threshold) text += fmt::format(":{}{}", threshold, orEqual ? ":ge" : "");
  return hasClasses() && dim ? text + fmt::format(":{}", *dim) : text;
}

Result<DecisionRule> parseDecisionRule(const std::string& text) {
  const std::vector<std::string> words = parts(text);
  const auto name = std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return words.front() == known.second; });
  if (name == kNames.end() && !text.empty())
    return Error{ErrorKind::usage, "is no decision rule", "--decision " + text,
                 "use none, argmax[:DIM], argmin[:DIM], topk:K[:DIM], threshold:T[:gt|ge], exact or regression"};
  DecisionRule rule;
  if (text.empty()) return rule;
  rule.kind = name->first;
  const std::vector<std::string> more(words.begin() + 1, words.end());
  if (rule.kind == Kind::argmax || rule.kind == Kind::argmin) return withDimension(rule, text, more, words.front() + ":1");
  if (rule.kind == Kind::topk) return topK(rule, text, more);
  if (rule.kind == Kind::threshold) return atThreshold(rule, text, more);
  if (!more.empty()) return wrong(text, "takes nothing after a colon", words.front());
  return rule;
}

}  // namespace ulpscope::session
