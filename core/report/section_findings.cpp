// Where the runs part: heatmap, outputs, worst op sites; non-finite origins; headroom.
#include "core/base/float_formats.h"
#include "core/base/number_text.h"
#include "core/render/headroom.h"
#include "core/report/figures.h"
#include "core/report/sections.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using session::Metric;
using session::RunRecord;
using session::SiteSummary;

constexpr std::size_t kMostRows = 12;

std::string andMore(const Teller& t, std::size_t total, const char* key = "table.more") {
  return total > kMostRows ? t.say(key, {t.book.count(static_cast<std::int64_t>(kMostRows)), t.book.count(static_cast<std::int64_t>(total))}) : "";
}

Cell optionalCell(const Teller& t, const std::optional<double>& value) { return value ? numberCell(t.book, *value) : Cell{"–", Tone::muted}; }

std::string nonfiniteText(const Teller& t, const session::NonfiniteCounts& c) {
  return c.total() == 0 ? "–" : t.say("nonfinite.counts", {t.book.count(c.nan), t.book.count(c.plusInf), t.book.count(c.minusInf)});
}

Table outputsTable(const Teller& t) {
  Table table{t.say("outputs.caption"), {{t.say("outputs.name")}, {"dtype"}, {t.say("outputs.relL2"), true}, {t.say("outputs.maxAbs"), true}, {t.say("outputs.maxUlp"), true}, {t.say("outputs.differing"), true}, {t.say("outputs.nonfinite")}}, {}, ""};
  for (std::size_t i = 0; i < std::min(t.run->outputs.size(), kMostRows); ++i) {
    const session::OutputSummary& o = t.run->outputs[i];
    const bool isInexact = base::isInexact(o.dtype);
    table.rows.push_back({{code(o.name)}, {base::name(o.dtype)}, optionalCell(t, o.relL2), optionalCell(t, o.maxAbs), optionalCell(t, o.maxUlp),
                          {isInexact ? std::string("–") : t.say("outputs.of", {t.book.count(o.differingElements), t.book.count(o.elements)})}, {nonfiniteText(t, o.nonfinite), o.nonfinite.total() > 0 ? Tone::bad : Tone::muted}});
  }
  table.note = andMore(t, t.run->outputs.size());
  return table;
}

// By introduced error where it was measured (where it starts), else by the error itself.
std::vector<const SiteSummary*> worstSites(const RunRecord& run, Metric by) {
  std::vector<const SiteSummary*> sites;
  for (const SiteSummary& site : run.sites)
    if (site.viewOf.empty() && site.values[by] > 0) sites.push_back(&site);
  std::stable_sort(sites.begin(), sites.end(), [by](const auto* a, const auto* b) { return a->values[by] > b->values[by]; });
  return sites;
}

Table sitesTable(const Teller& t) {
  const bool hasIntroduced = std::any_of(t.run->sites.begin(), t.run->sites.end(), [](const SiteSummary& s) { return s.values[Metric::introducedRelL2] > 0; });
  const auto sites = worstSites(*t.run, hasIntroduced ? Metric::introducedRelL2 : Metric::relL2);
  Table table{t.say(hasIntroduced ? "sites.captionIntroduced" : "sites.caption"),
              {{t.say("sites.site")}, {"dtype"}, {t.say("sites.introduced"), true}, {t.say("outputs.relL2"), true}, {t.say("outputs.maxAbs"), true}, {t.say("sites.worst")}}, {}, ""};
  const auto& ids = t.content.session.samples.ids;
  for (std::size_t i = 0; i < std::min(sites.size(), kMostRows); ++i) {
    const SiteSummary& s = *sites[i];
    const bool isKnown = s.worstSample >= 0 && static_cast<std::size_t>(s.worstSample) < ids.size();
    table.rows.push_back({{code(siteLabel(s))}, {base::name(s.candidateDtype)}, numberCell(t.book, s.values[Metric::introducedRelL2]), numberCell(t.book, s.values[Metric::relL2]),
                          numberCell(t.book, s.values[Metric::maxAbs]), {isKnown ? code(ids[static_cast<std::size_t>(s.worstSample)]) : Text(t.say("diagnosis.batch"))}});
  }
  table.note = andMore(t, sites.size(), "sites.more");
  return table;
}

