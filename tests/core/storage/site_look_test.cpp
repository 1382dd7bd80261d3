// One sample of an op output, read alone; what h5py reads of the same file is the measure.
#include "core/storage/site_look.h"

#include "core/storage/digest.h"
#include "core/storage/run_writer.h"
#include "tests/core/storage/captured_run.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using storage::RunSide;
using storage::SiteLook;
using storage::StoredSite;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

using Shape = std::vector<std::int64_t>;

struct Stored {
  std::string axis;  // SampleAxis::text()
  base::DType reference, candidate;
  std::vector<Shape> batches;  // shape of each batch's tensor
};

std::string bytesOf(const storage::TensorPart& part) { return {reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()}; }

// Three samples in two batches (0 and 1, then 2), or as many as are asked for.
class SiteLookFile : public testing::Test {
 protected:
  void write(const std::vector<Stored>& sites, int batchSize = 2, bool stopsEarly = false) {
    auto writer = storage::RunWriter::begin(m_master, tests::sampleSession(), storage::WriteMode::create);
    ASSERT_TRUE(writer.ok()) << writer.error().message();
    session::RunRecord run;
    run.samplesComplete = 3;
    run.settings.batchSize = batchSize;
    run.capture = session::Capture{};
    for (const Stored& stored : sites) {
      add(writer.value(), stored, stopsEarly ? 1 : stored.batches.size(), batchSize);
      session::SiteSummary site;
      site.modulePath = "m" + std::to_string(run.sites.size());
      site.op = "aten::linear";
      site.sampleAxis = stored.axis;
      site.shape = stored.batches[0];
      site.referenceDtype = stored.reference;
      site.candidateDtype = stored.candidate;
      run.capture->sites.push_back({static_cast<std::int64_t>(run.sites.size()), 0});
      run.sites.push_back(site);
    }
    const auto count = static_cast<std::int64_t>(sites.size());
    storage::RunMetrics metrics;
    for (const auto metric : {session::Metric::relL2, session::Metric::maxAbs}) metrics[metric] = {count, 3, std::vector<float>(sites.size() * 3)};
    metrics.flags.assign(sites.size() * 3, 0);
    auto ended = writer.value().finish(run, metrics, tests::sampleRun().outputs);
    ASSERT_TRUE(ended.ok()) << ended.error().message();
    m_session = ended.value();
    fs::permissions(m_tensors, fs::perms::owner_all);
  }

  void add(storage::RunWriter& writer, const Stored& stored, std::size_t batches, int batchSize) {
    const bool onAxis0 = stored.axis == "0";
    const auto index = writer.addCapture({"site", onAxis0, onAxis0 ? 3 : 0});
    for (std::size_t b = 0; b < batches; ++b)
      for (const RunSide side : {RunSide::reference, RunSide::candidate}) {
        const base::DType dtype = side == RunSide::reference ? stored.reference : stored.candidate;
        tests::Captured block = tests::randomCapture(dtype, stored.batches[b]);
        if (!block.bytes.empty()) block.bytes[0] = static_cast<char>(block.bytes[0] ^ static_cast<char>(b == 0 ? 0 : 1));
        const auto taken = writer.capture({index, side, dtype, stored.batches[b], {}, block.bytes.data(), static_cast<std::int64_t>(b), static_cast<std::int64_t>(b) * batchSize});
        ASSERT_TRUE(taken.ok()) << taken.error().message();
      }
  }

  base::Result<SiteLook> look(std::int64_t site, std::int64_t sample) { return storage::lookAt(m_session, {m_master, "run_0001", site, sample}); }
  std::string said(std::int64_t site = 0, std::int64_t sample = 0) {
    const auto found = look(site, sample);
    return found ? "read" : found.error().message();
  }
  // What h5py gives for `expression` of the group of a capture, as bytes.
  std::string h5py(std::size_t capture, const std::string& expression) {
    EXPECT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nwith h5py.File('s.ulps.d/run-0001.tensors.h5') as f:\n  c = f['run_0001/captures/capture_00000" +
                                            std::to_string(capture) + "']\n  np.ascontiguousarray(" + expression + ").tofile('bytes')\n"));
    return tests::readFile(m_folder.file("bytes"));
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  std::string m_tensors = m_master + ".d/run-0001.tensors.h5";
  session::Session m_session;
};

