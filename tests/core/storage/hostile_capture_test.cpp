// Tensors files that are damaged or made to mislead: one line each, never a wrong number.
#include "core/base/hashing.h"
#include "core/storage/captured_comparison.h"
#include "core/storage/digest.h"
#include "core/storage/session_pack.h"
#include "tests/core/storage/captured_run.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <cstdlib>

using namespace ulpscope;
using storage::RunSide;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

constexpr const char* kRaw = "\nULPSCOPE RAW ";

class HostileCapture : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = storage::RunWriter::begin(m_master, tests::sampleSession(), storage::WriteMode::create);
    ASSERT_TRUE(writer.ok());
    ASSERT_EQ(tests::captureAll(writer.value(), m_captures), "");
    auto ended = tests::finish(writer.value(), m_captures);
    ASSERT_TRUE(ended.ok()) << ended.error().message();
    m_session = ended.value();
    fs::permissions(m_tensors, fs::perms::owner_all);
    m_whole = tests::readFile(m_tensors);
    m_data = m_whole.substr(0, m_whole.find(kRaw));
  }
  std::string read(std::size_t index = 0, RunSide side = RunSide::reference) {
    const auto blocks = storage::readCapture(m_master, m_session, "run_0001", index, side);
    if (!blocks) return blocks.error().message();
    for (const auto& block : blocks.value())
      if (std::string(reinterpret_cast<const char*>(block.bytes.data()), block.bytes.size()) != m_captures[index].bytes) return "other bytes";
    return blocks->empty() ? "nothing" : "read";
  }
  // Another file with a trailer that is right for these extents: what a forger would make.
  void forge(const std::string& data, const std::vector<storage::Extent>& extents, const std::string& lines) {
    base::Sha256 hash;
    std::uint64_t at = 0;
    for (const auto& extent : extents) {
      if (extent.offset >= at && extent.offset <= data.size()) hash.update(std::string_view(data).substr(at, extent.offset - at));
      at = std::min<std::uint64_t>(data.size(), extent.offset + extent.size);
    }
    hash.update(std::string_view(data).substr(at));
    hash.update(lines);
    tests::writeFile(m_tensors, data + lines + storage::digestLine(hash.hexDigest()));
  }
  std::vector<storage::Extent> extents() {
    const auto found = storage::checkDigest(m_tensors);
    EXPECT_TRUE(found.ok() && found->digest == storage::Digest::intact);
    return found.ok() ? found->extents : std::vector<storage::Extent>{};
  }
  std::string afterEdit(const std::string& lines) {
    tests::writeFile(m_tensors, m_whole);
    EXPECT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nwith h5py.File('s.ulps.d/run-0001.tensors.h5', 'r+') as f:\n  c = f['run_0001/captures/capture_000000']\n" + lines));
    return read();
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  std::string m_tensors = m_master + ".d/run-0001.tensors.h5";
  std::vector<tests::Captured> m_captures = {tests::randomCapture(base::DType::float32, {3, 50}), tests::randomCapture(base::DType::int8, {3, 9})};
  session::Session m_session;
  std::string m_whole, m_data;
};

TEST_F(HostileCapture, IsFoundWhileItIsComparedAsAStream) {
  const storage::StoredRun run{m_master, m_session, m_session.runs[0]};
  const auto itself = storage::compareCaptures(run, run);
  ASSERT_TRUE(itself.ok()) << itself.error().message();
  ASSERT_EQ(itself->size(), m_captures.size());
  for (const storage::ComparedCapture& compared : itself.value()) EXPECT_TRUE(compared.identical) << compared.site;
  std::size_t errors = 0;
  for (const storage::Extent& extent : extents()) {
    std::string damaged = m_whole;
    damaged[extent.offset + extent.size - 1] ^= 1;
    tests::writeFile(m_tensors, damaged);
    const auto found = storage::compareCaptures(run, run);
    if (found.ok()) continue;  // the references are not compared
    ++errors;
    EXPECT_THAT(found.error().message(), HasSubstr("its bytes are not those that were written"));
  }
  EXPECT_EQ(errors, m_captures.size());
  tests::writeFile(m_tensors, m_whole);
}

