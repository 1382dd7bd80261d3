// pack, unpack and repair as a user's shell sees them: exit code, standard output, one line on standard error.
#include "core/storage/session_store.h"
#include "program.h"

#include <gmock/gmock.h>

namespace ulpscope::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

// Two samples, one op site.
void writeSession(const Folder& folder, storage::WriteMode mode = storage::WriteMode::create) {
  const std::string master = folder.path("s.ulps");
  session::Session session = storage::newSession("digits");
  session.samples.ids = {"a", "b"};
  if (mode == storage::WriteMode::append) session = storage::openSession(master).value();
  session::RunRecord run;
  run.sites.resize(1);
  run.sites[0].op = "aten::linear";
  storage::RunMetrics metrics;
  metrics[session::Metric::maxAbs] = {1, 2, {0.5F, 1.0F}};
  metrics[session::Metric::relL2] = {1, 2, {0.25F, 2.0F}};
  metrics.flags = {0, 0};
  const auto written = storage::addRun(master, session, run, metrics, {}, mode);
  ASSERT_TRUE(written.ok()) << written.error().message();
}

TEST(CliPack, PacksAndUnpacksBitForBit) {
  const Folder folder;
  writeSession(folder);
  const Finished packed = ulpscope(folder, {"pack", "s.ulps"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.err, IsEmpty());
  EXPECT_THAT(packed.out, MatchesRegex("packed s\\.ulps\\.zip\nsession 'digits': 1 run, 3 files, [0-9.]+ KiB\n"));
  const Finished unpacked = ulpscope(folder, {"unpack", "s.ulps.zip", "-o", "t.ulps"});
  EXPECT_EQ(unpacked.code, 0) << unpacked.err;
  EXPECT_THAT(unpacked.out, AllOf(HasSubstr("unpacked t.ulps\n"), HasSubstr("note: t.ulps: was renamed")));
  for (const char* file : {"", ".d/run-0001.metrics.h5", ".d/run-0001.tensors.h5"})
    EXPECT_EQ(folder.read(std::string("s.ulps") + file), folder.read(std::string("t.ulps") + file)) << file;
  const Finished repaired = ulpscope(folder, {"repair", "t.ulps"});
  EXPECT_EQ(repaired.code, 0);
  EXPECT_EQ(repaired.out, "links for h5py and silx now name t.ulps.d, before s.ulps.d\n");
  EXPECT_EQ(ulpscope(folder, {"repair", "t.ulps"}).out, "t.ulps: nothing to repair\n");
}

TEST(CliPack, LeavesTensorsOutWhenAsked) {
  const Folder folder;
  writeSession(folder);
  const Finished packed = ulpscope(folder, {"pack", "s.ulps", "-o", "small.zip", "--no-tensors"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.out, AllOf(HasSubstr("2 files"), HasSubstr("note: s.ulps.d/run-0001.tensors.h5: left out, as asked for\n")));
}

TEST(CliPack, OverwritesNothing) {
  const Folder folder;
  writeSession(folder);
  folder.write("s.zip", "mine");
  const Finished packed = ulpscope(folder, {"pack", "s.ulps", "-o", "s.zip"});
  EXPECT_EQ(packed.code, 2);
  EXPECT_EQ(packed.err, "ulpscope: s.zip: exists already; choose another name with -o, or remove it\n");
  EXPECT_EQ(folder.read("s.zip"), "mine");
  ASSERT_EQ(ulpscope(folder, {"pack", "s.ulps"}).code, 0);
  const Finished unpacked = ulpscope(folder, {"unpack", "s.ulps.zip"});
  EXPECT_EQ(unpacked.code, 2);
  EXPECT_EQ(unpacked.err, "ulpscope: s.ulps: exists already; choose another name with -o, or remove it\n");
}

struct BadFile {
  const char* name;
  std::vector<std::string> words;
  const char* said;
};

class CliPackFaults : public testing::TestWithParam<BadFile> {};

TEST_P(CliPackFaults, IsOneLineAndExitCodeThree) {
  const Folder folder;
  folder.write("text", "no session, no archive, but a text of some length");
  const Finished finished = ulpscope(folder, GetParam().words);
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_EQ(finished.err, std::string("ulpscope: ") + GetParam().said + "\n");
}

INSTANTIATE_TEST_SUITE_P(All, CliPackFaults,
                         testing::Values(BadFile{"PackOfNothing", {"pack", "none.ulps"}, "none.ulps: does not exist; check the path"},
                                         BadFile{"PackOfText", {"pack", "text"}, "text: is not an HDF5 file; check that this is the file you meant"},
                                         BadFile{"UnpackOfNothing", {"unpack", "none.zip"}, "none.zip: does not exist; check the path"},
                                         BadFile{"UnpackOfText", {"unpack", "text"}, "text: is no ZIP archive; name a file that `ulpscope pack` wrote"},
                                         BadFile{"RepairOfNothing", {"repair", "none.ulps"}, "none.ulps: does not exist; check the path"},
                                         BadFile{"RepairOfText", {"repair", "text"}, "text: is not an HDF5 file; check that this is the file you meant"}),
                         [](const auto& job) { return job.param.name; });

TEST(CliRepair, SaysWhatItAdoptsSetsAsideAndRemoves) {
  const Folder folder;
  writeSession(folder);
  const std::string master = folder.read("s.ulps");
  writeSession(folder, storage::WriteMode::append);
  folder.write("s.ulps", master);  // as if the writer had been killed before the last step
  folder.write("s.ulps.part", "x");
  folder.write("s.ulps.d/run-0007.tensors.h5", "x");
  const Finished repaired = ulpscope(folder, {"repair", "s.ulps"});
  EXPECT_EQ(repaired.code, 0) << repaired.err;
  EXPECT_THAT(repaired.out, AllOf(HasSubstr("removed "), HasSubstr("s.ulps.part, left by an interrupted write\n"),
                                  HasSubstr("run-0007.tensors.h5: its other half, run-0007.metrics.h5, is missing"),
                                  HasSubstr("adopted run_0002, which was complete but not named\n")));
  EXPECT_EQ(storage::openSession(folder.path("s.ulps"))->runs.size(), 2U);
  EXPECT_TRUE(folder.has("s.ulps.d/set-aside/run-0007.tensors.h5"));
}

TEST(CliRepair, OfASessionRenamedWithoutItsFolderSaysWhatToRename) {
  const Folder folder;
  writeSession(folder);
  fs::rename(folder.path("s.ulps"), folder.path("t.ulps"));
  const Finished repaired = ulpscope(folder, {"repair", "t.ulps"});
  EXPECT_EQ(repaired.code, 3);
  EXPECT_THAT(repaired.err, AllOf(HasSubstr("t.ulps.d: is missing"), HasSubstr("rename "), HasSubstr("s.ulps.d to it\n")));
}

}  // namespace
}  // namespace ulpscope::test
