// Files that are no checkpoint, are damaged, or were made to mislead: one line each that names the file, never a wrong number.
#include "core/storage/session_store.h"
#include "tests/core/storage/sample_checkpoint.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <filesystem>

using namespace ulpscope;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

class HostileCheckpoint : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(storage::writeCheckpoint(m_path, tests::sampleCheckpoint()).ok());
    fs::permissions(m_path, fs::perms::owner_all);
    m_whole = tests::readFile(m_path);
  }
  std::string read(const std::string& path) {
    const auto checkpoint = storage::readCheckpoint(path);
    if (checkpoint) return "read";
    EXPECT_EQ(checkpoint.error().kind, base::ErrorKind::input);
    EXPECT_THAT(checkpoint.error().message(), AllOf(HasSubstr(fs::path(path).filename().string()), Not(HasSubstr("\n"))));
    return checkpoint.error().message();
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("c.h5"), m_whole;
};

TEST_F(HostileCheckpoint, SaysWhatAnotherFileIs) {
  EXPECT_THAT(read(m_folder.file("none.h5")), HasSubstr("does not exist"));
  EXPECT_THAT(read(m_folder.path()), HasSubstr("is a folder, not a file"));
  ASSERT_EQ(::mkfifo(m_folder.file("pipe.h5").c_str(), 0600), 0);
  EXPECT_THAT(read(m_folder.file("pipe.h5")), HasSubstr("no plain file"));
  tests::writeFile(m_folder.file("empty.h5"), "");
  EXPECT_THAT(read(m_folder.file("empty.h5")), HasSubstr("is empty"));
  tests::writeFile(m_folder.file("case.json"), "{}");
  EXPECT_THAT(read(m_folder.file("case.json")), HasSubstr("is not an HDF5 file"));
  tests::writeFile(m_path + ".part", m_whole);
  EXPECT_THAT(read(m_path + ".part"), HasSubstr("writing did not come to its end"));
  fs::create_symlink("c.h5", m_folder.file("link.h5"));
  EXPECT_EQ(read(m_folder.file("link.h5")), "read");
  EXPECT_TRUE(tests::python(m_folder, "import h5py\nwith h5py.File('other.h5', 'w') as f: f['x'] = [1.0]\nwith h5py.File('foreign.h5', 'w') as f: f.attrs['file_format'] = 'ulpscope-checkpoints'\n"));
  EXPECT_THAT(read(m_folder.file("other.h5")), HasSubstr("is an HDF5 file, but none that Ulpscope wrote"));
  EXPECT_THAT(read(m_folder.file("foreign.h5")), HasSubstr("is of the kind 'ulpscope-checkpoints'"));
}

TEST_F(HostileCheckpoint, ASessionAndItsFilesAreNamedAsSuch) {
  const auto sample = tests::sampleRun();
  const std::string master = m_folder.file("s.ulps");
  ASSERT_TRUE(storage::addRun(master, tests::sampleSession(), sample.run, sample.metrics, sample.outputs, storage::WriteMode::create).ok());
  EXPECT_THAT(read(master), AllOf(HasSubstr("is a session, not a training's checkpoint"), HasSubstr("step-NNNNNNNN.h5")));
  EXPECT_THAT(read(master + ".d/run-0001.metrics.h5"), HasSubstr("is a file of a run"));
  EXPECT_THAT(read(master + ".d/run-0001.tensors.h5"), HasSubstr("is a file of a run"));
  EXPECT_THAT(storage::openSession(m_path).error().message(), HasSubstr("is of the kind 'ulpscope-checkpoint/1', not 'ulpscope-session/N'"));
}

TEST_F(HostileCheckpoint, AChangedByteIsFoundWhereverItIs) {
  for (std::size_t at = 8; at < m_whole.size() - 83; at += 1 + m_whole.size() / 400) {
    std::string damaged = m_whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    tests::writeFile(m_path, damaged);
    ASSERT_THAT(read(m_path), HasSubstr("is damaged: its bytes are not those that were written")) << at;
  }
}

TEST_F(HostileCheckpoint, ATruncatedFileIsAnErrorAtEveryLength) {
  for (std::size_t length = 1; length < m_whole.size(); length += length < m_whole.size() - 90 ? 1 + m_whole.size() / 60 : 1) {
    tests::writeFile(m_path, m_whole.substr(0, length));
    ASSERT_THAT(read(m_path), AnyOf(HasSubstr("is not an HDF5 file"), HasSubstr("cut short"), HasSubstr("truncated"), HasSubstr("HDF5 fails on it"), HasSubstr("cannot be opened"))) << length;
  }
}

TEST_F(HostileCheckpoint, WhatAnotherProgramChangedIsRefused) {
  ASSERT_TRUE(tests::python(m_folder, "import h5py\nwith h5py.File('c.h5', 'r+') as f: f['checkpoint/parameters/000000'][0, 0] = 5\n"));
  EXPECT_THAT(read(m_path), HasSubstr("does not end in its digest: it was cut short, or another program changed it"));
}

struct Oddity {
  const char* lines;
  const char* said;
};

