// Files that are cut short, foreign, newer or made to mislead: one clear line each, and no way out of the session.
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

using namespace ulpscope;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

class HostileSession : public testing::Test {
 protected:
  void SetUp() override {
    const auto sample = tests::sampleRun();
    auto written = storage::addRun(m_master, tests::sampleSession(), sample.run, sample.metrics, sample.outputs, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
    m_session = written.value();
    for (const std::string& file : {m_metrics, m_tensors}) fs::permissions(file, fs::perms::owner_all);
  }

  std::string openError() {
    const auto read = storage::openSession(m_master);
    return read.ok() ? "opened" : read.error().message();
  }
  std::string metricsError() {
    const auto read = storage::readMetrics(m_master, m_session, "run_0001");
    return read.ok() ? "read" : read.error().message();
  }
  std::string outputsError() {
    const auto read = storage::readOutputs(m_master, m_session, "run_0001");
    return read.ok() ? "read" : read.error().message();
  }
  void edit(const std::string& file, const std::string& lines) {
    ASSERT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nwith h5py.File('" + file + "', 'r+') as f:\n" + lines));
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  std::string m_metrics = m_master + ".d/run-0001.metrics.h5";
  std::string m_tensors = m_master + ".d/run-0001.tensors.h5";
  session::Session m_session;
};

TEST_F(HostileSession, ATruncatedFileIsAnErrorAtEveryLength) {
  for (const std::string& file : {m_master, m_metrics, m_tensors}) {
    const std::string whole = tests::readFile(file);
    // Between the HDF5 data and the first bytes of the digest nothing is missing yet.
    const std::size_t complete = whole.rfind("\nULPSCOPE SHA-256 ");
    for (std::size_t length = 0; length < whole.size(); length += length > complete ? 9 : 1 + whole.size() / 100) {
      if (length >= complete && length < complete + 6) continue;
      tests::writeFile(file, whole.substr(0, length));
      const std::string message = file == m_master ? openError() : file == m_metrics ? metricsError() : outputsError();
      ASSERT_THAT(message, AllOf(HasSubstr(file), Not(HasSubstr("\n")))) << length;
    }
    tests::writeFile(file, whole);
  }
  EXPECT_EQ(openError(), "opened");
  EXPECT_EQ(metricsError(), "read");
  EXPECT_EQ(outputsError(), "read");
}

TEST_F(HostileSession, AChangedByteIsFoundWhereverItIs) {
  for (const std::string& file : {m_master, m_metrics, m_tensors}) {
    const std::string whole = tests::readFile(file);
    const std::size_t digested = whole.rfind("\nULPSCOPE SHA-256 ");
    ASSERT_NE(digested, std::string::npos);
    for (std::size_t at = 8; at < digested; at += 1 + digested / 40) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1);
      tests::writeFile(file, damaged);
      const std::string message = file == m_master ? openError() : file == m_metrics ? metricsError() : outputsError();
      ASSERT_THAT(message, AllOf(HasSubstr(file), HasSubstr("is damaged"))) << at;
    }
    tests::writeFile(file, whole);
  }
}