Table originsTable(const Teller& t, const std::vector<session::NonfiniteFinding>& findings, const char* caption) {
  Table table{t.say(caption), {{t.say("origin.place")}, {t.say("origin.cause")}, {t.say("origin.operands")}, {t.say("origin.values")}, {t.say("origin.samples")}}, {}, ""};
  for (std::size_t i = 0; i < std::min(findings.size(), kMostRows); ++i) {
    const session::NonfiniteFinding& f = findings[i];
    Text place = f.op.empty() ? Text(t.book.stored("stage", f.stage)) : code(moduleText(t.book, f.modulePath)) + Text(" ") + code(f.op + (f.overload.empty() ? "" : "." + f.overload));
    if (!f.source.empty()) place = place + Text(" ") + muted(f.source);
    Text cause = t.book.stored("cause", f.cause);
    if (f.rootCause) cause = cause + t.book.text("origin.root", {code(f.rootCause->op), code(moduleText(t.book, f.rootCause->modulePath)), Text(f.rootCause->why)});
    if (!f.explainedBy.empty()) cause = cause + t.book.text("origin.intended", {code(f.explainedBy)});
    Text operands;
    for (const session::OperandRange& o : f.operands)
      operands = operands + (operands.empty() ? Text() : Text("; ")) + code(o.name) + Text(" " + base::name(o.dtype) + ", |x| ≤ " + (std::isnan(o.range.maxAbs) ? "–" : t.book.groupedCell(o.range.maxAbs)));
    std::vector<std::string> ids = f.sampleIds;
    Text samples = f.wholeBatch || ids.empty() ? Text(t.say("diagnosis.batch")) : Text();
    if (samples.empty()) {
      const std::size_t total = ids.size();
      ids.resize(std::min<std::size_t>(total, 6));
      samples = total > ids.size() ? t.book.text("list.more", {codes(ids), t.book.count(static_cast<std::int64_t>(total - ids.size()))}) : codes(ids);
    }
    table.rows.push_back({{place}, {cause}, {operands}, {nonfiniteText(t, f.counts)}, {samples}});
  }
  table.note = andMore(t, findings.size());
  return table;
}

Table tightTable(const Teller& t, const std::vector<render::HeadroomSite>& sites) {
  std::vector<render::HeadroomSite> shown;
  for (const render::HeadroomSite& s : sites)
    if (s.state != render::HeadroomState::ample) shown.push_back(s);
  std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return std::isnan(b.bits) ? !std::isnan(a.bits) : a.bits < b.bits; });
  Table table{t.say("headroom.caption"), {{t.say("sites.site")}, {t.say("headroom.maxFp32"), true}, {t.say("headroom.maxAmp"), true}, {t.say("headroom.bits"), true}, {t.say("headroom.state")}}, {}, andMore(t, shown.size())};
  const auto number = [&](double v) { return std::isnan(v) ? Cell{"–", Tone::muted} : Cell{t.book.groupedCell(v)}; };
  for (std::size_t i = 0; i < std::min(shown.size(), kMostRows); ++i) {
    const render::HeadroomSite& s = shown[i];
    table.rows.push_back({{code(siteText(*t.run, s.site))}, number(s.referenceMax), number(s.candidateMax), numberCell(t.book, s.bits),
                          {t.book.stored("headroom", render::label(s.state)), s.state == render::HeadroomState::overflow ? Tone::bad : Tone::warn}});
  }
  return table;
}

}  // namespace

Section divergenceSection(const Teller& t) {
  Section section{"divergence", t.say("divergence.title"), {}};
  if (!t.run) return section;
  if (t.run->settings.observe == session::Observe::outputs) section.blocks.push_back(Paragraph{t.say("divergence.outputsOnly")});
  else if (!t.content.metrics) section.blocks.push_back(Paragraph{t.say("divergence.noMetrics"), Tone::warn});
  else if (!t.run->sites.empty()) {
    section.blocks.push_back(Paragraph{t.say("divergence.lead")});
    section.blocks.push_back(heatmapFigure(t));
  }
  if (!t.run->outputs.empty()) section.blocks.push_back(outputsTable(t));
  Table sites = sitesTable(t);
  if (!sites.rows.empty()) section.blocks.push_back(std::move(sites));
  else if (!t.run->sites.empty()) section.blocks.push_back(Paragraph{t.say("divergence.allEqual")});
  return section;
}

Section nonfiniteSection(const Teller& t) {
  Section section{"nonfinite", t.say("nonfinite.title"), {}};
  if (!t.run) return section;
  const RunRecord& run = *t.run;
  if (!run.nonfiniteOrigins.empty()) {
    section.blocks.push_back(Paragraph{t.book.text("nonfinite.first", {diagnosis(t, run.nonfiniteOrigins.front())}) + Text(" " + t.book.counted("nonfinite.consequences", run.consequenceSites))});
    section.blocks.push_back(originsTable(t, run.nonfiniteOrigins, "nonfinite.caption"));
  } else if (!run.nonfiniteSamples.empty()) {
    section.blocks.push_back(Paragraph{t.book.counted("plain.nonfiniteOutputs", static_cast<std::int64_t>(run.nonfiniteSamples.size()))});
  } else {
    section.blocks.push_back(Paragraph{t.say(run.sites.empty() ? "nonfinite.notLooked" : "nonfinite.none")});
  }
  if (!run.referenceNonfinite.empty()) section.blocks.push_back(originsTable(t, run.referenceNonfinite, "nonfinite.referenceCaption"));
  return section;
}

Section headroomSection(const Teller& t) {
  Section section{"headroom", t.say("headroom.title"), {}};
  if (!t.run) return section;
  const std::vector<render::HeadroomSite> sites = render::headroomSites(*t.run);
  if (sites.empty()) {
    section.blocks.push_back(Paragraph{t.say("headroom.none")});
    return section;
  }
  section.blocks.push_back(Paragraph{t.say("headroom.lead", {base::name(t.run->settings.autocast), t.book.grouped(base::limits(t.run->settings.autocast).maxFinite)})});
  section.blocks.push_back(headroomFigure(t, sites));
  Table table = tightTable(t, sites);
  if (!table.rows.empty()) section.blocks.push_back(std::move(table));
  else section.blocks.push_back(Paragraph{t.say("headroom.ample")});
  return section;
}

}  // namespace ulpscope::report
