// Private: the sections of a report, in their order. Each gives an empty section (no blocks) where there is nothing to say.
#pragma once

#include "core/report/report_content.h"
#include "core/report/report_document.h"

#include <string>
#include <vector>

namespace ulpscope::report {

struct Teller {
  const ReportContent& content;
  const Phrasebook& book;
  const session::RunRecord* run = nullptr;  // null: none, or covered: no number of it is told

  std::string say(std::string_view key, std::initializer_list<std::string> values = {}) const { return book.say(key, values); }
};

std::vector<Notice> notices(const Teller& teller);
Headline headline(const Teller& teller);
Text plainParagraph(const Teller& teller);

Section overviewSection(const Teller& teller);
Section comparedSection(const Teller& teller);
Section criteriaSection(const Teller& teller);
Section divergenceSection(const Teller& teller);  // heatmap, outputs, worst op sites
Section flipsSection(const Teller& teller);
Section nonfiniteSection(const Teller& teller);
Section headroomSection(const Teller& teller);
Section regionsSection(const Teller& teller);     // runs, and what each changed
Section trainingSection(const Teller& teller);
Section scansSection(const Teller& teller);       // boundary scans
Section benchmarksSection(const Teller& teller);
Section notesSection(const Teller& teller);       // users' names, warnings
Section limitsSection(const Teller& teller);
Section reproduceSection(const Teller& teller);

// What the reported run is held against: the baseline where one was chosen, else the run before it over the same samples; nullptr: none.
const session::RunRecord* comparedWith(const Teller& teller);

// --- words that several sections use ---
std::string lowFormat(const session::RunSettings& settings);            // "FP16"
std::string moduleText(const Phrasebook& book, const std::string& path);  // "(root)" for the empty path
std::string siteText(const session::RunRecord& run, std::int64_t site);   // "encoder.0: aten::linear"; "-" where there is none
std::string runTitle(const session::Session& session, const session::RunRecord& run);  // "run_0002 “wo kept”"
Cell statusCell(const Phrasebook& book, std::optional<session::JudgedAs> status);
Cell numberCell(const Phrasebook& book, double value);                    // "–" for NaN
std::string timeText(const std::string& utc);                             // "2026-01-31 14:02 UTC"
Text diagnosis(const Teller& teller, const session::NonfiniteFinding& finding);  // one sentence in the report's language
// "3 decisions change (3 of 254, 1.2 %, ...)."; without a rate where there may be none.
std::string flipsSentence(const Teller& teller, const FlipFacts& facts);
std::string reasonText(const Teller& teller, const std::string& reason);  // why a verdict was not given

}  // namespace ulpscope::report
