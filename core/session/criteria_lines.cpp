#include "core/session/criteria_lines.h"

#include "core/session/metric.h"

#include <nlohmann/json.hpp>

#include <array>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

struct LimitText {
  const char* key;
  const char* name;
  const char* meaning;
  bool atLeast = false;
};

constexpr std::array<LimitText, 3> kTolerance{{{"atol", "absolute tolerance", "atol of |b - a| <= atol + rtol |a|, for every element"},
                                               {"rtol", "relative tolerance", "rtol of |b - a| <= atol + rtol |a|, for every element"},
                                               {"max_share_outside", "share outside at most", "share of the elements that may lie outside atol and rtol, 0 to 1"}}};
constexpr std::array<LimitText, 1> kNonfinite{{{"max_samples", "samples at most", "samples with NaN or inf that FP32 has not and nothing explains"}}};
constexpr std::array<LimitText, 4> kDecisions{{{"max_flips", "flips at most", "decisions that differ from FP32's"},
                                               {"max_flip_rate", "flip rate at most", "of all decisions, 0 to 1"},
                                               {"no_flip_beyond_margin", "no flip beyond margin", "the largest FP32 margin that a flipped decision may have"},
                                               {"max_regressions", "regressions at most", "flips from right to wrong, by the labels"}}};
constexpr std::array<LimitText, 2> kAccuracy{{{"min", "accuracy at least", "of the candidate, 0 to 1", true}, {"max_drop", "accuracy drop at most", "FP32's less the candidate's, 0 to 1"}}};
constexpr std::array<LimitText, 2> kError{{{"max", "error at most", "of the candidate to the targets"}, {"max_increase", "increase at most", "the candidate's error less FP32's"}}};

class Lister {
 public:
  template <typename Texts>
  void addAll(const json& section, const std::string& place, const std::string& about, const Texts& texts) {
    for (const LimitText& text : texts) add(section, place, about, text.key, text.name, text.meaning, text.atLeast);
  }
  void addMetrics(const json& section, const std::string& place, const std::string& about, bool ofSites) {
    for (const Metric metric : allMetrics()) {
      if (!ofSites && (metric == Metric::introducedRelL2 || metric == Metric::inheritedRelL2)) continue;
      const std::string measured = unit(metric).empty() ? "the worst sample" : "the worst sample, in " + unit(metric);
      add(section, place, about, key(metric), label(metric), measured, smallerIsWorse(metric));
    }
  }
  std::vector<CriteriaLine> lines;

 private:
  void add(const json& section, const std::string& place, const std::string& about, const std::string& key, const std::string& name, const std::string& meaning, bool atLeast) {
    std::optional<double> limit;
    if (const auto at = section.find(key); at != section.end() && at->is_number()) limit = at->get<double>();
    lines.push_back({place + "/" + key, about, name, key, meaning, limit, section.contains(key), atLeast});
  }
};

std::string textAt(const json& section, const char* key, const std::string& otherwise) {
  const auto at = section.find(key);
  return at != section.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

json& list(json& document, const char* key) {
  if (!document.contains(key) || !document[key].is_array()) document[key] = json::array();
  return document[key];
}

bool isLimit(const std::string& key, const json& value) { return (value.is_number() || value.is_null()) && key != "schema"; }

// True where a limit is left.
bool dropEmpty(json& section) {
  bool hasLimit = false;
  for (auto at = section.begin(); at != section.end();) {
    if (at->is_null()) {
      at = section.erase(at);
      continue;
    }
    hasLimit = hasLimit || isLimit(at.key(), *at);
    ++at;
  }
  return hasLimit;
}

}  // namespace

Result<std::vector<CriteriaLine>> criteriaLines(const json& document) {
  const Error odd{ErrorKind::input, "is no criteria file", "criteria", "`ulpscope criteria new` writes one"};
  if (!document.is_object()) return odd;
  Lister lister;
  const auto each = [&](const char* key, const auto& use) {
    const json sections = document.value(key, json::array());
    if (!sections.is_array()) return false;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (!sections[i].is_object()) return false;
      use(sections[i], "/" + std::string(key) + "/" + std::to_string(i));
    }
    return true;
  };
  const auto one = [&](const char* key, const std::string& about, const auto& texts) {
    const json section = document.value(key, json::object());
    if (section.is_object()) lister.addAll(section, "/" + std::string(key), about, texts);
    return section.is_object();
  };
  bool good = one("nonfinite", "non-finite", kNonfinite) && one("decisions", "decisions", kDecisions);
  good = good && each("quality", [&](const json& section, const std::string& place) {
    const std::string measure = textAt(section, "measure", "accuracy");
    lister.addAll(section, place, "quality: " + measure, measure == "accuracy" ? kAccuracy : kError);
  });
  good = good && each("outputs", [&](const json& section, const std::string& place) {
    const std::string output = textAt(section, "output", "*"), about = output == "*" ? "every output" : "output '" + output + "'";
    lister.addAll(section, place, about, kTolerance);
    lister.addMetrics(section, place, about, false);
  });
  good = good && each("sites", [&](const json& section, const std::string& place) {
    const std::string sites = textAt(section, "sites", ".");
    lister.addMetrics(section, place, sites == "." ? "every op site" : "op sites " + sites, true);
  });
  if (!good) return odd;
  return std::move(lister.lines);
}

json withLimit(json document, const std::string& pointer, std::optional<double> limit) {
  document[json::json_pointer(pointer)] = limit ? json(*limit) : json(nullptr);
  return document;
}

json withSites(json document, const std::string& sites) {
  list(document, "sites").push_back({{"id", "sites " + sites}, {"sites", sites}});
  return document;
}

json withOutput(json document, const std::string& output) {
  list(document, "outputs").push_back({{"id", output}, {"output", output}});
  return document;
}

json withoutSection(json document, const std::string& pointer) {
  const json::json_pointer section = json::json_pointer(pointer).parent_pointer();
  const json::json_pointer above = section.parent_pointer();
  json& holder = document[above];
  if (holder.is_array())
    holder.erase(static_cast<std::size_t>(std::stoul(section.back())));
  else
    holder.erase(section.back());
  return document;
}

json withoutEmptyLimits(json document) {
  if (!document.is_object()) return document;
  for (const char* key : {"nonfinite", "decisions"})
    if (document.contains(key) && document[key].is_object() && !dropEmpty(document[key])) document.erase(key);
  for (const char* key : {"outputs", "quality", "sites"}) {
    if (!document.contains(key) || !document[key].is_array()) continue;
    json kept = json::array();
    for (json& section : document[key])
      if (!section.is_object() || dropEmpty(section)) kept.push_back(section);
    document[key] = kept;
    if (kept.empty()) document.erase(key);
  }
  return document;
}

}  // namespace ulpscope::session
