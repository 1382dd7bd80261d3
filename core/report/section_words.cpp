// Words that several sections of a report use.
#include "core/base/float_formats.h"
#include "core/base/number_text.h"
#include "core/report/overview.h"
#include "core/report/sections.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using session::JudgedAs;

std::string valuesText(const Phrasebook& book, const session::NonfiniteCounts& counts) {
  std::string text;
  for (const auto& [count, word] : {std::pair{counts.nan, "NaN"}, {counts.plusInf, "+inf"}, {counts.minusInf, "-inf"}})
    if (count > 0) text += (text.empty() ? "" : book.say("list.and")) + word;
  return text;
}

Text samplesOf(const Phrasebook& book, const session::NonfiniteFinding& finding) {
  if (finding.wholeBatch || finding.sampleIds.empty()) return book.say("diagnosis.batch");
  constexpr std::size_t kMost = 6;
  std::vector<std::string> shown(finding.sampleIds.begin(), finding.sampleIds.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, finding.sampleIds.size())));
  Text ids = codes(shown);
  if (finding.sampleIds.size() > kMost) ids = book.text("list.more", {ids, book.count(static_cast<std::int64_t>(finding.sampleIds.size() - kMost))});
  return book.text(finding.sampleIds.size() == 1 ? "diagnosis.sample" : "diagnosis.samples", {ids});
}

std::string causeText(const Phrasebook& book, const std::string& cause) {
  constexpr std::string_view kCast = "overflow in the cast of operand '";
  if (cause.starts_with(kCast)) return book.say("cause.cast", {cause.substr(kCast.size(), cause.size() - kCast.size() - 1)});
  return book.stored("cause", cause);
}

}  // namespace

std::string lowFormat(const session::RunSettings& settings) { return settings.autocast == base::DType::bfloat16 ? "BF16" : "FP16"; }

std::string moduleText(const Phrasebook& book, const std::string& path) { return path.empty() ? book.say("root") : path; }

std::string siteText(const session::RunRecord& run, std::int64_t site) {
  return site >= 0 && static_cast<std::size_t>(site) < run.sites.size() ? siteLabel(run.sites[static_cast<std::size_t>(site)]) : "–";
}

std::string runTitle(const session::Session& session, const session::RunRecord& run) {
  const std::string given = session.runName(run.number);
  return given.empty() ? run.id() : run.id() + " “" + given + "”";
}

Cell statusCell(const Phrasebook& book, std::optional<JudgedAs> status) {
  if (!status) return {muted(book.say("status.notJudged")), Tone::muted};
  if (*status == JudgedAs::pass) return {strong("✓\u00A0" + book.say("status.pass")), Tone::good};
  if (*status == JudgedAs::fail) return {strong("✕\u00A0" + book.say("status.fail")), Tone::bad};
  return {strong("–\u00A0" + book.say("status.notEvaluated")), Tone::warn};
}

Cell numberCell(const Phrasebook& book, double value) { return std::isnan(value) ? Cell{"–", Tone::muted} : Cell{book.cell(value)}; }

std::string timeText(const std::string& utc) {
  return utc.size() >= 16 && utc[10] == 'T' ? utc.substr(0, 10) + " " + utc.substr(11, 5) + " UTC" : utc;
}

// English: the engine's own sentence, as window and command line have it.
Text diagnosis(const Teller& t, const session::NonfiniteFinding& finding) {
  if (t.book.language() == Language::english && !finding.diagnosis.empty()) {
    const std::string& d = finding.diagnosis;
    return Text(d.ends_with('.') ? d.substr(0, d.size() - 1) : d);
  }
  const Text place = code(moduleText(t.book, finding.modulePath));
  const std::string most = std::isnan(finding.reference.maxAbs) ? "–" : t.book.grouped(finding.reference.maxAbs);
  if (finding.op.empty()) return t.book.text("diagnosis.before", {Text(t.book.stored("stage", finding.stage)), Text(valuesText(t.book, finding.counts)), samplesOf(t.book, finding)});
  if (finding.cause == "overflow") return t.book.text("diagnosis.overflow", {place, code(finding.op), most, t.book.grouped(base::limits(t.run->settings.autocast).maxFinite), samplesOf(t.book, finding)});
  return t.book.text("diagnosis.other", {place, code(finding.op), Text(valuesText(t.book, finding.counts)), Text(causeText(t.book, finding.cause)), most, samplesOf(t.book, finding)});
}

std::string flipsSentence(const Teller& t, const FlipFacts& facts) {
  if (facts.decided == 0) return t.say("plain.noneDecided");
  const bool hasRate = t.run->settings.onlySamples.empty() && t.run->status == session::RunStatus::ok;
  if (!hasRate) return t.book.counted("plain.flips", facts.flips, {t.book.count(facts.decided)});
  const std::string rate = rateSentence(t.book, facts.flips, facts.decided);
  return facts.flips == 0 ? t.say("plain.noFlips", {rate}) : t.book.counted("plain.flipsRate", facts.flips, {rate});
}

std::string reasonText(const Teller& t, const std::string& reason) {
  constexpr std::string_view kBaseline = "FP32 is no baseline: ", kRaised = "the candidate raised in ";
  if (reason.starts_with(kBaseline)) return t.say("reason.baseline", {reason.substr(kBaseline.size())});
  if (reason.starts_with(kRaised)) return t.say("reason.raised", {reason.substr(kRaised.size())});
  return t.book.stored("reason", reason);
}

}  // namespace ulpscope::report
