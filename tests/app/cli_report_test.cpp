// `ulpscope report` as a user's shell sees it.
#include "answered.h"
#include "tests/core/report/schema_validator.h"
#include "tests/core/storage/small_disk.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> reportWords(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"report", "made.ulps", "--out", "out"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string outOf(const Folder& folder, const std::string& name) { return folder.read("out/" + name); }

TEST(CliReport, WritesAllButThePdfUnlessToldOtherwise) {
  const Answered made;
  const Finished done = ulpscope(made.folder, reportWords());
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, IsEmpty());
  EXPECT_EQ(done.out, "out/report.html\nout/report.json\nout/report-sites.csv\nout/report-flips.csv\nout/report-junit.xml\n");
  EXPECT_THAT(outOf(made.folder, "report.html"), StartsWith("<!DOCTYPE html>\n<!-- Ulpscope report -->"));
  const json document = json::parse(outOf(made.folder, "report.json"));
  EXPECT_EQ(document["run_id"], "run_0001");
  EXPECT_EQ(document["session"]["file"], "made.ulps");
}

TEST(CliReport, WritesOnlyWhatIsAskedForInTheLanguageAskedFor) {
  const Answered made;
  const Finished done = ulpscope(made.folder, reportWords({"--format", "json", "--lang", "pt_BR", "--run", "1"}));
  EXPECT_EQ(done.out, "out/report.json\n") << done.err;
  EXPECT_THAT(json::parse(outOf(made.folder, "report.json"))["summary"].get<std::string>(), HasSubstr("foi executado duas vezes"));
}

// No display, no home, no user, another locale: as in a container.
TEST(CliReport, NeedsNothingOfItsSurroundings) {
  const Answered made;
  const std::string command = "cd '" + made.folder.path() + "' && env -i LC_ALL=de_DE.UTF-8 '" ULPSCOPE_TEST_BUILD "/bin/ulpscope' report made.ulps --out out > said 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << made.folder.read("said");
  EXPECT_THAT(outOf(made.folder, "report-sites.csv"), HasSubstr(",0.0003,"));
}

TEST(CliReport, NamesNoFolderAndNoUser) {
  const Answered made;
  ASSERT_EQ(ulpscope(made.folder, {"report", made.folder.path("made.ulps"), "--out", made.folder.path("out")}).code, 0);
  const char* user = std::getenv("USER");
  for (const char* name : {"report.html", "report.json", "report-sites.csv", "report-flips.csv", "report-junit.xml"}) {
    EXPECT_THAT(outOf(made.folder, name), AllOf(Not(HasSubstr(made.folder.path())), Not(HasSubstr("/models")))) << name;
    if (user && std::string(user).size() > 4) {
      EXPECT_THAT(outOf(made.folder, name), Not(HasSubstr(user)));
    }
  }
}

TEST(CliReport, WithoutTheWindowThePdfIsMissedInOneLineAndTheRestIsWritten) {
  const Answered made;
  const Finished done = ulpscope(made.folder, Call{reportWords({"--format", "html,pdf,csv"}), {{"ULPSCOPE_WINDOW", "/nowhere/ulpscope-gui"}}, 0, "", ""});
  EXPECT_EQ(done.code, 3);
  EXPECT_EQ(done.err, "ulpscope: /nowhere/ulpscope-gui: $ULPSCOPE_WINDOW names no program that can be run, so no PDF was written; correct or unset it\n");
  EXPECT_EQ(done.out, "out/report.html\nout/report-sites.csv\nout/report-flips.csv\n");
}

TEST(CliReport, AProgramThatPrintsNothingIsAnError) {
  const Answered made;
  const Finished done = ulpscope(made.folder, Call{reportWords({"--format", "pdf"}), {{"ULPSCOPE_WINDOW", "/bin/false"}}, 0, "", ""});
  EXPECT_EQ(done.code, 4);
  EXPECT_THAT(done.err, HasSubstr("ended without a PDF"));
}

TEST(CliReport, ReplacesNothingThatIsNotItsOwn) {
  const Answered made;
  std::filesystem::create_directory(made.folder.path("out"));
  made.folder.write("out/report.json", "{\"mine\": true}");
  const Finished done = ulpscope(made.folder, reportWords());
  EXPECT_EQ(done.code, 2);
  EXPECT_EQ(done.err, "ulpscope: out/report.json: exists and is no report of Ulpscope, it is left as it is; choose another place with --out\n");
  EXPECT_EQ(outOf(made.folder, "report.json"), "{\"mine\": true}");
  EXPECT_FALSE(made.folder.has("out/report.html"));
  EXPECT_EQ(ulpscope(made.folder, {"report", "made.ulps", "--out", "made.ulps.d"}).code, 2);
}

TEST(CliReport, ACoveredOneTellsNoResult) {
  const Answered made;
  ASSERT_EQ(ulpscope(made.folder, reportWords({"--covered"})).code, 0);
  EXPECT_THAT(outOf(made.folder, "report.html"), Not(HasSubstr("s142")));
  EXPECT_EQ(json::parse(outOf(made.folder, "report.json"))["standing"], "covered");
}

TEST(CliReport, AFullDiskIsOneLineAndLeavesNoPart) {
  const Answered made;
  std::filesystem::create_directory(made.folder.path("out"));
  const pid_t pid = ::fork();
  if (pid == 0) {
    tests::enterSmallDisk(made.folder.path("out"), 16384);
    const Finished done = ulpscope(made.folder, reportWords({"--format", "html"}));
    const bool isOneLine = std::count(done.err.begin(), done.err.end(), '\n') == 1 && (done.err.find("No space left") != std::string::npos || done.err.find("File too large") != std::string::npos);
    const bool isClean = std::filesystem::is_empty(made.folder.path("out"));
    ::_exit(done.code == 4 && isOneLine && isClean ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(CliReport, ASessionThatHoldsNothingIsInconclusive) {
  const Answered made;
  const Finished none = ulpscope(made.folder, {"report", "none.ulps", "--out", "out"});
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(none.err, "ulpscope: none.ulps: does not exist; check the path\n");
  EXPECT_EQ(ulpscope(made.folder, reportWords({"--run", "7"})).err, "ulpscope: 7: is no run of made.ulps; it has 'run_0001'\n");
}

}  // namespace
}  // namespace ulpscope::test