TEST_F(SiteLookFile, GivesTheSampleThatH5pyReads) {
  using base::DType;
  write({{"0", DType::float32, DType::float16, {{2, 5, 7}, {1, 5, 7}}},
         {"1", DType::float32, DType::float16, {{4, 2, 3}, {4, 1, 3}}},
         {"0:batch*n", DType::float64, DType::float32, {{6, 4}, {3, 4}}},
         {"0:n*batch", DType::int64, DType::int64, {{6, 4}, {3, 4}}},
         {"whole_batch", DType::float32, DType::float32, {{5, 6}, {7, 2}}},
         {"0", DType::boolean, DType::boolean, {{2, 9}, {1, 9}}}});
  struct Case {
    std::int64_t site, sample;
    const char* reference;
    Shape shape;
    int axis;
    std::int64_t first, step;
  };
  const Case cases[] = {{0, 1, "c['reference'][1]", {1, 5, 7}, 0, 1, 1},        {0, 2, "c['reference'][2]", {1, 5, 7}, 0, 2, 1},
                        {1, 1, "c['reference_b0000'][:, 1]", {4, 1, 3}, 1, 1, 1}, {1, 2, "c['reference_b0001'][:, 0]", {4, 1, 3}, 1, 0, 1},
                        {2, 1, "c['reference_b0000'][3:6]", {3, 4}, 0, 3, 1},     {3, 1, "c['reference_b0000'][1::2]", {3, 4}, 0, 1, 2},
                        {3, 2, "c['reference_b0001']", {3, 4}, 0, 0, 1},          {4, 0, "c['reference_b0000']", {5, 6}, -1, 0, 1},
                        {4, 2, "c['reference_b0001']", {7, 2}, -1, 0, 1},         {5, 1, "c['reference'][1]", {1, 9}, 0, 1, 1}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.reference);
    const auto found = look(c.site, c.sample);
    ASSERT_TRUE(found.ok()) << found.error().message();
    const storage::TensorPart& part = found->reference.value;
    EXPECT_EQ(bytesOf(part), h5py(static_cast<std::size_t>(c.site), c.reference));
    EXPECT_EQ(part.shape, c.shape);
    EXPECT_EQ(part.sampleAxis, c.axis);
    EXPECT_EQ(part.first, c.first);
    EXPECT_EQ(part.step, c.step);
    EXPECT_TRUE(found->verified);
    EXPECT_EQ(found->batch, c.sample / 2);
  }
  const auto half = look(0, 2);
  EXPECT_EQ(half->candidate.value.dtype, DType::float16);
  EXPECT_EQ(bytesOf(half->candidate.value), h5py(0, "c['candidate'][2]"));
}

TEST_F(SiteLookFile, GivesScalarsEmptyTensorsAndBfloat16) {
  using base::DType;
  write({{"whole_batch", DType::float32, DType::float32, {{}, {}}}, {"0", DType::float32, DType::bfloat16, {{2, 0, 4}, {1, 0, 4}}}, {"0", DType::bfloat16, DType::bfloat16, {{2, 3}, {1, 3}}}});
  EXPECT_EQ(bytesOf(look(0, 0)->reference.value), h5py(0, "c['reference_b0000'][()]"));
  EXPECT_EQ(look(0, 0)->reference.value.shape, Shape());
  ASSERT_EQ(said(1, 2), "read");
  EXPECT_EQ(look(1, 2)->candidate.value.shape, (Shape{1, 0, 4}));
  EXPECT_TRUE(look(1, 2)->candidate.value.bytes.empty());
  // h5py reads bfloat16 as float32, exactly: its upper half are the bits.
  EXPECT_EQ(bytesOf(look(2, 1)->reference.value).size(), 6U);
  EXPECT_EQ(bytesOf(look(2, 1)->reference.value), h5py(2, "(c['reference'][1].astype('f4').view('u4') >> 16).astype('u2')"));
}

