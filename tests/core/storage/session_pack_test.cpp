// One file to mail, and back: bit for bit, nothing overwritten, nothing trusted. Python's zipfile is the other reader and
// the maker of hostile archives.
#include "core/storage/session_pack.h"

#include "core/storage/atomic_file.h"
#include "core/storage/session_care.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

using namespace ulpscope;
using storage::Tensors;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

namespace {

constexpr const char* kFiles[] = {"", ".d/run-0001.metrics.h5", ".d/run-0001.tensors.h5", ".d/run-0002.metrics.h5", ".d/run-0002.tensors.h5"};

class SessionPack : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(m_folder.file("there"));
    auto session = tests::sampleSession();
    for (const auto mode : {storage::WriteMode::create, storage::WriteMode::append}) {
      const auto sample = tests::sampleRun();
      auto written = storage::addRun(m_master, session, sample.run, sample.metrics, sample.outputs, mode);
      ASSERT_TRUE(written.ok()) << written.error().message();
      session = written.value();
    }
  }
  storage::PackSummary pack(Tensors tensors = Tensors::included) {
    auto packed = storage::packSession(m_master, m_pack, tensors);
    EXPECT_TRUE(packed.ok()) << packed.error().message();
    return packed.ok() ? packed.value() : storage::PackSummary{};
  }
  std::string unpackError() {
    const auto unpacked = storage::unpackSession(m_pack, m_there);
    return unpacked.ok() ? "unpacked" : unpacked.error().message();
  }
  // Python lines that have `items`, a list of (name, bytes), of the pack, and write it again.
  std::string repacked(const std::string& lines) {
    const auto made = tests::python(m_folder, "import zipfile, hashlib\nz = zipfile.ZipFile('s.zip')\nitems = [(n, z.read(n)) for n in z.namelist()]\ncomment = z.comment\nkind = zipfile.ZIP_STORED\n" + lines +
                                                  "\nwith zipfile.ZipFile('s.zip', 'w', kind) as out:\n  out.comment = comment\n  for n, b in items: out.writestr(n, b)\n");
    EXPECT_TRUE(made);
    return unpackError();
  }
  bool nothingThere() { return fs::is_empty(m_folder.file("there")); }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  std::string m_pack = m_folder.file("s.zip");
  std::string m_there = m_folder.file("there/s.ulps");
};

TEST_F(SessionPack, ComesOutBitForBit) {
  const auto packed = pack();
  EXPECT_EQ(packed.runs, 2);
  EXPECT_EQ(packed.files, 5);
  EXPECT_THAT(packed.notes, IsEmpty());
  const auto unpacked = storage::unpackSession(m_pack, m_there);
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  EXPECT_EQ(unpacked->files, 5);
  EXPECT_EQ(unpacked->sizeBytes, packed.sizeBytes);
  EXPECT_THAT(unpacked->notes, IsEmpty());
  for (const char* file : kFiles) EXPECT_EQ(tests::readFile(m_there + file), tests::readFile(m_master + file)) << file;
  EXPECT_EQ(fs::status(m_there + ".d/run-0001.metrics.h5").permissions() & fs::perms::owner_write, fs::perms::none);
  EXPECT_TRUE(storage::checkWritable(m_there, storage::WriteMode::append).ok());
}

