#include "core/session/criteria.h"

#include "core/base/hashing.h"
#include "core/session/json_section.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;
using Kind = Criterion::Kind;

constexpr const char* kFillIn = "`ulpscope criteria new` writes a file to fill in";

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& remedy = "") { failAt("criteria", where, what, remedy); }

class Reader {
 public:
  explicit Reader(Criteria& criteria) : m_criteria(criteria) {}

  void read(const json& document) {
    Section file(document, "criteria");
    if (!file.has("schema")) fail("schema", "is missing", "this version reads schema 1");
    if (!file.at("schema").is_number_integer()) fail("schema", file.at("schema").dump() + " is no whole number", "this version reads schema 1");
    if (file.at("schema") != 1) fail("schema", file.at("schema").dump() + " is not the schema that this version reads", "use schema 1, or a newer Ulpscope");
    m_criteria.title = file.text("title");
    if (file.has("decision")) readDecision(file.section("decision"));
    m_criteria.allowNonfinite = file.texts("allow_nonfinite");
    forEach(file, "outputs", [this](Section s) { readOutput(std::move(s)); });
    if (file.has("nonfinite")) readNonfinite(file.section("nonfinite"));
    if (file.has("decisions")) readDecisions(file.section("decisions"));
    forEach(file, "quality", [this](Section s) { readQuality(std::move(s)); });
    forEach(file, "sites", [this](Section s) { readSites(std::move(s)); });
    file.refuseUnknown();
    if (m_criteria.list.empty()) fail("", "there is no limit in it, so there is nothing to judge", "give at least one of outputs, nonfinite, decisions, quality and sites a limit");
  }

 private:
  Criteria& m_criteria;
  std::set<std::string> m_ids;

  template <typename F>
  static void forEach(Section& file, const char* key, F read) {
    for (Section& entry : file.sections(key)) read(std::move(entry));
  }

  std::string idOf(Section& section, const std::string& otherwise) {
    const std::string id = section.text("id", otherwise);
    if (id.empty()) fail(section.where("id"), "is missing", "every criterion needs an id");
    if (!m_ids.insert(id).second) fail(section.where("id"), "'" + id + "' stands twice", "give every criterion an id of its own");
    return id;
  }

  Criterion& add(Kind kind, const std::string& id, const std::string& measure, double limit) {
    Criterion criterion;
    criterion.kind = kind;
    criterion.id = id + "." + measure;
    criterion.limit = limit;
    m_criteria.list.push_back(criterion);
    return m_criteria.list.back();
  }

  void needOne(const Section& section, std::size_t before) {
    if (m_criteria.list.size() == before) fail(section.place(), "has no limit", "give it one, or take it out");
  }

  void readDecision(Section s) {
    if (s.has("rule")) {
      auto rule = parseDecisionRule(s.text("rule"));
      if (!rule) fail(s.where("rule"), "'" + s.text("rule") + "' " + rule.error().what, rule.error().remedy);
      m_criteria.decision = rule.value();
    }
    m_criteria.decisionOutput = s.text("output");
    if (s.has("tie")) {
      m_criteria.tie = tieRuleFromName(s.text("tie"));
      if (!m_criteria.tie) fail(s.where("tie"), "'" + s.text("tie") + "' is no tie rule", "use first, flag or refuse");
    }
    s.refuseUnknown();
  }

  void readMetrics(Section& s, const std::string& id, Kind kind, const std::string& target) {
    for (const Metric metric : allMetrics()) {
      // What an op adds is a matter of op sites.
      if (kind == Kind::outputMetric && (metric == Metric::introducedRelL2 || metric == Metric::inheritedRelL2)) continue;
      const std::string name = key(metric);
      if (const auto limit = s.limit(name.c_str(), Section::kLargest, smallerIsWorse(metric) ? -Section::kLargest : 0)) {
        Criterion& criterion = add(kind, id, name, *limit);
        criterion.target = target;
        criterion.metric = metric;
      }
    }
  }

  void readOutput(Section s) {
    const std::string target = s.text("output", "*"), id = idOf(s, target == "*" ? "outputs" : target);
    const std::size_t before = m_criteria.list.size();
    const auto atol = s.limit("atol"), rtol = s.limit("rtol"), share = s.limit("max_share_outside", 1);
    if (share && !atol && !rtol) fail(s.where("max_share_outside"), "needs atol, rtol or both");
    if (atol || rtol) {
      Criterion& criterion = add(share ? Kind::shareOutside : Kind::tolerance, id, share ? "share_outside" : "tolerance", share.value_or(1));
      criterion.target = target;
      criterion.atol = atol.value_or(0);
      criterion.rtol = rtol.value_or(0);
    }
    readMetrics(s, id, Kind::outputMetric, target);
    s.refuseUnknown();
    needOne(s, before);
  }

  void readNonfinite(Section s) {
    const std::string id = idOf(s, "nonfinite");
    const std::size_t before = m_criteria.list.size();
    if (const auto limit = s.limit("max_samples")) add(Kind::nonfinite, id, "samples", *limit);
    s.refuseUnknown();
    needOne(s, before);
  }

