#include "core/report/scan_text.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ulpscope::report {
namespace {

using base::counted;
using base::exactNumber;
using base::shortNumber;
using session::Crossing;
using session::Scan;
using session::Stretch;

constexpr std::size_t kMostShown = 6, kMostSamples = 10;

std::string row(const std::string& title, const std::string& text) { return fmt::format("{:<12} {}\n", title, text); }

// The first few, and how many more there are.
template <typename T, typename TextOf>
std::string listText(const std::vector<T>& items, const char* between, const TextOf& textOf) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kMostShown); ++i) text += (i > 0 ? between : "") + textOf(items[i]);
  return items.size() > kMostShown ? fmt::format("{}{}and {} more (--json has them all)", text, between, items.size() - kMostShown) : text;
}

std::string stretchText(const Stretch& s) { return exactNumber(s.from) + " to " + exactNumber(s.to); }

std::string candidateName(const Scan& scan) { return scan.settings.autocast == base::DType::bfloat16 ? "AMP BF16" : "AMP FP16"; }

class SegmentText {
 public:
  SegmentText(const Scan& scan, const std::vector<std::string>& names) : m_scan(scan), m_segment(*scan.segment), m_names(names) {}

  std::string text() const {
    return row("FP32", crossings(m_segment.referenceCrossings, m_segment.referenceNoDecision)) + row(candidateName(m_scan), crossings(m_segment.candidateCrossings, m_segment.candidateNoDecision)) +
           row("Disagreement", disagreement()) + row("Flicker", flicker()) + row("Noise floor", noise());
  }

 private:
  const Scan& m_scan;
  const session::SegmentScan& m_segment;
  const std::vector<std::string>& m_names;

  std::string named(int decision) const { return session::decisionName(m_scan, decision, m_names); }

  std::string crossings(const std::vector<Crossing>& found, const std::vector<Stretch>& none) const {
    std::string text = "never crosses";
    if (!found.empty()) text = "crosses at t = " + listText(found, "; ", [&](const Crossing& c) { return fmt::format("{} ({} -> {})", exactNumber(c.t), named(c.from), named(c.to)); });
    if (!none.empty()) text += "; NO DECISION (NaN) at t = " + listText(none, "; ", stretchText);
    return text;
  }

  std::string disagreement() const {
    const auto strip = [&](const session::Disagreement& d) {
      return fmt::format("t = {} (width {}, L2 {} of the input): FP32 says {}, {} {}{}", stretchText(d.at), shortNumber(d.at.width()), shortNumber(d.at.width() * m_segment.length), named(d.reference),
                         candidateName(m_scan), named(d.candidate), d.withinNoise ? " (within FP32's own noise)" : "");
    };
    if (m_segment.disagreement.empty()) return "none";
    std::vector<session::Disagreement> strips = m_segment.beyondNoise();
    const auto own = static_cast<std::int64_t>(strips.size()), noise = static_cast<std::int64_t>(m_segment.disagreement.size()) - own;
    std::copy_if(m_segment.disagreement.begin(), m_segment.disagreement.end(), std::back_inserter(strips), [](const auto& d) { return d.withinNoise; });
    const std::string more = noise > 0 ? fmt::format(", {} of them within FP32's own noise", base::groupedInteger(noise)) : "";
    return fmt::format("{} of the segment, in {}{}: {}", shortNumber(m_segment.disagreeing()), counted(own + noise, "strip"), more, listText(strips, fmt::format("\n{:<13}", "").c_str(), strip));
  }

  std::string flicker() const {
    const auto one = [&](const session::Flicker& f) {
      return fmt::format("t = {} (width {}): {} changes {} times, FP32 {}", stretchText(f.at), shortNumber(f.at.width()), candidateName(m_scan), f.changes, f.referenceChanges);
    };
    double finest = 0;
    std::int64_t points = 0;
    for (const session::CloseLook& look : m_segment.closeLooks) {
      finest = std::max(finest, look.resolution());
      points += look.points;
    }
    const std::string how = points == 0 ? "nowhere does the error reach the margin" : fmt::format("{} points where the error reaches the margin, at most {} apart", base::groupedInteger(points), shortNumber(finest));
    return (m_segment.flicker.empty() ? "none" : listText(m_segment.flicker, "; ", one)) + " (" + how + ")";
  }

  std::string noise() const {
    if (!m_scan.noise.skipped.empty()) return "none: " + m_scan.noise.skipped;
    std::string text = fmt::format("FP32 in another order and with {} moves scores by {} at most", counted(m_scan.noise.threads, "thread"), shortNumber(m_scan.noise.maxError));
    const auto& ours = m_segment.referenceCrossings;
    const auto& others = m_segment.noiseCrossings;
    if (ours.size() != others.size()) return text + fmt::format(", and crosses {} times instead of {}", others.size(), ours.size());
    double shift = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) shift = std::max(shift, std::fabs(static_cast<double>(ours[i].t) - static_cast<double>(others[i].t)));
    return ours.empty() ? text : text + ", and its crossings by " + shortNumber(shift);
  }
};