TEST_F(SiteLookFile, ReadsAnOutputWhereTheSiteMadeIt) {
  write({{"0", base::DType::float32, base::DType::float32, {{2, 4}, {1, 4}}}});
  session::RunRecord& run = m_session.runs[0];
  const auto outputs = tests::sampleRun().outputs;
  run.sites.push_back(run.sites[0]);
  run.outputs.resize(1);
  run.outputs[0].name = outputs[0].name;
  run.outputs[0].sampleAxis = "0";
  EXPECT_EQ(storage::storedSite(run, 1).kind, StoredSite::Kind::nothing);
  run.moduleOutputs = {{"", 1, outputs[0].name, 1, true}};
  EXPECT_EQ(storage::storedSite(run, 1).kind, StoredSite::Kind::nothing) << "a part of what the site made";
  run.moduleOutputs = {{"", 1, outputs[0].name, 1, false}};
  ASSERT_EQ(storage::storedSite(run, 1).kind, StoredSite::Kind::output);
  const auto found = look(1, 2);
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_TRUE(found->verified);
  const auto all = storage::readOutputs(m_master, m_session, "run_0001");
  const std::size_t each = all->front().reference.bytes.size() / 3;
  ASSERT_EQ(found->reference.value.bytes.size(), each);
  EXPECT_TRUE(std::equal(found->reference.value.bytes.begin(), found->reference.value.bytes.end(), all->front().reference.bytes.begin() + static_cast<std::ptrdiff_t>(2 * each)));
}

TEST_F(SiteLookFile, SaysWhatWasNotStoredOrNotReached) {
  write({{"0", base::DType::float32, base::DType::float32, {{2, 4}, {1, 4}}}, {"1", base::DType::float32, base::DType::float32, {{4, 2}, {4, 1}}}}, 2, true);
  EXPECT_EQ(said(0, 1), "read");
  EXPECT_THAT(said(0, 2), AllOf(HasSubstr("holds nothing of this sample"), HasSubstr("m0")));
  EXPECT_THAT(said(1, 2), HasSubstr("holds nothing of this sample"));
  EXPECT_THAT(said(0, 3), HasSubstr("no sample of that number"));
  EXPECT_THAT(said(2, 0), HasSubstr("no op site of that number"));
  EXPECT_THAT(storage::lookAt(m_session, {m_master, "run_0007", 0, 0}).error().message(), HasSubstr("no run of that id"));
  m_session.runs[0].capture->sites.pop_back();
  m_session.runs[0].capture->leftOut.push_back({1, 4096, "budget"});
  EXPECT_THAT(said(1, 0), AllOf(HasSubstr("did not store m1: aten::linear"), HasSubstr("--capture")));
  EXPECT_EQ(storage::storedSite(m_session.runs[0], 1).kind, StoredSite::Kind::leftOut);
}

TEST_F(SiteLookFile, CountsPositionsAmongTheChosenSamples) {
  write({{"0", base::DType::float32, base::DType::float32, {{2, 4}, {1, 4}}}});
  const std::vector<std::string> ids = m_session.samples.ids;
  m_session.runs[0].settings.onlySamples = {ids[2]};
  EXPECT_EQ(bytesOf(look(0, 2)->reference.value), h5py(0, "c['reference'][0]"));
  EXPECT_THAT(said(0, 0), HasSubstr("did not run sample " + ids[0]));
}

// Two stored blocks of 12 MiB: of one a third is read, of the other all.
TEST_F(SiteLookFile, VerifiesBlocksThatAreSmallOrReadAndSaysOfOthersThatItDidNot) {
  constexpr std::int64_t kElements = std::int64_t{1} << 20;
  write({{"0", base::DType::float32, base::DType::float32, {{3, kElements}}}, {"whole_batch", base::DType::float32, base::DType::float32, {{3, kElements}}}}, 3);
  EXPECT_FALSE(look(0, 1)->verified);
  EXPECT_TRUE(look(1, 1)->verified);
  const auto all = storage::checkDigest(m_tensors)->extents;
  ASSERT_EQ(all.size(), 4U);
  std::string damaged = tests::readFile(m_tensors);
  for (const auto& extent : all) damaged[extent.offset + extent.size - 1] ^= 1;
  tests::writeFile(m_tensors, damaged);
  EXPECT_EQ(said(0, 1), "read") << "the damage is elsewhere in a block that is too large to hash";
  EXPECT_THAT(said(1, 1), AllOf(HasSubstr(m_tensors), HasSubstr("not those that were written"), Not(HasSubstr("\n"))));
}

