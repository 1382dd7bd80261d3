#include "core/report/report_files.h"

#include "report_case.h"
#include "schema_validator.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

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

const std::vector<Format> kAll{Format::html, Format::pdf, Format::json, Format::csv, Format::junit};

json schemaOf(const char* path) { return json::parse(tests::readFile(path)); }

std::string fileOf(const std::vector<ReportFile>& files, const std::string& name) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const ReportFile& f) { return f.name == name; });
  return found == files.end() ? "" : found->bytes;
}

json jsonOf(const ReportContent& content, Language language = Language::english) {
  const json document = json::parse(fileOf(reportFiles(content, language, {Format::json}), "report.json"));
  EXPECT_THAT(test::schemaFaults(schemaOf(ULPSCOPE_REPORT_SCHEMA), document), IsEmpty());
  if (!document["run"].is_null()) {
    EXPECT_THAT(test::schemaFaults(schemaOf(ULPSCOPE_SCHEMA), document["run"]), IsEmpty());
  }
  return document;
}

TEST(ReportFormats, AreReadFromTheirNames) {
  EXPECT_THAT(formatsFromText("csv,html,csv").value(), ElementsAre(Format::html, Format::csv));
  EXPECT_THAT(formatsFromText("docx").error().message(), HasSubstr("--format docx: is no format of reports; use some of 'html', 'pdf', 'json', 'csv' or 'junit'"));
  EXPECT_FALSE(formatsFromText("").ok());
}

TEST(ReportJson, FollowsItsSchemaWhateverTheSessionHolds) {
  for (const session::Session& s : {test::sampleSession(), test::curedSession(), test::lockedSession(), test::lockedSession(true)}) {
    const ReportCase on(s);
    for (const bool isCovered : {false, true})
      for (const Language language : {Language::english, Language::portuguese}) EXPECT_EQ(jsonOf(on.content(isCovered), language)["covered"], isCovered);
  }
}

TEST(ReportJson, TellsWhatThePageTells) {
  const json document = jsonOf(ReportCase(test::lockedSession()).content());
  EXPECT_EQ(document["standing"], "fail");
  EXPECT_EQ(document["run_id"], "run_0001");
  EXPECT_EQ(document["overview"][0]["status"], "fail");
  EXPECT_EQ(document["overview"][1], json::parse(R"({"row": "deviation", "reference": "own noise not measured", "candidate": "relative L2 0.012, worst output, over finite values", "criteria": ["logits.rel_l2"], "status": "pass"})"));
  EXPECT_TRUE(document["overview"][3]["status"].is_null());
  EXPECT_EQ(document["criteria"][0]["criteria"]["decisions"]["max_flips"], 1);
  EXPECT_EQ(document["sites"]["rows"].size(), 5U);
  EXPECT_EQ(document["sites"]["columns"].size(), document["sites"]["rows"][0].size());
  EXPECT_EQ(document["sites"]["rows"][1][12], "+inf");       // rel_l2
  EXPECT_TRUE(document["sites"]["rows"][2][12].is_null());   // not evaluated
  EXPECT_EQ(document["run"]["flips"].size(), 3U);
}

TEST(ReportJson, SaysWhatAChangeOfPolicyDid) {
  const json changes = jsonOf(ReportCase(test::curedSession()).content())["changes"];
  EXPECT_EQ(changes["against"], "run_0001");
  EXPECT_EQ(changes["policy"], json::array({"+ encoder.0.ffn.wo in FP32"}));
  EXPECT_EQ(changes["nonfinite_origins"]["cured"].size(), 1U);
  EXPECT_EQ(changes["flips"]["cured"].size(), 3U);
}

TEST(ReportJson, ACoveredOneHoldsNoResult) {
  const std::string text = fileOf(reportFiles(ReportCase(test::lockedSession()).content(true), Language::english, {Format::json}), "report.json");
  for (const char* result : {"s142", "0.012", "overflow", "fail"}) EXPECT_THAT(text, Not(HasSubstr(result)));
}

TEST(ReportFiles, NoFormatNamesAFolderOrAUser) {
  session::Session s = test::lockedSession();
  s.model.path = "/home/ann/net/ffn.ts";
  s.samples.path = "/home/ann/data/inputs.h5";
  s.runs.front().warnings = {"/home/ann/net/ffn.ts stores 16-bit tensors"};
  s.runs.front().nonfiniteOrigins.front().diagnosis = "overflows, see /home/ann/log.txt";
  s.runs.front().sites[0].source = "/home/ann/net/model.py:12";
  const ReportCase on(s);
  for (const Language language : {Language::english, Language::portuguese})
    for (const ReportFile& file : reportFiles(on.content(), language, kAll)) {
      EXPECT_THAT(file.bytes, AllOf(Not(HasSubstr("ann")), Not(HasSubstr("/home")), Not(HasSubstr(on.folder.path())))) << file.name;
      EXPECT_FALSE(file.bytes.empty());
    }
}

