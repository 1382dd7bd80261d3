// What a session holds beside runs: scans, benchmarks; and what each of several runs changed.
#include "core/report/report_files.h"
#include "core/report/shareable.h"
#include "report_case.h"
#include "schema_validator.h"
#include "tests/core/session/sample_scan.h"
#include "tests/support/python_script.h"
#include "tests/support/sample_benchmark.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

namespace ulpscope::report {
namespace {

using nlohmann::json;
using test::ReportCase;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string fileOf(const ReportContent& content, Format format, Language language = Language::english) { return reportFiles(content, language, {format}).front().bytes; }

json jsonOf(const ReportContent& content) {
  const json document = json::parse(fileOf(content, Format::json));
  EXPECT_THAT(test::schemaFaults(json::parse(tests::readFile(ULPSCOPE_REPORT_SCHEMA)), document), IsEmpty());
  return document;
}

const Section* sectionOf(const Document& document, const std::string& id) {
  const auto found = std::find_if(document.sections.begin(), document.sections.end(), [&](const Section& s) { return s.id == id; });
  return found == document.sections.end() ? nullptr : &*found;
}

std::vector<std::string> rowOf(const Table& table, std::size_t row) {
  std::vector<std::string> cells;
  for (const Cell& cell : table.rows.at(row)) cells.push_back(cell.text.plain());
  return cells;
}

TEST(ReportParts, AScanIsToldInTheWordsOfTheCommandLine) {
  ReportContent content = ReportCase().content();
  content.scans = {tests::sampleScan(), tests::sampleScan(session::ScanKind::near), tests::sampleScan(session::ScanKind::plane)};
  for (std::size_t i = 0; i < content.scans.size(); ++i) content.scans[i].number = static_cast<int>(i) + 1;
  const json document = jsonOf(content);
  ASSERT_EQ(document["scans"].size(), 3U);
  EXPECT_EQ(document["scans"][0]["kind"], "segment");
  EXPECT_THAT(document["scans"][0]["summary"].get<std::string>(), HasSubstr("crosses at t = 0.5 (4 -> 9)"));
  EXPECT_THAT(fileOf(content, Format::html), AllOf(HasSubstr("between two samples"), HasSubstr("around samples"), HasSubstr("plane of three samples"), HasSubstr("crosses at t = 0.5 (4 -&gt; 9)")));
}

TEST(ReportParts, ABenchmarkHasEverythingThatItHangsOn) {
  ReportContent content = ReportCase().content();
  session::Benchmark benchmark = tests::sampleBenchmark();
  benchmark.number = 1;
  benchmark.warnings = {"the machine was busy"};
  content.session.benchmarks = {benchmark};
  const std::string html = fileOf(content, Format::html);
  EXPECT_THAT(html, AllOf(HasSubstr("FP32 takes 2 times as long (95.9 % interval 2 to 2, median of 20 pairs, 2 threads, batches of 8)"), HasSubstr("peak memory 150 MiB"), HasSubstr("interception off"),
                          HasSubstr("criteria revision 1 (SHA-256 0123456789ab)"), HasSubstr("the machine was busy")));
  EXPECT_THAT(fileOf(content, Format::html, Language::portuguese), AllOf(HasSubstr("Medições de velocidade"), HasSubstr(">Máquina<"), Not(HasSubstr(">Machine<"))));
  const json document = jsonOf(content);
  EXPECT_EQ(document["benchmarks"][0]["speed"]["shown"], "faster");
  EXPECT_EQ(document["benchmarks"][0]["session"], content.file);
}

TEST(ReportParts, ABenchmarkGivesNoFolderAway) {
  session::Session s = test::sampleSession();
  s.benchmarks = {tests::sampleBenchmark()};
  s.benchmarks.front().conditions.blas = "/home/ann/lib/libblas.so.3";
  EXPECT_EQ(shareable(s, cutterOf(s, "x.ulps")).benchmarks.front().conditions.blas, "libblas.so.3");
}

TEST(ReportParts, ACoveredReportHasNoSpeedEither) {
  session::Session s = test::lockedSession();
  s.benchmarks = {tests::sampleBenchmark()};
  const ReportCase on(s);
  const auto content = reportContent({on.path(), s, "run_0001", true}).value();
  EXPECT_THAT(content.session.benchmarks, IsEmpty());
  EXPECT_THAT(jsonOf(content)["benchmarks"], IsEmpty());
}

TEST(ReportParts, EachRunSaysWhatItChanged) {
  session::Session s = test::curedSession();
  s.runs.push_back(s.runs.front());
  s.runs.back().number = 3;
  s.runs.back().settings.fp32 = {"head"};
  const Document document = reportDocument(ReportCase(s).content(), Language::english);
  const Section* section = sectionOf(document, "regions");
  ASSERT_NE(section, nullptr);
  const auto& table = std::get<Table>(section->blocks.at(1));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(rowOf(table, 0), ElementsAre("run_0002", "run_0001", "+ encoder.0.ffn.wo in FP32", "1 cured, 0 new", "3 cured, 0 new", testing::_));
  EXPECT_THAT(rowOf(table, 1), ElementsAre("run_0003", "run_0002", HasSubstr("head"), "0 cured, 1 new", "0 cured, 3 new", testing::_));
  EXPECT_THAT(document.paragraph.plain(), HasSubstr("Against run_0002: non-finite origins 0 → 1, changed decisions 0 → 3, samples without a decision 0 → 2."));
}

// Coordinates of pictures stay numbers, and tables stay whole, whatever the run's values are.
::testing::AssertionResult drawsOnlyNumbers(const ReportContent& content) {
  const tests::ScratchFolder folder;
  tests::writeFile(folder.file("report.html"), fileOf(content, Format::html));
  return tests::python(folder, R"(
import xml.etree.ElementTree as tree
S = '{http://www.w3.org/2000/svg}'
for svg in tree.parse('report.html').getroot().iter(S + 'svg'):
    assert float(svg.get('height')) > 0 and float(svg.get('width')) > 0
    for e in svg.iter():
        for name, value in e.attrib.items():
            if name in ('d', 'x', 'y', 'width', 'height', 'viewBox', 'transform'): assert 'n' not in value.replace('rotate', ''), (e.tag, name, value[:80])
)");
}

void setAll(session::RunRecord& run, double value) {
  for (session::SiteSummary& site : run.sites)
    for (const session::Metric metric : session::allMetrics()) site.values[metric] = value;
  for (session::SampleDecision& decision : run.decisions) decision = {value, value, value};
  for (session::Flip& flip : run.flips) flip.referenceMargin = flip.candidateMargin = value;
  for (session::OutputSummary& output : run.outputs) output.relL2 = output.maxAbs = output.maxUlp = value;
}

TEST(ReportParts, OneValueEverywhereStillMakesAPage) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0.0, 5e-324, 1.7e308}) {
    session::Session s = test::sampleSession();
    setAll(s.runs.front(), value);
    const ReportCase on(s);
    ReportContent content = on.content();
    auto metrics = std::make_shared<storage::RunMetrics>(*content.metrics);
    for (const session::Metric metric : {session::Metric::relL2, session::Metric::maxAbs})
      for (float& cell : (*metrics)[metric].values) cell = static_cast<float>(value);
    content.metrics = metrics;
    EXPECT_TRUE(drawsOnlyNumbers(content)) << value;
    jsonOf(content);
  }
}