  void readDecisions(Section s) {
    const std::string id = idOf(s, "decisions");
    const std::size_t before = m_criteria.list.size();
    if (const auto limit = s.limit("max_flips")) add(Kind::flips, id, "flips", *limit);
    if (const auto limit = s.limit("max_flip_rate", 1)) add(Kind::flipRate, id, "flip_rate", *limit);
    if (const auto limit = s.limit("no_flip_beyond_margin")) add(Kind::flipMargin, id, "flip_margin", *limit);
    if (const auto limit = s.limit("max_regressions")) add(Kind::regressions, id, "regressions", *limit);
    m_criteria.noDecisionIsFlip = s.flag("no_decision_is_flip", true);
    m_criteria.noiseFlipsCount = s.flag("flips_within_noise_floor_count", true);
    s.refuseUnknown();
    needOne(s, before);
  }

  void readQuality(Section s) {
    const std::string measure = s.text("measure", "accuracy"), id = idOf(s, measure);
    const std::size_t before = m_criteria.list.size();
    if (measure == "accuracy") {
      if (const auto limit = s.limit("min", 1)) add(Kind::accuracy, id, "min", *limit);
      if (const auto limit = s.limit("max_drop", 1)) add(Kind::accuracyDrop, id, "drop", *limit);
    } else if (measure == "mean_error" || measure == "root_mean_square_error" || measure == "max_error") {
      if (const auto limit = s.limit("max")) add(Kind::error, id, "max", *limit).errorMeasure = measure;
      if (const auto limit = s.limit("max_increase")) add(Kind::errorIncrease, id, "increase", *limit).errorMeasure = measure;
    } else {
      fail(s.where("measure"), "'" + measure + "' is no measure of quality", "use accuracy, mean_error, root_mean_square_error or max_error");
    }
    s.refuseUnknown();
    needOne(s, before);
  }

  void readSites(Section s) {
    const std::string target = s.text("sites", "."), id = idOf(s, "sites " + target);
    const std::size_t before = m_criteria.list.size();
    readMetrics(s, id, Kind::siteMetric, target);
    s.refuseUnknown();
    needOne(s, before);
  }
};

}  // namespace

bool Criterion::atLeast() const {
  const bool metrics = kind == Kind::outputMetric || kind == Kind::siteMetric;
  return kind == Kind::accuracy || (metrics && smallerIsWorse(metric));
}

Result<Criteria> criteriaFromJson(const json& document) try {
  Criteria criteria;
  Reader(criteria).read(document);
  criteria.canonical = document.dump();
  criteria.sha256 = base::sha256(criteria.canonical);
  return criteria;
} catch (const SectionFault& fault) {
  return fault.error;
} catch (const json::exception& e) {
  return Error{ErrorKind::input, std::string("cannot be read: ") + e.what(), "criteria", ""};
}

Result<Criteria> criteriaFromText(const std::string& text) {
  const auto document = parseJson(text, "criteria", kFillIn);
  if (!document) return document.error();
  return criteriaFromJson(document.value());
}

Result<Criteria> readCriteria(const std::string& path) {
  const auto document = readJsonFile(path, kFillIn);
  if (!document) return document.error();
  const auto criteria = criteriaFromJson(document.value());
  return criteria ? criteria : criteria.error().within(path);
}

void takeOver(const Criteria& criteria, RunSettings& settings) {
  if (criteria.decision) settings.decision = *criteria.decision;
  if (!criteria.decisionOutput.empty()) settings.decisionOutput = criteria.decisionOutput;
  if (criteria.tie) settings.tie = *criteria.tie;
  for (const std::string& rule : criteria.allowNonfinite)
    if (std::find(settings.allowNonfinite.begin(), settings.allowNonfinite.end(), rule) == settings.allowNonfinite.end()) settings.allowNonfinite.push_back(rule);
}

json criteriaTemplate(const std::vector<std::string>& outputs, const DecisionRule& decision) {
  json document = {{"schema", 1}, {"title", ""}, {"allow_nonfinite", json::array()}, {"outputs", json::array()}, {"nonfinite", {{"id", "finite"}, {"max_samples", nullptr}}}};
  for (const std::string& output : outputs)
    document["outputs"].push_back({{"id", output}, {"output", output}, {"atol", nullptr}, {"rtol", nullptr}, {"rel_l2", nullptr}, {"max_ulp", nullptr}});
  if (decision.decides()) {
    document["decision"] = {{"rule", decision.text()}, {"tie", "first"}};
    document["decisions"] = {{"id", "decisions"}, {"max_flips", nullptr}, {"no_flip_beyond_margin", nullptr}, {"no_decision_is_flip", true}};
    document["quality"] = json::array({{{"id", "accuracy"}, {"measure", "accuracy"}, {"min", nullptr}, {"max_drop", nullptr}}});
  }
  if (decision.kind == DecisionRule::Kind::regression) {
    document["decision"] = {{"rule", decision.text()}};
    document["quality"] = json::array({{{"id", "error"}, {"measure", "mean_error"}, {"max", nullptr}, {"max_increase", nullptr}}});
  }
  return document;
}

}  // namespace ulpscope::session