TEST(ReportFiles, JUnitHasTheVerdictOrSaysWhyThereIsNone) {
  const auto junit = [](const ReportContent& content) { return fileOf(reportFiles(content, Language::english, {Format::junit}), "report-junit.xml"); };
  EXPECT_THAT(junit(ReportCase(test::lockedSession()).content()), AllOf(HasSubstr("tests=\"3\" failures=\"2\""), HasSubstr("name=\"decisions.flips\"")));
  EXPECT_THAT(junit(ReportCase().content()), AllOf(HasSubstr("tests=\"1\" failures=\"0\""), HasSubstr("<skipped message=\"exploratory: no criteria were locked\"/>")));
  EXPECT_THAT(junit(ReportCase(test::lockedSession()).content(true)), AllOf(HasSubstr("failures=\"0\""), HasSubstr("covered")));
}

TEST(ReportFiles, AreWrittenWholeIntoAFolderThatIsMade) {
  const ReportCase on;
  const std::string folder = on.folder.file("a/b/report");
  const auto files = reportFiles(on.content(), Language::english, kAll);
  const auto written = writeReportFiles(folder, files);
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_EQ(written->size(), 5U);
  for (const ReportFile& file : files) EXPECT_EQ(tests::readFile(folder + "/" + file.name), file.bytes);
  // A later one takes their place.
  EXPECT_TRUE(checkReportFolder(folder, kAll).ok());
  EXPECT_TRUE(writeReportFiles(folder, files).ok());
}

TEST(ReportFiles, WhatIsNoReportOfOursIsLeftAsItIs) {
  const ReportCase on;
  for (const char* name : {"report.html", "report.pdf", "report.json", "report-sites.csv", "report-flips.csv", "report-junit.xml"}) {
    const tests::ScratchFolder folder;
    for (const char* mine : {"<html>my own</html>", "{\"a\": 1}", "%PDF-1.7 of somebody", "a,b\n1,2\n", "<?xml version=\"1.0\"?><testsuites/>"}) {
      tests::writeFile(folder.file(name), mine);
      const auto free = checkReportFolder(folder.path(), kAll);
      ASSERT_FALSE(free.ok()) << name;
      EXPECT_THAT(free.error().message(), AllOf(HasSubstr(name), HasSubstr("exists and is no report of Ulpscope, it is left as it is; choose another place with --out")));
      EXPECT_EQ(tests::readFile(folder.file(name)), mine);
    }
    tests::writeFile(folder.file(name), "");
    EXPECT_TRUE(checkReportFolder(folder.path(), kAll).ok());
  }
}

TEST(ReportFiles, FoldersThatCannotBeOneAreRefused) {
  const ReportCase on;
  tests::writeFile(on.folder.file("file"), "x");
  EXPECT_THAT(checkReportFolder(on.folder.file("file"), kAll).error().message(), HasSubstr("is no folder"));
  EXPECT_THAT(checkReportFolder(on.path() + ".d", kAll).error().message(), HasSubstr("is a session's own folder"));
  EXPECT_THAT(checkReportFolder(on.path() + ".d/x", kAll).error().message(), HasSubstr("is a session's own folder"));
  EXPECT_THAT(writeReportFiles(on.folder.file("file/x"), {{"a", "b"}}).error().message(), HasSubstr("cannot be made"));
}

TEST(ReportContent, MetricsThatAreGoneAreSaidAndTheRestStands) {
  const ReportCase on;
  std::filesystem::remove(on.path() + ".d/run-0001.metrics.h5");
  const ReportContent content = on.content();
  EXPECT_EQ(content.noMetrics, Absence::unreadable);
  const std::string html = fileOf(reportFiles(content, Language::english, {Format::html}), "report.html");
  EXPECT_THAT(html, AllOf(HasSubstr("The heatmap is missing"), HasSubstr("head: aten::linear#2")));
}

TEST(ReportContent, InputsThatAreNotThereAreSaid) {
  EXPECT_EQ(ReportCase().content().noPictures, Absence::missing);
  session::Session other = test::sampleSession();
  other.samples.path = "/nowhere/inputs.h5";
  other.samples.sha256 = "not this";
  const ReportCase on(other);
  tests::writeFile(on.folder.file("inputs.h5"), "another file");
  EXPECT_EQ(on.content().noPictures, Absence::otherFile);
}

TEST(ReportContent, CriteriaThatWereChangedAfterTheLockAreRefused) {
  session::Session s = test::lockedSession();
  s.criteria.front().canonical.replace(s.criteria.front().canonical.find(":1"), 2, ":9");
  const ReportCase on(s);
  const auto content = reportContent({on.path(), on.session, "run_0001", false});
  ASSERT_FALSE(content.ok());
  EXPECT_EQ(content.error().kind, base::ErrorKind::input);
}

}  // namespace
}  // namespace ulpscope::report