// Without the digest (a file that another program changed) HDF5 meets the damage itself. It crashes on some of these,
// which must reach us as an error.
TEST_F(HostileSession, WhatCrashesHdf5IsAnError) {
  const std::string whole = tests::readFile(m_master);
  const std::string image = whole.substr(0, whole.rfind("\nULPSCOPE SHA-256 "));
  int opened = 0, refused = 0, crashed = 0;
  for (std::size_t at = 0; at < image.size(); at += 1 + image.size() / 300) {
    std::string damaged = image;
    damaged[at] = static_cast<char>(~damaged[at]);
    tests::writeFile(m_master, damaged);
    const std::string message = openError();
    if (message.find("HDF5 fails on it") != std::string::npos)
      ++crashed;
    else
      ++(message == "opened" ? opened : refused);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(opened, 0);
  RecordProperty("crashed", crashed);
  tests::writeFile(m_master, whole);
  EXPECT_EQ(openError(), "opened");
}

TEST_F(HostileSession, NamesWhatIsNoSession) {
  tests::writeFile(m_master, "");
  EXPECT_THAT(openError(), HasSubstr("is empty"));
  tests::writeFile(m_master, "hello, world, this is no HDF5 file");
  EXPECT_THAT(openError(), HasSubstr("is not an HDF5 file"));
  fs::remove(m_master);
  EXPECT_THAT(openError(), HasSubstr("does not exist"));
  fs::create_directory(m_master);
  EXPECT_THAT(openError(), HasSubstr("is a folder"));
  fs::remove(m_master);
  ASSERT_EQ(::mkfifo(m_master.c_str(), 0600), 0);
  EXPECT_THAT(openError(), HasSubstr("no plain file"));
}

TEST_F(HostileSession, AForeignHdf5FileIsNamedAsSuch) {
  fs::remove(m_master);
  ASSERT_TRUE(tests::python(m_folder, "import h5py\nh5py.File('s.ulps', 'w')['x'] = 1"));
  EXPECT_THAT(openError(), HasSubstr("none that Ulpscope wrote"));
  fs::copy_file(m_metrics, m_master, fs::copy_options::overwrite_existing);
  EXPECT_THAT(openError(), HasSubstr("'ulpscope-metrics/3'"));
}

TEST_F(HostileSession, ANewerFormatIsNamedWithBothVersions) {
  edit("s.ulps", "  f.attrs['file_format'] = 'ulpscope-session/4'");
  EXPECT_THAT(openError(), AllOf(HasSubstr("format 4"), HasSubstr("up to 3")));
}

TEST_F(HostileSession, AFormatOfBeforeTheFirstReleaseIsNamed) {
  edit("s.ulps", "  f.attrs['file_format'] = 'ulpscope-session/1'");
  EXPECT_THAT(openError(), AllOf(HasSubstr("format 1"), HasSubstr("run the experiment again")));
}

TEST_F(HostileSession, MissingColumnsAndDamagedJsonAreNamed) {
  const std::string whole = tests::readFile(m_master);
  edit("s.ulps", "  del f['run_0001/sites/rel_l2']");
  EXPECT_THAT(openError(), AllOf(HasSubstr("run_0001"), HasSubstr("rel_l2")));
  tests::writeFile(m_master, whole);
  edit("s.ulps", "  del f['run_0001/sites/rel_l2']; f['run_0001/sites/rel_l2'] = [1.0]");
  EXPECT_THAT(openError(), HasSubstr("1 entries, 2 expected"));
  tests::writeFile(m_master, whole);
  edit("s.ulps", "  del f['run_0001/record']; f['run_0001/record'] = '{\"number\": '");
  EXPECT_THAT(openError(), HasSubstr("JSON"));
  tests::writeFile(m_master, whole);
  edit("s.ulps", "  del f['run_0001/sites/worst_sample']; f['run_0001/sites/worst_sample'] = [3, 0]");
  EXPECT_THAT(openError(), HasSubstr("outside the session's sites or samples"));
  tests::writeFile(m_master, whole);
  edit("s.ulps", "  f['run_0001/sites/operands'][0] = '{\"count\": 1, \"listed\": [[\"input\", null, null, null, \"site\", 2]]}'");
  EXPECT_THAT(openError(), HasSubstr("sites/operands: points outside the session's sites or samples"));
}

TEST_F(HostileSession, LinksOutOfTheMasterAreRefused) {
  tests::writeFile(m_folder.file("secret.h5"), "");
  const std::string whole = tests::readFile(m_master);
  for (const std::string lines : {
           "  f['x'] = h5py.ExternalLink('secret.h5', '/x')",
           "  f['run_0001/x'] = h5py.ExternalLink('/etc/passwd', '/x')",
           "  f['run_0001/x'] = h5py.ExternalLink('s.ulps.d/../secret.h5', '/x')",
           "  f['run_0001/x'] = h5py.ExternalLink('../s.ulps.d/run-0001.metrics.h5', '/x')",
           "  f['run_0001/x'] = h5py.SoftLink('/run_0001/divergence/rel_l2')",
           "  del f['samples/labels']; f['samples/labels'] = h5py.SoftLink('/run_0001/divergence/sample')",
           "  del f['model']; f['model'] = h5py.ExternalLink('secret.h5', '/x')"}) {
    SCOPED_TRACE(lines);
    tests::writeFile(m_master, whole);
    edit("s.ulps", lines);
    EXPECT_THAT(openError(), HasSubstr("link"));
  }
}

TEST_F(HostileSession, DataThatLiesInOtherFilesIsRefused) {
  edit("s.ulps.d/run-0001.metrics.h5", R"(
  d = f['run_0001/divergence']; del d['flags']
  d.create_dataset('flags', (2, 3), 'u1', external=[('../../secret', 0, 6)]))");
  EXPECT_THAT(metricsError(), AllOf(HasSubstr("flags"), HasSubstr("external storage")));
  edit("s.ulps.d/run-0001.metrics.h5", R"(
  d = f['run_0001/divergence']; del d['flags']
  layout = h5py.VirtualLayout((2, 3), 'u1'); layout[:] = h5py.VirtualSource('secret.h5', 'x', (2, 3))
  d.create_virtual_dataset('flags', layout))");
  EXPECT_THAT(metricsError(), AllOf(HasSubstr("flags"), HasSubstr("virtual dataset")));
  edit("s.ulps.d/run-0001.metrics.h5", R"(
  d = f['run_0001/divergence']; del d['flags']
  d['flags'] = h5py.ExternalLink('secret.h5', '/x'))");
  EXPECT_THAT(metricsError(), HasSubstr("link"));
}

TEST_F(HostileSession, AFileOfAnotherSessionOrRunIsRefused) {
  const std::string whole = tests::readFile(m_metrics);
  edit("s.ulps.d/run-0001.metrics.h5", "  f.attrs['session_id'] = '0' * 32");
  EXPECT_THAT(metricsError(), HasSubstr("another session"));
  tests::writeFile(m_metrics, whole);
  edit("s.ulps.d/run-0001.metrics.h5", "  f.attrs['run_id'] = 'run_0002'");
  EXPECT_THAT(metricsError(), HasSubstr("holds run_0002, not run_0001"));
}

TEST_F(HostileSession, AMatrixOfAnotherShapeOrTypeIsRefused) {
  const std::string whole = tests::readFile(m_metrics);
  edit("s.ulps.d/run-0001.metrics.h5", "  del f['run_0001/divergence/rel_l2']; f['run_0001/divergence/rel_l2'] = np.zeros((3, 2), 'f4')");
  EXPECT_THAT(metricsError(), HasSubstr("another shape"));
  tests::writeFile(m_metrics, whole);
  edit("s.ulps.d/run-0001.metrics.h5", "  del f['run_0001/divergence/rel_l2']; f['run_0001/divergence/rel_l2'] = np.zeros((2, 3), 'f2')");
  EXPECT_THAT(metricsError(), HasSubstr("another type"));
  tests::writeFile(m_metrics, whole);
  edit("s.ulps.d/run-0001.metrics.h5", "  del f['run_0001/divergence/rel_l2']; f['run_0001/divergence'].create_dataset('rel_l2', (2, 3), 'f4')");
  EXPECT_THAT(metricsError(), HasSubstr("never written"));
}

TEST_F(HostileSession, AMissingMetricsFileIsNamedAndTheMasterStillOpens) {
  fs::remove(m_metrics);
  EXPECT_EQ(openError(), "opened");
  EXPECT_THAT(metricsError(), AllOf(HasSubstr(m_metrics), HasSubstr("is missing")));
  EXPECT_EQ(outputsError(), "read");
}

TEST_F(HostileSession, ASymbolicLinkInPlaceOfARunFileIsRefused) {
  fs::rename(m_metrics, m_folder.file("elsewhere.h5"));
  fs::create_symlink(m_folder.file("elsewhere.h5"), m_metrics);
  EXPECT_THAT(metricsError(), HasSubstr("is a symbolic link"));
  fs::rename(m_master + ".d", m_folder.file("moved"));
  fs::create_directory_symlink(m_folder.file("moved"), m_master + ".d");
  EXPECT_THAT(outputsError(), HasSubstr("is a symbolic link"));
}

// HDF5 would look in the working directory and in HDF5_EXT_PREFIX; our reader must not.
TEST_F(HostileSession, NeverReadsAFileOfThatNameFromElsewhere) {
  fs::create_directories(m_folder.file("work/s.ulps.d"));
  fs::rename(m_metrics, m_folder.file("work/s.ulps.d/run-0001.metrics.h5"));
  const fs::path before = fs::current_path();
  fs::current_path(m_folder.file("work"));
  ::setenv("HDF5_EXT_PREFIX", m_folder.file("work").c_str(), 1);
  EXPECT_THAT(metricsError(), HasSubstr("is missing"));
  ::unsetenv("HDF5_EXT_PREFIX");
  fs::current_path(before);
}

}  // namespace
