#include "core/report/report_csv.h"

#include "core/base/number_text.h"
#include "core/base/xml_text.h"
#include "core/session/outcome.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace ulpscope::report {
namespace {

using session::Metric;
using session::SiteSummary;

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string numberText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return base::roundTripNumber(value);
}

// Nine digits tell any two float32 apart; all 17 of a double would make 10,000 op sites a file of more than 5 MB.
std::string metricText(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : numberText(value); }

class Row {
 public:
  Row& text(const std::string& raw) {
    const std::string valid = base::validUtf8(raw);
    const bool isFormula = !valid.empty() && std::string_view("=+-@\t\r").find(valid.front()) != std::string_view::npos;
    return cell(quoted(isFormula ? "'" + valid : valid));
  }
  Row& number(double value) { return cell(numberText(value)); }
  Row& evaluated(double value) { return cell(std::isnan(value) ? "" : metricText(value)); }  // NaN: not evaluated
  Row& evaluated(const std::optional<double>& value) { return cell(value ? metricText(*value) : ""); }
  Row& count(std::int64_t value) { return cell(std::to_string(value)); }
  Row& empty() { return cell(""); }
  std::string end() const { return m_line + "\r\n"; }

 private:
  Row& cell(const std::string& value) {
    m_line += (m_isFirst ? "" : ",") + value;
    m_isFirst = false;
    return *this;
  }
  std::string m_line;
  bool m_isFirst = true;
};

std::string sitesHead() {
  std::string head = std::string(kSitesHead) +
                     "overload,occurrence,output,source,reference_dtype,candidate_dtype,policy,sample_axis,view_of,role,nan,plus_inf,minus_inf,elements,elements_over_tolerance,differing_elements,worst_sample,"
                     "noise_floor_rel_l2,reference_error_to_fp64,candidate_error_to_fp64";
  for (const Metric metric : session::allMetrics()) head += "," + session::key(metric);
  return head + "\r\n";
}

std::string siteRow(const ReportContent& content, const session::RunRecord& run, std::size_t index) {
  const SiteSummary& s = run.sites[index];
  const auto& ids = content.session.samples.ids;
  Row row;
  row.text(run.id()).count(static_cast<std::int64_t>(index)).text(s.modulePath).text(s.op).text(s.overload).count(s.occurrence).count(s.output).text(s.source);
  row.text(base::name(s.referenceDtype)).text(base::name(s.candidateDtype)).text(s.policyClass).text(s.sampleAxis).text(s.viewOf).text(session::name(s.role));
  row.count(s.candidateOnly.nan).count(s.candidateOnly.plusInf).count(s.candidateOnly.minusInf).count(s.elements).count(s.elementsOverTolerance).count(s.differingElements);
  const bool isKnown = s.worstSample >= 0 && static_cast<std::size_t>(s.worstSample) < ids.size();
  row.text(isKnown ? ids[static_cast<std::size_t>(s.worstSample)] : "");
  row.evaluated(s.noiseFloorRelL2).evaluated(s.referenceErrorToFp64).evaluated(s.candidateErrorToFp64);
  for (const Metric metric : session::allMetrics()) s.viewOf.empty() ? row.evaluated(s.values[metric]) : row.empty();
  return row.end();
}

std::string flipsHead() {
  return std::string(kFlipsHead) + "reference_name,candidate_name,label,label_name,reference_margin,candidate_margin,kind,effect,positions,first_position,within_noise_floor,first_site_over_tolerance\r\n";
}

std::string flipRow(const ReportContent& content, const session::RunRecord& run, const session::Flip& flip) {
  const session::DecisionRule& rule = run.settings.decision;
  const auto& samples = content.session.samples;
  const bool hasMargins = rule.errorsToFlip() > 0;
  const bool isLabelled = flip.sample >= 0 && static_cast<std::size_t>(flip.sample) < samples.labels.size();
  const std::int64_t label = isLabelled ? samples.labels[static_cast<std::size_t>(flip.sample)] : 0;
  const auto site = static_cast<std::size_t>(flip.firstSiteOverTolerance);
  Row row;
  row.text(run.id()).text(flip.sampleId).count(flip.referenceDecision).count(flip.candidateDecision);
  row.text(session::decisionName(rule, flip.referenceDecision, samples.classNames)).text(session::decisionName(rule, flip.candidateDecision, samples.classNames));
  isLabelled ? row.count(label).text(session::decisionName(rule, label, samples.classNames)) : row.empty().empty();
  hasMargins ? row.number(flip.referenceMargin).number(flip.candidateMargin) : row.empty().empty();
  row.text(flip.kind).text(flip.effect).count(static_cast<std::int64_t>(flip.positions.size()));
  flip.positions.empty() ? row.empty() : row.count(flip.positions.front());
  row.text(flip.withinNoiseFloor ? "true" : "false").text(flip.firstSiteOverTolerance >= 0 && site < run.sites.size() ? siteLabel(run.sites[site]) : "");
  return row.end();
}

}  // namespace

std::string sitesCsv(const ReportContent& content) {
  std::string out = sitesHead();
  const session::RunRecord* run = content.isCovered ? nullptr : content.run();
  for (std::size_t i = 0; run && i < run->sites.size(); ++i) out += siteRow(content, *run, i);
  return out;
}

std::string flipsCsv(const ReportContent& content) {
  std::string out = flipsHead();
  const session::RunRecord* run = content.isCovered ? nullptr : content.run();
  if (!run) return out;
  for (const session::Flip* flip : session::flipsByOutcome(*run)) out += flipRow(content, *run, *flip);
  return out;
}

}  // namespace ulpscope::report