TEST_F(HostileCapture, AChangedByteIsFoundWhereverItIs) {
  const auto all = extents();
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t at = 8; at < m_whole.size() - 83; at += 1 + m_whole.size() / 150) {
    std::string damaged = m_whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    tests::writeFile(m_tensors, damaged);
    bool inExtent = false, mine = false;
    for (const auto& extent : all)
      if (at >= extent.offset && at < extent.offset + extent.size) inExtent = true, mine = extent.offset == all[0].offset;
    if (!inExtent || mine) {
      ASSERT_THAT(read(), AllOf(HasSubstr(m_tensors), HasSubstr("is damaged"), Not(HasSubstr("\n")))) << at;
    } else {
      ASSERT_EQ(read(), "read") << at;
    }
  }
  std::string damaged = m_whole;
  damaged[all[0].offset] = static_cast<char>(damaged[all[0].offset] ^ 1);
  tests::writeFile(m_tensors, damaged);
  const auto packed = storage::packSession(m_master, m_folder.file("p.zip"), storage::Tensors::included);
  ASSERT_FALSE(packed.ok());
  EXPECT_THAT(packed.error().message(), HasSubstr("captured tensor"));
  EXPECT_TRUE(storage::readOutputs(m_master, m_session, "run_0001").ok()) << "the outputs are whole";
}

TEST_F(HostileCapture, ATruncatedFileIsAnErrorAtEveryLength) {
  for (std::size_t length = 1; length < m_whole.size(); length += length < m_data.size() ? 1 + m_whole.size() / 60 : 7) {
    if (length >= m_data.size() && length < m_data.size() + 6) continue;  // nothing is missing yet
    tests::writeFile(m_tensors, m_whole.substr(0, length));
    ASSERT_THAT(read(), AllOf(HasSubstr(m_tensors), Not(HasSubstr("\n")))) << length;
  }
}

TEST_F(HostileCapture, ExtentsThatOverlapLeaveTheDataOrHideMetadataAreRefused) {
  const auto good = extents();
  forge(m_data, good, storage::extentLines(good));
  ASSERT_EQ(read(), "read") << "the forger of this test cannot forge";
  const auto forged = [&](auto change) {
    auto all = good;
    change(all);
    forge(m_data, all, storage::extentLines(all));
    return read();
  };
  const auto outside = HasSubstr("outside the data or twice");
  EXPECT_THAT(forged([](auto& all) { all[1].offset = all[0].offset + all[0].size - 1; }), outside);
  EXPECT_THAT(forged([](auto& all) { all[1] = all[0]; }), outside);
  EXPECT_THAT(forged([](auto& all) { std::swap(all[0], all[1]); }), outside);
  EXPECT_THAT(forged([&](auto& all) { all[3].size = m_data.size(); }), outside);
  EXPECT_THAT(forged([](auto& all) { all[3].size = ~std::uint64_t{0} - all[3].offset + 2; }), outside);
  EXPECT_THAT(forged([](auto& all) { all[3].offset = ~std::uint64_t{0}; }), outside);
  EXPECT_THAT(forged([](auto& all) { all[0].size = 0; }), outside);
  EXPECT_THAT(forged([](auto& all) { all[0].size -= 1; }), HasSubstr("is damaged"));
  EXPECT_THAT(forged([](auto& all) { all.erase(all.begin()); }), HasSubstr("list of tensors"));
  EXPECT_THAT(forged([](auto& all) { all[0].checksum.reset(); }), HasSubstr("list of tensors"));
  EXPECT_THAT(forged([](auto& all) { *all[0].checksum ^= 1; }), HasSubstr("is damaged"));
  std::string lines = storage::extentLines(good);
  for (const std::string& bad : {lines.substr(0, lines.size() - 16) + "ffffffffffffffff", lines.substr(0, lines.size() - 16) + "0000000000000005",
                                 lines.substr(0, 14) + "x" + lines.substr(15), lines.substr(0, lines.size() - 16) + "-000000000000001"}) {
    forge(m_data, good, bad);
    EXPECT_THAT(read(), AllOf(HasSubstr("is damaged"), Not(HasSubstr("\n")))) << bad;
  }
}