std::string stepText(const Scan& scan, const session::NearestFlip& flip, double limit, const std::vector<std::string>& names) {
  const std::string text = session::flipText(scan, flip, limit, names);
  return flip.found && flip.step > 0 && flip.to != session::kNoDecision ? fmt::format("{} ({})", text, shortNumber(flip.relative)) : text;
}

std::string nearText(const Scan& scan, const std::vector<std::string>& names) {
  const session::NearScan& near = *scan.near;
  std::vector<std::string> within;
  for (const session::DecidedWithin& d : near.curve)
    if (d.withinError()) within.push_back(d.id + (d.flips ? " (flips)" : ""));
  const std::string bound = scan.settings.decision.errorsToFlip() == 2 ? "margin <= 2 max|error|" : "margin <= max|error|";
  std::string text = row("Within error", fmt::format("{} of {} ({}){}", within.size(), counted(static_cast<std::int64_t>(near.curve.size()), "sample"), bound,
                                                     within.empty() ? "" : ": " + listText(within, ", ", [](const std::string& id) { return id; })));
  if (near.undecided() > 0) text += row("NO DECISION", counted(near.undecided(), "sample") + " of them with NaN in one of the runs");
  std::vector<const session::NearSample*> order;
  for (const session::NearSample& sample : near.samples)
    if (sample.skipped.empty()) order.push_back(&sample);
  const auto key = [](const session::NearSample* s) { return s->reference.found ? s->reference.step : INFINITY; };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  text += row("Nearest flip", fmt::format("{:<16} {:<14} {:<24} {:<24}", "sample", "decides", "FP32 (of the norm)", candidateName(scan) + " (of the norm)"));
  for (std::size_t i = 0; i < std::min(order.size(), kMostSamples); ++i)
    text += row("", fmt::format("{:<16} {:<14} {:<24} {:<24}", order[i]->id, session::decisionName(scan, order[i]->at.reference, names), stepText(scan, order[i]->reference, order[i]->limit, names), stepText(scan, order[i]->candidate, order[i]->limit, names)));
  if (order.size() > kMostSamples) text += row("", fmt::format("and {} more (--json has them all)", order.size() - kMostSamples));
  if (!order.empty()) text += row("Tried", fmt::format("steps that grow by {}, up to {} of the norm, and closer below a flip: a run that flips and flips back between two of them is not seen", shortNumber(near.growth), shortNumber(near.limit)));
  if (const auto skipped = near.samples.size() - order.size(); skipped > 0) {
    const auto first = std::find_if(near.samples.begin(), near.samples.end(), [](const auto& s) { return !s.skipped.empty(); });
    text += row("Not followed", fmt::format("{}: {}{}", counted(static_cast<std::int64_t>(skipped), "sample"), first->id + ": " + first->skipped, skipped > 1 ? ", ..." : ""));
  }
  return text;
}

std::string planeText(const Scan& scan) {
  const session::PlaneScan& plane = *scan.plane;
  const auto undecided = static_cast<std::int64_t>(plane.points.size()) - plane.decided;
  std::string text = row("Plane", fmt::format("{} x {} points from {} to {}; |B - A| = {}, |C - A| = {}, {:.1f} degrees between", plane.side, plane.side, shortNumber(plane.lowest), shortNumber(plane.highest),
                                              shortNumber(plane.lengthAB), shortNumber(plane.lengthAC), plane.angleDegrees));
  text += row("Flips", fmt::format("{} of {} ({} of them){}", base::groupedInteger(plane.flips), counted(plane.decided, "point"), shortNumber(plane.flipShare()),
                                   plane.flipsWithinNoise > 0 ? fmt::format(", {} within FP32's own noise", base::groupedInteger(plane.flipsWithinNoise)) : ""));
  return undecided > 0 ? text + row("NO DECISION", counted(undecided, "point") + " with NaN in one of the runs") : text;
}

std::string headText(const Scan& scan) {
  std::string regions;
  for (const auto* list : {&scan.settings.fp32, &scan.settings.disable})
    for (const std::string& path : *list) regions += (regions.empty() ? ", without autocast in " : ", ") + path;
  std::string still;
  for (const session::ScannedInput& input : scan.inputs)
    if (!input.moves && !input.dtype.empty()) still += (still.empty() ? "; kept as they are: " : ", ") + input.name;
  return fmt::format("{}; {} in batches of {}, --decision {}, {}{}{}", session::scanTitle(scan), counted(scan.evaluations, "input"), scan.settings.batchSize, scan.settings.decision.text(), scan.policyTable, regions, still);
}

}  // namespace

std::string scanSummary(const Scan& scan, const session::SampleSet& samples) {
  std::string text = row("Scan", headText(scan));
  if (scan.segment) text += SegmentText(scan, samples.classNames).text();
  if (scan.near) text += nearText(scan, samples.classNames);
  if (scan.plane) text += planeText(scan);
  for (const std::string& warning : scan.warnings) text += row("Warning", warning);
  return text;
}

std::string scanListText(const session::Session& session) {
  if (session.scans.empty()) return "no scans yet\n";
  std::string text;
  for (const session::ScanEntry& entry : session.scans) text += fmt::format("{:>4}  {}  {}\n", entry.number, entry.createdUtc, entry.title);
  return text;
}

}  // namespace ulpscope::report
