// The session's scans between samples: what each found, in the words of the command line.
#include "core/report/scan_text.h"
#include "core/report/sections.h"

#include <algorithm>

namespace ulpscope::report {
namespace {

constexpr std::size_t kMostScans = 12, kMostInFull = 3;  // the latest

Text samplesOf(const session::Scan& scan) {
  std::vector<std::string> shown(scan.sampleIds.begin(), scan.sampleIds.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(scan.sampleIds.size(), 6)));
  return shown.empty() ? Text("–") : codes(shown);
}

std::string withoutLastBreak(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Section scansSection(const Teller& t) {
  Section section{"scans", t.say("scans.title"), {}};
  const auto& scans = t.content.scans;
  if (scans.empty()) return section;
  Table table{t.say("scans.caption"), {{t.say("scans.number"), true}, {t.say("scans.kind")}, {t.say("scans.samples")}, {t.say("scans.found")}, {t.say("scans.evaluations"), true}}, {}, ""};
  const std::size_t first = scans.size() > kMostScans ? scans.size() - kMostScans : 0;
  for (std::size_t i = first; i < scans.size(); ++i)
    table.rows.push_back({{t.book.count(scans[i].number)}, {t.book.stored("scan", session::name(scans[i].kind))}, {samplesOf(scans[i])}, {Text(session::scanTitle(scans[i]))}, {t.book.count(scans[i].evaluations)}});
  if (first > 0) table.note = t.say("scans.more", {t.book.count(static_cast<std::int64_t>(kMostScans)), t.book.count(static_cast<std::int64_t>(scans.size()))});
  section.blocks.push_back(std::move(table));
  for (std::size_t i = scans.size() - std::min(scans.size(), kMostInFull); i < scans.size(); ++i)
    section.blocks.push_back(Listing{t.say("scans.name", {t.book.count(scans[i].number), timeText(scans[i].createdUtc)}), withoutLastBreak(scanSummary(scans[i], t.content.session.samples))});
  return section;
}

}  // namespace ulpscope::report