struct Oddity {
  const char* lines;
  const char* said;
};

// What another program made of the file: the digest is gone, so everything else must hold.
TEST_F(HostileCapture, WhatNoWriterOfOursMakesIsRefused) {
  tests::writeFile(m_folder.file("secret"), std::string(600, 's'));
  constexpr Oddity kOddities[] = {
      {"  del c['reference']; c.create_dataset('reference', (3, 50), 'f4', external=[('../secret', 0, 600)])", "external storage"},
      {"  del c['reference']; l = h5py.VirtualLayout((3, 50), 'f4'); l[:] = h5py.VirtualSource('secret', 'x', (3, 50)); c.create_virtual_dataset('reference', l)", "virtual dataset"},
      {"  del c['reference']; c['reference'] = h5py.ExternalLink('secret', '/x')", "link"},
      {"  del c['reference']; c['reference'] = h5py.SoftLink('/run_0001/output_0/reference')", "link"},
      {"  del f['run_0001/captures']; f['run_0001/captures'] = h5py.ExternalLink('secret', '/x')", "link"},
      {"  del c['reference']; c['reference'] = np.zeros((3, 50), 'f8')", "is float64, the record says float32"},
      {"  del c['reference']; c['reference'] = np.zeros((3, 50), '>f4')", "type"},
      {"  del c['reference']; c['reference'] = np.zeros((3, 50), 'u4')", "type"},
      {"  del c['reference']; c['reference'] = 'text'", "type"},
      {"  del c['reference']; c['reference'] = np.zeros((3, 49), 'f4')", "another shape"},
      {"  del c['reference']; c['reference'] = np.float32(1)", "no axis of samples"},
      {"  del c['reference']; c.create_group('reference')", "is no dataset"},
      {"  del c['reference']; c.create_dataset('reference', (3, 50), 'f4')", "never written"},
      {"  c['reference_bx000'] = np.zeros((3, 50), 'f4')", "is no dataset that a capture has"},
      {"  c['reference'].attrs['rows_written'] = '[[0,2],[1,3]]'", "rows that it has not"},
      {"  c['reference'].attrs['rows_written'] = '[[0,4]]'", "rows that it has not"},
      {"  c['reference'].attrs['rows_written'] = '[[-1,2]]'", "rows that it has not"},
      {"  c['reference'].attrs['rows_written'] = '{'", "JSON"},
      {"  c.attrs['site'] = np.int64(1)", "another op site"},
      {"  del f['run_0001/captures/capture_000000']", "is missing"},
      {"  f.attrs['session_id'] = '0' * 32", "another session"},
      {"  f.attrs['run_id'] = 'run_0002'", "holds run_0002"}};
  for (const Oddity& oddity : kOddities) {
    SCOPED_TRACE(oddity.lines);
    EXPECT_THAT(afterEdit(oddity.lines), AllOf(HasSubstr(m_tensors), HasSubstr(oddity.said), Not(HasSubstr("\n"))));
  }
  EXPECT_EQ(afterEdit("  f.attrs['note'] = 'looked at'"), "read") << "read without a digest, after a trial";
}

TEST_F(HostileCapture, ANumberThatTheRunHasNotIsNamed) {
  EXPECT_THAT(read(1), "read");
  const auto blocks = storage::readCapture(m_master, m_session, "run_0001", 2, RunSide::candidate);
  ASSERT_FALSE(blocks.ok());
  EXPECT_THAT(blocks.error().message(), HasSubstr("no captured op site of that number"));
}

}  // namespace
