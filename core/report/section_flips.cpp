// Decisions: how many flip and how many could, the margin plot, and each flip with a picture of its sample.
#include "core/report/figures.h"
#include "core/report/overview.h"
#include "core/report/sections.h"
#include "core/session/outcome.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::report {
namespace {

using session::DecisionRule;
using session::Flip;
using session::RunRecord;

std::string decisionName(const Teller& t, std::int64_t decision, const std::vector<session::ScoredClass>& top) {
  const bool isNamed = !top.empty() && top.front().index == decision && !top.front().name.empty();
  return isNamed ? top.front().name : session::decisionName(t.run->settings.decision, decision, t.content.session.samples.classNames);
}

Cell marginCell(const Teller& t, double margin) { return t.run->settings.decision.errorsToFlip() == 0 ? Cell{"–", Tone::muted} : numberCell(t.book, margin); }

Cell sampleCell(const Teller& t, const Flip& flip) {
  Cell cell{code(flip.sampleId)};
  for (const SamplePicture& picture : t.content.pictures)
    if (picture.sampleId == flip.sampleId)
      if (render::Drawing drawing = thumbnailDrawing(picture); !drawing.isEmpty()) cell.picture = std::move(drawing);
  if (flip.withinNoiseFloor) cell.text = cell.text + Text(" *");
  return cell;
}

Text effectText(const Teller& t, const Flip& flip) {
  std::string text = t.book.stored("flip", flip.kind);
  if (!flip.effect.empty()) text = t.book.stored("outcome", flip.effect) + (flip.kind == "changed" ? "" : ", " + text);
  if (!flip.positions.empty()) text += ", " + t.book.counted("flips.positions", static_cast<std::int64_t>(flip.positions.size()));
  return text;
}

Text labelOf(const Teller& t, const Flip& flip) {
  const auto& labels = t.content.session.samples.labels;
  if (flip.sample < 0 || static_cast<std::size_t>(flip.sample) >= labels.size()) return "–";
  return session::decisionName(t.run->settings.decision, labels[static_cast<std::size_t>(flip.sample)], t.content.session.samples.classNames);
}

Table flipTable(const Teller& t) {
  const std::string low = lowFormat(t.run->settings);
  Table table{t.say("flips.caption"),
              {{t.say("flips.sample")}, {t.say("flips.label")}, {"FP32"}, {"AMP " + low}, {t.say("flips.marginFp32"), true}, {t.say("flips.marginAmp", {low}), true}, {t.say("flips.effect")}, {t.say("flips.firstSite")}}, {}, ""};
  const auto flips = session::flipsByOutcome(*t.run);
  for (std::size_t i = 0; i < std::min(flips.size(), kMostPictures); ++i) {
    const Flip& f = *flips[i];
    const Tone tone = f.effect == "regressed" ? Tone::bad : f.effect == "fixed" ? Tone::good : Tone::plain;
    table.rows.push_back({sampleCell(t, f), {labelOf(t, f)}, {Text(decisionName(t, f.referenceDecision, f.referenceTop))}, {Text(decisionName(t, f.candidateDecision, f.candidateTop))},
                          marginCell(t, f.referenceMargin), marginCell(t, f.candidateMargin), {effectText(t, f), tone},
                          {f.firstSiteOverTolerance < 0 ? Text("–") : code(siteText(*t.run, f.firstSiteOverTolerance))}});
  }
  if (flips.size() > kMostPictures) table.note = t.say("flips.more", {t.book.count(static_cast<std::int64_t>(kMostPictures)), t.book.count(static_cast<std::int64_t>(flips.size()))});
  if (std::any_of(flips.begin(), flips.end(), [](const Flip* f) { return f->withinNoiseFloor; })) table.note += (table.note.empty() ? "" : " ") + t.say("flips.noiseMark");
  return table;
}

std::string pictureNote(const Teller& t) {
  switch (t.content.noPictures) {
    case Absence::none:
    case Absence::covered: return "";
    case Absence::recorded: return t.say("pictures.recorded");
    case Absence::missing: return t.say("pictures.missing", {t.content.session.samples.path});
    case Absence::otherFile: return t.say("pictures.otherFile", {t.content.session.samples.path});
    case Absence::unreadable: return t.say("pictures.unreadable", {t.content.session.samples.path});
  }
  return "";
}

Text countText(const Teller& t, const FlipFacts& facts) {
  Text text = flipsSentence(t, facts);
  for (const auto& [count, key] : {std::pair{facts.regressed, "plain.regressed"}, {facts.fixed, "flips.fixed"}, {facts.wrongToWrong, "flips.wrongToWrong"}, {facts.tieFlips, "flips.ties"},
                                   {facts.noDecision, "plain.lost"}, {facts.noReferenceDecision, "flips.referenceLost"}, {facts.withinNoise, "plain.withinNoise"}})
    if (count > 0) text = text + t.book.counted(key, count);
  return text;
}

Text possibleText(const Teller& t, const FlipFacts& facts) {
  const int errors = t.run->settings.decision.errorsToFlip();
  if (errors == 0) return {};
  Text text = t.book.counted(errors == 2 ? "flips.possibleTwice" : "flips.possibleOnce", facts.possible);
  if (!std::isnan(facts.impossibleBeyond)) text = text + Text(t.say("flips.impossible", {t.book.number(facts.impossibleBeyond)}));
  if (facts.unbounded > 0) text = text + t.book.counted("flips.unbounded", facts.unbounded);
  return text;
}

void addRegression(const Teller& t, Section& section) {
  if (!t.run->regression || t.run->regression->elements == 0) {
    section.blocks.push_back(Paragraph{t.say("regression.none")});
    return;
  }
  const session::Regression& r = *t.run->regression;
  const std::string low = "AMP " + lowFormat(t.run->settings);
  Table table{t.say("regression.caption"), {{t.say("regression.what")}, {t.say("regression.mean"), true}, {t.say("regression.rms"), true}, {t.say("regression.max"), true}}, {}, ""};
  const auto add = [&](const std::string& what, const session::ErrorSizes& e) { table.rows.push_back({{what}, numberCell(t.book, e.mean), numberCell(t.book, e.rootMeanSquare), numberCell(t.book, e.max)}); };
  add(t.say("regression.toReference", {low}), r.candidateToReference);
  if (r.referenceToTarget) add(t.say("regression.toTarget", {"FP32"}), *r.referenceToTarget);
  if (r.candidateToTarget) add(t.say("regression.toTarget", {low}), *r.candidateToTarget);
  table.note = t.book.counted("regression.values", r.elements) + (r.notEvaluated > 0 ? " " + t.book.counted("regression.notEvaluated", r.notEvaluated) : "");
  section.blocks.push_back(std::move(table));
}

void addAccumulation(const Teller& t, Section& section) {
  if (!t.run->accumulation || t.run->accumulation->flips < 0) return;
  const bool isStrict = t.run->settings.accumulate == session::Accumulate::strict;
  section.blocks.push_back(Paragraph{t.say(isStrict ? "flips.otherwiseParts" : "flips.otherwiseFloat", {t.book.count(t.run->accumulation->flipsOtherwise), t.book.count(t.run->accumulation->flips)})});
}

}  // namespace

Section flipsSection(const Teller& t) {
  Section section{"flips", t.say("flips.title"), {}};
  if (!t.run) return section;
  const DecisionRule& rule = t.run->settings.decision;
  if (rule.kind == DecisionRule::Kind::none) {
    section.blocks.push_back(Paragraph{t.say("flips.noRule")});
    return section;
  }
  if (!rule.decides()) {
    addRegression(t, section);
    return section;
  }
  const FlipFacts facts = flipFacts(t.content.session, *t.run);
  const Text possible = possibleText(t, facts);
  section.blocks.push_back(Paragraph{countText(t, facts) + (possible.empty() ? Text() : Text(" ") + possible)});
  addAccumulation(t, section);
  if (rule.errorsToFlip() > 0 && facts.decided > 0) section.blocks.push_back(marginFigure(t, facts));
  if (t.run->flips.empty()) return section;
  section.blocks.push_back(flipTable(t));
  if (const std::string why = pictureNote(t); !why.empty()) section.blocks.push_back(Paragraph{why, Tone::muted});
  return section;
}

}  // namespace ulpscope::report
