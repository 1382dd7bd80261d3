// Scans through the real command line and engine; what is expected of them numpy worked out (tests/support/fixtures/scan.py).
#include "program.h"
#include "tests/core/report/schema_validator.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string fixture(const std::string& name, const std::string& file) { return ULPSCOPE_TEST_BUILD "/testdata/models/" + name + "/" + file; }

json expectedOf(const std::string& name) {
  std::ifstream file(fixture(name, "expected.json"));
  return json::parse(file);
}

json checked(const std::string& text) {
  std::ifstream file(ULPSCOPE_SCAN_SCHEMA);
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_THAT(schemaFaults(json::parse(file), document), testing::IsEmpty());
  return document;
}

// A session s.ulps of copies of a fixture's files, so that a test can change them.
struct Session {
  explicit Session(const std::string& name, const std::vector<std::string>& more = {"--decision", "argmax"}) {
    std::filesystem::copy_file(fixture(name, "model.ts"), folder.path("model.ts"));
    std::filesystem::copy_file(fixture(name, "inputs.pt"), folder.path("inputs.pt"));
    std::vector<std::string> words{"run", "model.ts", "--inputs", "inputs.pt", "--session", "s.ulps", "--observe", "outputs"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished made = ulpscope(folder, words);
    EXPECT_TRUE(folder.has("s.ulps")) << made.err;
  }
  Finished scan(std::vector<std::string> words) const {
    words.insert(words.begin(), {"scan", "s.ulps"});
    return ulpscope(folder, words);
  }
  Folder folder;
};

TEST(CliScan, FindsTheBoundariesAndStoresTheScan) {
  const Session session("scan_pair");
  const Finished done = session.scan({"--from", "4", "--to", "5", "--json", "scan.json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("FP32         crosses at t = 0.571428597 (0 -> 1)"), HasSubstr("AMP FP16     crosses at t = 0.571533263 (0 -> 1)"), HasSubstr("in 1 strip"), HasSubstr("Flicker      none"),
                              HasSubstr("Session: s.ulps (scan 1)")));
  const json document = checked(session.folder.read("scan.json"));
  const json expected = expectedOf("scan_pair")["segments"][1];
  EXPECT_EQ(document["crossings"]["reference"], expected["reference"]);
  EXPECT_EQ(document["crossings"]["candidate"], expected["candidate"]);
  EXPECT_EQ(document["disagreement"], json::array({json::array({expected["reference"][0], expected["candidate"][0]})}));
  EXPECT_EQ(document["samples"].size(), 1001U);
  EXPECT_EQ(document["samples"][0]["reference"], 0);
  EXPECT_EQ(document["samples"][1000]["candidate"], 1);
  EXPECT_EQ(document["batch_size"], 32);
  EXPECT_EQ(document["number"], 1);
  EXPECT_TRUE(session.folder.has("s.ulps.d/scan-0001.json"));
  const Finished again = session.scan({"--show", "1", "--json", "-"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(checked(again.out), document);
  EXPECT_THAT(session.scan({"--list"}).out, HasSubstr("segment 4 to 5, FP16: 1 strip of disagreement"));
}

TEST(CliScan, WithoutSavingTheSessionStaysAsItWas) {
  const Session session("scan_pair");
  const std::string before = session.folder.read("s.ulps");
  const Finished done = session.scan({"--plane", "0", "1", "2", "--grid", "24", "--no-save", "--json", "-"});
  EXPECT_EQ(done.code, 0) << done.err;
  const json document = checked(done.out);
  EXPECT_EQ(document["plane"]["flips"], expectedOf("scan_pair")["plane"]["flips"]);
  EXPECT_EQ(document["number"], 0);
  EXPECT_EQ(session.folder.read("s.ulps"), before);
}

TEST(CliScan, FollowsGradientsFromSomeOrAllSamples) {
  const Session session("scan_pair");
  const json some = checked(session.scan({"--near", "4,0", "--json", "-"}).out);
  EXPECT_EQ(some["near"]["samples"].size(), 2U);
  EXPECT_EQ(some["near"]["curve"].size(), 12U);
  EXPECT_NEAR(some["near"]["samples"][0]["reference"]["step"].get<double>(), 1.41421356, 1e-6);
  const Finished all = session.scan({"--near", "--limit", "0.01"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("Within error 4 of 12 samples"), HasSubstr("beyond 0.0")));
}

TEST(CliScan, RefusesFilesThatChanged) {
  const Session session("scan_pair");
  std::filesystem::copy_file(fixture("scan_square", "model.ts"), session.folder.path("model.ts"), std::filesystem::copy_options::overwrite_existing);
  const Finished other = session.scan({"--from", "4", "--to", "5", "--json", "e.json"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, AllOf(HasSubstr("model.ts: is not the session's model: its code differs"), HasSubstr("--model")));
  const json document = checked(session.folder.read("e.json"));
  EXPECT_EQ(document["status"], "error");
  EXPECT_EQ(document["error"]["code"], "run");
  EXPECT_EQ(session.scan({"--from", "4", "--to", "5", "--model", fixture("scan_pair", "model.ts")}).code, 0);
  std::filesystem::remove(session.folder.path("inputs.pt"));
  const Finished gone = session.scan({"--from", "4", "--to", "5", "--model", fixture("scan_pair", "model.ts")});
  EXPECT_EQ(gone.code, 3);
  EXPECT_THAT(gone.err, HasSubstr("inputs.pt: does not exist, and the session was made from it; say where it is now with --inputs F"));
}

TEST(CliScan, SaysWhichWordsAreWrong) {
  const Session session("scan_pair");
  const auto refused = [&](const std::vector<std::string>& words) {
    const Finished done = session.scan(words);
    EXPECT_EQ(done.code, 2) << done.err;
    return done.err;
  };
  EXPECT_THAT(refused({}), HasSubstr("from where? --from A --to B, --near or --plane A B C is missing"));
  EXPECT_THAT(refused({"--from", "4"}), HasSubstr("--to: is missing"));
  EXPECT_THAT(refused({"--from", "4", "--to", "4"}), HasSubstr("stands twice"));
  EXPECT_THAT(refused({"--from", "4", "--to", "6"}), HasSubstr("hold the same inputs"));
  EXPECT_THAT(refused({"--from", "4", "--to", "nobody"}), HasSubstr("nobody: is no sample of the session"));
  EXPECT_THAT(refused({"--from", "4", "--to", "5", "--near"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refused({"--from", "4", "--to", "5", "--steps", "1"}), HasSubstr("--steps 1"));
  EXPECT_THAT(refused({"--from", "4", "--to", "5", "--run", "7"}), HasSubstr("7: is no run of s.ulps"));
  EXPECT_THAT(refused({"--list", "--near"}), HasSubstr("only reads the session"));
  EXPECT_THAT(refused({"--show", "3"}), HasSubstr("has no scan 3; it has none yet"));
  EXPECT_THAT(refused({"--list", "--json", "l.json"}), HasSubstr("--json: says nothing beside --list"));
  EXPECT_THAT(refused({"--show", "1", "--fp32", "fc"}), HasSubstr("--fp32: says nothing beside --show"));
  EXPECT_THAT(refused({"--near", "4", "--steps", "5"}), HasSubstr("--steps: says nothing beside --near"));
  EXPECT_THAT(refused({"--from", "4", "--to", "5", "--grid", "5"}), HasSubstr("--grid: says nothing beside --from and --to"));
  EXPECT_THAT(refused({"--near", "[1,2]"}), AllOf(HasSubstr("--near [1,2]"), testing::Not(HasSubstr("--only-samples"))));
  EXPECT_FALSE(session.folder.has("s.ulps.d/scan-0001.json"));
}

TEST(CliScan, ACancelledScanStoresNothing) {
  const Session session("scan_pair");
  Call call;
  call.words = {"scan", "s.ulps", "--from", "2", "--to", "3", "--steps", "100001", "--json", "c.json"};
  call.signal = SIGINT;
  call.when = "scanning";
  const Finished done = ulpscope(session.folder, call);
  EXPECT_EQ(done.code, 130) << done.err;
  EXPECT_EQ(checked(session.folder.read("c.json"))["status"], "cancelled");
  EXPECT_FALSE(session.folder.has("s.ulps.d/scan-0001.json"));
  EXPECT_THAT(session.scan({"--list"}).out, HasSubstr("no scans yet"));
}

// Found and told, though the session has no place for it: as on a disk that is full.
TEST(CliScan, WhatCannotBeStoredIsToldNevertheless) {
  const Session session("scan_pair");
  session.folder.write("s.ulps.d/scan-9999.json", "{}");
  const Finished done = session.scan({"--from", "4", "--to", "5", "--json", "full.json"});
  EXPECT_EQ(done.code, 3) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the scan was made, but not stored: holds as many scans as a session can"));
  EXPECT_THAT(done.out, HasSubstr("FP32         crosses at t = 0.571428597"));
  EXPECT_FALSE(checked(session.folder.read("full.json"))["crossings"].empty());
}

// A segment of the demo `digits`, between two samples that flip: each input interpolated, rounded and run by numpy, without our code.
TEST(CliScan, AgreesWithNumpyOnTheDigitsDemo) {
  const Folder folder;
  const Finished ran = ulpscope(folder, {"demo", "digits", "--out", "."});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Finished done = ulpscope(folder, {"scan", "digits.ulps", "--from", "digit-1066", "--to", "digit-1274", "--steps", "65", "--json", "scan.json"});
  ASSERT_EQ(done.code, 0) << done.err;
  checked(folder.read("scan.json"));
  const std::string tests = ULPSCOPE_TEST_DATA, command = std::string(ULPSCOPE_PYTHON) + " -B " + tests + "/check_scan.py " + folder.path("scan.json") + " " + tests + "/../../resources/demo/digits";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace ulpscope::test