TEST_F(SessionPack, OtherProgramsReadCheckAndUnpackIt) {
  pack();
  EXPECT_TRUE(tests::python(m_folder, R"(
import zipfile, subprocess, h5py
with zipfile.ZipFile('s.zip') as z:
  assert z.testzip() is None
  assert all(i.compress_type == zipfile.ZIP_STORED for i in z.infolist())
  assert z.comment == b'ulpscope-pack/1'
  z.extractall('there')
assert subprocess.run(['sha256sum', '--check', '--strict', 's.ulps.d/SHA256SUMS'], cwd='there').returncode == 0
assert h5py.File('there/s.ulps')['run_0002/divergence/rel_l2'].shape == (2, 3)
)"));
  EXPECT_THAT(storage::openWithNotes(m_there)->notes, IsEmpty());
}

TEST_F(SessionPack, WithoutTensorsTheHeatmapIsThereAndTheRestIsNamed) {
  const auto packed = pack(Tensors::leftOut);
  EXPECT_EQ(packed.files, 3);
  EXPECT_THAT(packed.notes, ElementsAre(HasSubstr("run-0001.tensors.h5"), HasSubstr("run-0002.tensors.h5")));
  const auto unpacked = storage::unpackSession(m_pack, m_there);
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  EXPECT_THAT(unpacked->notes, ElementsAre(HasSubstr("run-0001.tensors.h5: is missing"), HasSubstr("run-0002.tensors.h5: is missing")));
  const auto session = storage::openSession(m_there);
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE(storage::readMetrics(m_there, session.value(), "run_0002").ok());
}

TEST_F(SessionPack, ANewNameIsTakenAndOtherReadersAreToldOf) {
  pack();
  const auto unpacked = storage::unpackSession(m_pack, m_folder.file("there/anna.ulps"));
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message();
  EXPECT_THAT(unpacked->notes, ElementsAre(HasSubstr("`ulpscope repair` refreshes them")));
  EXPECT_EQ(tests::readFile(m_folder.file("there/anna.ulps")), tests::readFile(m_master));
}

TEST_F(SessionPack, NeitherWayOverwritesAnything) {
  tests::writeFile(m_pack, "mine");
  const auto packed = storage::packSession(m_master, m_pack, Tensors::included);
  ASSERT_FALSE(packed.ok());
  EXPECT_EQ(base::exitCode(packed.error().kind), 2);
  EXPECT_EQ(tests::readFile(m_pack), "mine");
  fs::remove(m_pack);
  pack();
  tests::writeFile(m_there, "mine");
  EXPECT_THAT(unpackError(), HasSubstr("exists already"));
  EXPECT_EQ(tests::readFile(m_there), "mine");
  fs::remove(m_there);
  fs::create_directory(m_there + ".d");
  EXPECT_THAT(unpackError(), HasSubstr("s.ulps.d: exists already"));
  EXPECT_TRUE(fs::is_empty(m_there + ".d"));
}

TEST_F(SessionPack, AMissingRunFileIsANoteADamagedOneAnError) {
  fs::remove(m_master + ".d/run-0001.tensors.h5");
  EXPECT_THAT(pack().notes, ElementsAre(HasSubstr("run-0001.tensors.h5: is missing")));
  fs::remove(m_pack);
  const std::string metrics = m_master + ".d/run-0002.metrics.h5";
  fs::permissions(metrics, fs::perms::owner_all);
  std::string bytes = tests::readFile(metrics);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  tests::writeFile(metrics, bytes);
  const auto packed = storage::packSession(m_master, m_pack, Tensors::included);
  ASSERT_FALSE(packed.ok());
  EXPECT_THAT(packed.error().message(), AllOf(HasSubstr("run-0002.metrics.h5"), HasSubstr("is damaged")));
  EXPECT_FALSE(fs::exists(m_pack));
  EXPECT_FALSE(fs::exists(m_pack + ".part"));
}

TEST_F(SessionPack, RefusesNamesThatLeadOutOfTheSession) {
  pack();
  const std::string whole = tests::readFile(m_pack);
  for (const std::string name : {"../evil", "/tmp/evil", "s.ulps.d/../../evil", "s.ulps.d/run-0001.metrics.h5/x", "s.ulps.d/run-1.metrics.h5",
                                 "s.ulps.d/lock", "s.ulps.d/set-aside/run-0001.metrics.h5", "t.ulps.d/run-0001.metrics.h5", "..\\\\evil", "t.ulps", "s.ulps.d/"}) {
    SCOPED_TRACE(name);
    tests::writeFile(m_pack, whole);
    EXPECT_THAT(repacked("items.append(('" + name + "', b'x'))"), AllOf(HasSubstr("s.zip: holds"), Not(HasSubstr("\n"))));
    EXPECT_TRUE(nothingThere());
  }
  tests::writeFile(m_pack, whole);
  EXPECT_THAT(repacked("items = [('s.ulps.d/../../' + n if n == 's.ulps' else n, b) for n, b in items]"), HasSubstr("holds no session file"));
  EXPECT_THAT(repacked("items = []"), HasSubstr("holds no session file"));
}

TEST_F(SessionPack, RefusesCompressedEntriesAndThoseThatShareTheirBytes) {
  pack();
  const std::string whole = tests::readFile(m_pack);
  EXPECT_THAT(repacked("kind = zipfile.ZIP_DEFLATED"), HasSubstr("compressed or encrypted"));
  tests::writeFile(m_pack, whole);
  // Each entry's stored bytes are the whole of the next entry, its header included: 60 kB that count 50 times.
  EXPECT_TRUE(tests::python(m_folder, R"(
import struct, zlib
names = ['s.ulps', 's.ulps.d/SHA256SUMS'] + ['s.ulps.d/run-%04d.metrics.h5' % i for i in range(1, 49)]
tail, heads = b'x' * 60000, []
for name in reversed(names):
  fields = struct.pack('<HHHHHIII', 20, 0, 0, 0, 33, zlib.crc32(tail), len(tail), len(tail))
  heads.append((name, fields))
  tail = b'PK\x03\x04' + fields + struct.pack('<HH', len(name), 0) + name.encode() + tail
at, directory = 0, b''
for name, fields in reversed(heads):
  directory += b'PK\x01\x02' + struct.pack('<H', 20) + fields + struct.pack('<HHHHHII', len(name), 0, 0, 0, 0, 0, at) + name.encode()
  at += 30 + len(name)
end = b'PK\x05\x06' + struct.pack('<HHHHIIH', 0, 0, len(names), len(names), len(directory), len(tail), 15) + b'ulpscope-pack/1'
open('s.zip', 'wb').write(tail + directory + end)
)"));
  EXPECT_THAT(unpackError(), HasSubstr("declares more data than it is long"));
  EXPECT_TRUE(nothingThere());
}

TEST_F(SessionPack, RefusesWhatDoesNotMatchItsChecksums) {
  pack();
  const std::string whole = tests::readFile(m_pack);
  const std::string change = "items = [(n, b[:-100] + b'#' + b[-99:]) if n == '%' else (n, b) for n, b in items]";
  for (const std::string name : {"s.ulps", "s.ulps.d/run-0002.tensors.h5"}) {
    tests::writeFile(m_pack, whole);
    std::string lines = change;
    EXPECT_THAT(repacked(lines.replace(lines.find('%'), 1, name)), AllOf(HasSubstr(name), HasSubstr("does not match its checksum")));
    EXPECT_TRUE(nothingThere());
  }
  tests::writeFile(m_pack, whole);
  EXPECT_THAT(repacked("items = [i for i in items if 'SUMS' not in i[0]]"), HasSubstr("holds no checksums"));
  tests::writeFile(m_pack, whole);
  EXPECT_THAT(repacked("items = [i for i in items if 'run-0002.metrics' not in i[0]]"), HasSubstr("lacks files"));
  tests::writeFile(m_pack, whole);
  EXPECT_THAT(repacked("items = [(n, b.replace(b'run-0002.metrics', b'run-0003.metrics')) if 'SUMS' in n else (n, b) for n, b in items]"), HasSubstr("has no checksum"));
  EXPECT_TRUE(nothingThere());
}

TEST_F(SessionPack, RefusesAMasterThatIsNoneThoughItsChecksumIsRight) {
  pack();
  EXPECT_THAT(repacked("m = b'no HDF5'\nitems[0] = ('s.ulps', m)\nitems = [(n, b'\\n'.join([hashlib.sha256(m).hexdigest().encode() + b'  s.ulps'] + b.split(b'\\n')[1:])) "
                       "if 'SUMS' in n else (n, b) for n, b in items]"),
              HasSubstr("is not an HDF5 file"));
  EXPECT_TRUE(nothingThere());
}

TEST_F(SessionPack, ForeignNewerAndTruncatedArchivesAreNamed) {
  pack();
  const std::string whole = tests::readFile(m_pack);
  EXPECT_THAT(repacked("comment = b''"), HasSubstr("no packed session"));
  EXPECT_THAT(repacked("comment = b'ulpscope-pack/2'"), AllOf(HasSubstr("ulpscope-pack/2"), HasSubstr("ulpscope-pack/1")));
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 60) {
    tests::writeFile(m_pack, whole.substr(0, length));
    ASSERT_THAT(unpackError(), AllOf(HasSubstr("s.zip"), Not(HasSubstr("\n")))) << length;
    ASSERT_TRUE(nothingThere());
  }
  fs::remove(m_pack);
  EXPECT_THAT(unpackError(), HasSubstr("does not exist"));
  EXPECT_THAT((tests::writeFile(m_pack, "hello, this is no archive of any kind"), unpackError()), HasSubstr("is no ZIP archive"));
}

int stepsLeft = 0;
void killAtStep(const char*) {
  if (stepsLeft-- == 0) ::raise(SIGKILL);
}

// A session is there whole or not at all, whenever the program that unpacks it is killed.
TEST_F(SessionPack, UnpackingKilledBetweenAnyTwoStepsLeavesNoHalfSession) {
  pack();
  int step = 0, whole = 0;
  for (bool killed = true; killed; ++step) {
    SCOPED_TRACE(step);
    fs::remove_all(m_there);
    fs::remove_all(m_there + ".d");
    const pid_t child = ::fork();
    if (child == 0) {
      stepsLeft = step;
      storage::afterStep = killAtStep;
      ::_exit(unpackError() == "unpacked" ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    killed = WIFSIGNALED(status);
    ASSERT_TRUE(killed || WEXITSTATUS(status) == 0);
    if (!fs::exists(m_there)) continue;
    ++whole;
    for (const char* file : kFiles) ASSERT_EQ(tests::readFile(m_there + file), tests::readFile(m_master + file)) << file;
  }
  EXPECT_GT(step, 20);
  EXPECT_GE(whole, 2);
}

// Where a small tmpfs cannot be mounted (no user namespaces), a limit on file size stands in for the full disk.
bool enterSmallDisk(const std::string& folder) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return ::mount("none", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
}

// Exit code 0 where `write` fails with the full disk's message and leaves nothing in the folder.
template <typename Write>
int onSmallDisk(const std::string& folder, Write write) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!enterSmallDisk(folder)) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit size{10000, 10000};
      ::setrlimit(RLIMIT_FSIZE, &size);
    }
    const std::string message = write();
    const bool clear = message.find("free some space") != std::string::npos && message.find('\n') == std::string::npos;
    ::_exit(!clear ? 1 : fs::is_empty(folder) ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(SessionPack, AFullDiskIsNamedAndNothingIsLeft) {
  pack();
  ASSERT_GT(fs::file_size(m_pack), 65536U);
  EXPECT_EQ(onSmallDisk(m_folder.file("there"), [&] { return unpackError(); }), 0);
  EXPECT_EQ(onSmallDisk(m_folder.file("there"),
                        [&] {
                          const auto packed = storage::packSession(m_master, m_folder.file("there/p.zip"), Tensors::included);
                          return packed.ok() ? "packed" : packed.error().message();
                        }),
            0);
  EXPECT_EQ(onSmallDisk(m_folder.file("there"),
                        [&] {
                          auto session = tests::sampleSession();
                          session.title = std::string(60000, 't');
                          const auto sample = tests::sampleRun();
                          const auto written = storage::addRun(m_there, session, sample.run, sample.metrics, sample.outputs, storage::WriteMode::create);
                          return written.ok() ? "written" : written.error().message();
                        }),
            0);
}

}  // namespace
