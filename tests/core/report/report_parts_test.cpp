// What a session holds beside runs: scans, benchmarks; and what each of several runs changed.
#include "core/report/report_files.h"
#include "core/report/shareable.h"
#include "report_case.h"
#include "schema_validator.h"
#include "tests/core/session/sample_scan.h"
#include "tests/support/sample_benchmark.h"

#include <gmock/gmock.h>

#include <algorithm>

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

}  // namespace
}  // namespace ulpscope::report