TEST_F(SiteLookFile, ADamagedByteOfMetadataOrOfTheSampleIsOneErrorLine) {
  write({{"0", base::DType::float32, base::DType::float32, {{2, 40}, {1, 40}}}});
  const std::string whole = tests::readFile(m_tensors);
  const auto extents = storage::checkDigest(m_tensors)->extents;
  for (std::size_t at = 8; at + 83 < whole.size(); at += 1 + whole.size() / 120) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    tests::writeFile(m_tensors, damaged);
    const bool isOther = std::any_of(extents.begin(), extents.end(), [&](const auto& e) { return at >= e.offset && at < e.offset + e.size && e.size == 160; });
    if (isOther)
      EXPECT_EQ(said(0, 0), "read") << "sample 2 lies in another block";
    else
      EXPECT_THAT(said(0, 0), AllOf(HasSubstr(m_tensors), HasSubstr("damaged"), Not(HasSubstr("\n")))) << at;
  }
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40) {
    tests::writeFile(m_tensors, whole.substr(0, length));
    EXPECT_THAT(said(0, 0), AllOf(HasSubstr(m_tensors), Not(HasSubstr("\n")))) << length;
  }
}

TEST_F(SiteLookFile, AFileThatIsGoneALinkOrMadeByAnotherProgramIsToldApart) {
  write({{"0", base::DType::float32, base::DType::float32, {{2, 4}, {1, 4}}}});
  const std::string expected = bytesOf(look(0, 1)->reference.value);
  ASSERT_TRUE(tests::python(m_folder, "import h5py\nwith h5py.File('s.ulps.d/run-0001.tensors.h5', 'r+') as f: f.attrs['note'] = 'looked at'\n"));
  const auto edited = look(0, 1);
  ASSERT_TRUE(edited.ok()) << edited.error().message();
  EXPECT_EQ(bytesOf(edited->reference.value), expected);
  EXPECT_FALSE(edited->verified) << "no digest is left";
  ASSERT_TRUE(tests::python(m_folder, "import h5py\nwith h5py.File('s.ulps.d/run-0001.tensors.h5', 'r+') as f: f.attrs['session_id'] = '0' * 32\n"));
  EXPECT_THAT(said(), HasSubstr("another session"));
  fs::rename(m_tensors, m_folder.file("elsewhere"));
  EXPECT_THAT(said(), AllOf(HasSubstr(m_tensors), HasSubstr("is missing")));
  fs::create_symlink(m_folder.file("elsewhere"), m_tensors);
  EXPECT_THAT(said(), AllOf(HasSubstr(m_tensors), HasSubstr("link")));
}

struct Oddity {
  const char* lines;
  const char* said;
};
TEST_F(SiteLookFile, WhatNoWriterOfOursMakesIsRefused) {
  write({{"0", base::DType::float32, base::DType::float32, {{2, 4}, {1, 4}}}});
  const std::string whole = tests::readFile(m_tensors);
  constexpr Oddity kOddities[] = {{"  del c['reference']; c['reference'] = h5py.ExternalLink('secret', '/x')", "link"},
                                  {"  del c['reference']; c['reference'] = np.zeros((3, 4), 'f8')", "is float64, the record says float32"},
                                  {"  del c['reference']; c['reference'] = np.zeros((3, 5), 'f4')", "another shape"},
                                  {"  del c['reference']; c['reference'] = np.float32(1)", "shape"},
                                  {"  del c['reference']; c.create_dataset('reference', (3, 4), 'f4', external=[('../secret', 0, 600)])", "external storage"},
                                  {"  c['reference'].attrs['rows_written'] = '[[0,9]]'", "rows that it has not"},
                                  {"  c['reference'].attrs['rows_written'] = '{'", "JSON"},
                                  {"  c.attrs['site'] = np.int64(1)", "another op site"},
                                  {"  del f['run_0001/captures']", "is missing"}};
  for (const Oddity& oddity : kOddities) {
    SCOPED_TRACE(oddity.lines);
    tests::writeFile(m_tensors, whole);
    ASSERT_TRUE(tests::python(m_folder, std::string("import h5py, numpy as np\nwith h5py.File('s.ulps.d/run-0001.tensors.h5', 'r+') as f:\n  c = f['run_0001/captures/capture_000000']\n") + oddity.lines));
    EXPECT_THAT(said(), AllOf(HasSubstr(m_tensors), HasSubstr(oddity.said), Not(HasSubstr("\n"))));
  }
}

}  // namespace