TEST(ReportParts, NoSampleDecidedAndNothingFlippedIsSaid) {
  session::Session s = test::sampleSession();
  session::RunRecord& run = s.runs.front();
  run.flips.clear();
  run.noDecision = s.samples.ids;
  setAll(run, std::numeric_limits<double>::quiet_NaN());
  const ReportContent content = ReportCase(s).content();
  EXPECT_THAT(fileOf(content, Format::html), HasSubstr("No sample has a decision in both runs."));
  EXPECT_TRUE(drawsOnlyNumbers(content));
}

TEST(ReportParts, ARunThatComparedNothingStillMakesAPage) {
  session::Session s = test::sampleSession();
  session::RunRecord& run = s.runs.front();
  run.sites.clear();
  run.outputs.clear();
  run.nonfiniteOrigins.clear();
  run.flips.clear();
  run.decisions.clear();
  run.noDecision.clear();
  run.samplesComplete = 0;
  run.status = session::RunStatus::partial;
  ReportContent content;
  content.session = s;
  content.runId = "run_0001";
  content.noMetrics = Absence::unreadable;
  EXPECT_THAT(fileOf(content, Format::html), HasSubstr("nothing was compared"));
  EXPECT_TRUE(drawsOnlyNumbers(content));
  jsonOf(content);
}

}  // namespace
}  // namespace ulpscope::report