// What h5py made of the file, with a digest that is right for it: what a forger would make. In one script: c is the entry, p its parameters.
TEST_F(HostileCheckpoint, WhatNoWriterOfOursMakesIsRefused) {
  tests::writeFile(m_folder.file("secret"), std::string(600, 's'));
  constexpr Oddity kOddities[] = {
      {"f.attrs['file_format'] = 'ulpscope-checkpoint/2'", "has format 2, this Ulpscope"},
      {"f.attrs['file_format'] = 'ulpscope-checkpoint/x'", "is of the kind 'ulpscope-checkpoint/x'"},
      {"del f.attrs['file_format']", "none that Ulpscope wrote"},
      {"f.attrs['file_format'] = np.bytes_(b'\\xff\\xfe')", "text that is not UTF-8"},
      {"del p['000000']; p.create_dataset('000000', (3, 4), 'f4', external=[('secret', 0, 600)])", "external storage"},
      {"del p['000000']; l = h5py.VirtualLayout((3, 4), 'f4'); l[:] = h5py.VirtualSource('secret', 'x', (3, 4)); p.create_virtual_dataset('000000', l)", "virtual dataset"},
      {"del p['000000']; p['000000'] = h5py.ExternalLink('secret', '/x')", "is a link"},
      {"del p['000000']; p['000000'] = h5py.SoftLink('/checkpoint/parameters/000001')", "is a link"},
      {"del f['checkpoint']; f['checkpoint'] = h5py.ExternalLink('secret', '/x')", "is a link"},
      {"c['loop'] = c", "stands at two places or contains itself"},
      {"g = c\nfor i in range(12): g = g.create_group('deeper')", "nested deeper"},
      {"del p['000000']; p.create_dataset('000000', (3, 4), 'f4', fillvalue=0)", "never written"},
      {"del p['000000']; d = p.create_dataset('000000', (2**40,), 'f4', chunks=(1024,)); d[0] = 1; d.attrs['name'] = 'x'", "declares 4398046511104 bytes but the file stores only"},
      {"del p['000000']; d = p.create_dataset('000000', (2**50, 2**10), 'f4', chunks=(1, 1)); d[0, 0] = 1", "more elements than any memory"},
      {"del p['000000']; d = p.create_dataset('000000', (3, 40), 'f4', chunks=(3, 4)); d[0, 0] = 1; d.attrs['name'] = 'x'", "stores 48 bytes, its shape needs 480"},
      {"del p['000000']; p['000000'] = h5py.Empty('f4')", "null dataspace"},
      {"del p['000000']; p['000000'] = np.zeros((3, 4), '>f4')", "has a type that no captured tensor has"},
      {"del p['000000']; p['000000'] = np.zeros((3, 4), 'u4')", "has a type that no captured tensor has"},
      {"del p['000000']; p['000000'] = 'text'", "has a type that no captured tensor has"},
      {"del p['000000']; p.create_group('000000')", "is no dataset"},
      {"del p['000000']", "holds 1 tensors, 2 expected"},
      {"p.move('000000', '000007')", "is missing"},
      {"del p['000000'].attrs['name']", "attribute name: is missing"},
      {"p['000000'].attrs['name'] = np.bytes_(b'\\xff')", "text that is not UTF-8"},
      {"p['000000'].attrs['name'] = 3", "holds no text"},
      {"p.attrs['count'] = -1", "holds 2 tensors, -1 expected"},
      {"p.attrs['count'] = 2.0", "is not one whole number"},
      {"b = c['tensor_attributes/000000']; raw = np.array([2, 0, 1, 0, 1], 'i1'); b.id.write(h5py.h5s.ALL, h5py.h5s.ALL, raw, b.id.get_type())", "neither false nor true"},
      {"del c['parameters']", "parameters: is missing"},
      {"del c['optimizers']", "optimizers: is missing"},
      {"del c['optimizers/0000']", "are not as many as were written"},
      {"c['optimizers/0000/state_of'][1] = 2", "names a parameter that is not there"},
      {"c['optimizers/0000/state_of'][0] = -1", "names a parameter that is not there"},
      {"c['optimizers/0000/state_of'][0] = 1", "not in order"},
      {"del c['optimizers/0000/steps']; c['optimizers/0000/steps'] = np.zeros(3, 'i8')", "has 3 entries, 2 expected"},
      {"del c['scaler/values']; c['scaler/values'] = np.zeros(2)", "has 2 entries, 3 expected"},
      {"c['scaler/keys'][0] = 'scale'; c['scaler/keys'][1] = 'scale'", "stands there twice"},
      {"c.attrs['step'] = -1", "attribute step: is negative"},
      {"del c.attrs['seed']", "attribute seed: is missing"},
      {"del c['recipe']; c['recipe'] = np.bytes_(b'\\xff\\xfe')", "text that is not UTF-8"},
      {"del c['events']; c['events'] = ['a', 'b']", "is not one text"},
      {"del c['generator']; c['generator'] = np.zeros(5056, 'i1')", "is no list of bytes"},
      {"f.attrs['note'] = 'the forger of this test can forge'", "read"}};
  std::string script = "import h5py, numpy as np, hashlib, json, shutil, sys\n"
                       "for i, lines in enumerate(json.load(open('lines.json'))):\n"
                       "  name = f'odd{i}.h5'; shutil.copy('c.h5', name)\n"
                       "  with h5py.File(name, 'r+') as f:\n"
                       "    c = f['checkpoint']; p = c['parameters']; exec(lines)\n"
                       "  d = open(name, 'rb').read(); assert b'ULPSCOPE SHA' not in d[-100:]\n"
                       "  open(name, 'ab').write(b'\\nULPSCOPE SHA-256 ' + hashlib.sha256(d).hexdigest().encode() + b'\\n')\n";
  nlohmann::json lines = nlohmann::json::array();
  for (const Oddity& oddity : kOddities) lines.push_back(oddity.lines);
  tests::writeFile(m_folder.file("lines.json"), lines.dump());
  ASSERT_TRUE(tests::python(m_folder, script));
  for (std::size_t i = 0; i < std::size(kOddities); ++i) {
    SCOPED_TRACE(kOddities[i].lines);
    EXPECT_THAT(read(m_folder.file("odd" + std::to_string(i) + ".h5")), HasSubstr(kOddities[i].said));
  }
}

}  // namespace
