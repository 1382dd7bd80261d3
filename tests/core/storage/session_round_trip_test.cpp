// What was written comes back, to the bit, through our reader and through plain h5py.
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <array>
#include <complex>
#include <span>

using namespace ulpscope;
using storage::WriteMode;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class SessionRoundTrip : public testing::Test {
 protected:
  session::Session write() {
    const auto sample = tests::sampleRun();
    auto written = storage::addRun(m_master, tests::sampleSession(), sample.run, sample.metrics, sample.outputs, WriteMode::create);
    EXPECT_TRUE(written.ok()) << written.error().message();
    return written.ok() ? written.value() : session::Session{};
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("digits.ulps");
};

TEST_F(SessionRoundTrip, GivesBackEveryFieldOfASession) {
  const session::Session written = write();
  const auto read = storage::openSession(m_master);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(tests::allOf(read.value()), tests::allOf(written));
  EXPECT_EQ(read->generation, 1);
  ASSERT_EQ(read->runs.size(), 1U);
  EXPECT_EQ(read->runs[0].id(), "run_0001");
  // Not by way of the codec that wrote them:
  const session::SiteSummary& site = read->runs[0].sites[0];
  EXPECT_TRUE(std::isnan(site.values[session::Metric::maxAbs]));
  EXPECT_EQ(site.values[session::Metric::relL2], std::numeric_limits<double>::infinity());
  ASSERT_TRUE(site.noiseFloorRelL2.has_value()) << "a NaN is not the same as no value";
  EXPECT_TRUE(std::isnan(*site.noiseFloorRelL2));
  EXPECT_FALSE(site.referenceErrorToFp64.has_value());
  EXPECT_EQ(site.candidate.plusInf, 8);
  EXPECT_EQ(read->runs[0].moduleOutputs[1].name, "output.key");
  EXPECT_EQ(read->runs[0].noiseFloor->flips[0], "b");
  EXPECT_EQ(read->runs[0].capture->leftOut[0].bytes, 1LL << 33);
  EXPECT_THAT(read->runs[0].nonfiniteSamples, ElementsAre("c"));
  EXPECT_EQ(site.reference.minusInf, 6);
  EXPECT_EQ(read->runs[0].sites[1].viewOf, "größe, 2");
  EXPECT_EQ(read->runs[0].sites[1].values[session::Metric::relL2], 5e-324);
  EXPECT_EQ(read->runs[0].settings.seed, 0xFFFFFFFFFFFFFFFFULL);
  EXPECT_EQ(read->runs[0].flips[0].candidateMargin, -std::numeric_limits<double>::infinity());
  EXPECT_THAT(read->runs[0].flips[0].positions, ElementsAre(3, 9));
  EXPECT_EQ(read->samples.classNames[1], "dög");
}

TEST_F(SessionRoundTrip, KeepsEveryBitOfTheMetrics) {
  const session::Session session = write();
  const auto metrics = storage::readMetrics(m_master, session, "run_0001");
  ASSERT_TRUE(metrics.ok()) << metrics.error().message();
  const auto expected = tests::sampleRun().metrics;
  EXPECT_EQ(tests::bitsOf(metrics.value()[session::Metric::relL2].values), tests::bitsOf(expected[session::Metric::relL2].values));
  EXPECT_EQ(tests::bitsOf(metrics.value()[session::Metric::maxAbs].values), tests::bitsOf(expected[session::Metric::maxAbs].values));
  EXPECT_EQ(metrics->flags, expected.flags);
  EXPECT_EQ(metrics->sites(), 2);
  EXPECT_EQ(metrics->samples(), 3);
}

TEST_F(SessionRoundTrip, KeepsEveryBitOfTheOutputs) {
  const session::Session session = write();
  const auto outputs = storage::readOutputs(m_master, session, "run_0001");
  ASSERT_TRUE(outputs.ok()) << outputs.error().message();
  const auto expected = tests::sampleRun().outputs;
  ASSERT_EQ(outputs->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(expected[i].name);
    EXPECT_EQ(outputs.value()[i].name, expected[i].name);
    EXPECT_EQ(outputs.value()[i].shape, expected[i].shape);
    EXPECT_EQ(outputs.value()[i].candidate.dtype, expected[i].candidate.dtype);
    EXPECT_EQ(outputs.value()[i].reference.bytes, expected[i].reference.bytes);
    EXPECT_EQ(outputs.value()[i].candidate.bytes, expected[i].candidate.bytes);
  }
}

TEST_F(SessionRoundTrip, HoldsOutputsOfEveryDtypeInTheirOwn) {
  auto sample = tests::sampleRun();
  const auto add = [&](base::DType dtype, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    const storage::StoredElements elements{dtype, {bytes.begin(), bytes.end()}};
    sample.outputs.push_back({base::name(dtype), {3}, elements, elements});
  };
  add(base::DType::int64, std::array<std::int64_t, 3>{1, -2, (1LL << 53) + 1});
  add(base::DType::boolean, std::array<std::uint8_t, 3>{1, 0, 1});
  add(base::DType::float64, std::array<double, 3>{1e300, -0.0, 0.1});
  add(base::DType::complex64, std::array<std::complex<float>, 3>{{{1, -2}, {0, 3}, {-4, 0}}});
  const auto written = storage::addRun(m_master, tests::sampleSession(), sample.run, sample.metrics, sample.outputs, WriteMode::create);
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
run = h5py.File('digits.ulps.d/run-0001.tensors.h5')['run_0001']
of = {str(run[k].attrs['name']): run[k] for k in run if k.startswith('output_')}
assert of['int64']['candidate'][()].tolist() == [1, -2, 2**53 + 1]
assert of['bool']['reference'][()].tolist() == [True, False, True] and of['bool']['reference'].dtype == bool
assert of['float64']['reference'][()].tolist() == [1e300, -0.0, 0.1] and np.signbit(of['float64']['reference'][1])
assert of['complex64']['candidate'].dtype == np.complex64 and of['complex64']['candidate'][()].tolist() == [1 - 2j, 3j, -4]
)"));
  const auto outputs = storage::readOutputs(m_master, written.value(), "run_0001");
  ASSERT_TRUE(outputs.ok()) << outputs.error().message();
  for (std::size_t i = 3; i < 7; ++i) {
    EXPECT_EQ(outputs.value()[i].candidate.dtype, sample.outputs[i].candidate.dtype);
    EXPECT_EQ(outputs.value()[i].candidate.bytes, sample.outputs[i].candidate.bytes);
  }
}

TEST_F(SessionRoundTrip, IsReadByPlainH5py) {
  write();
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, json, math, numpy as np
with h5py.File('digits.ulps', 'r') as f:
    assert f.attrs['NX_class'] == 'NXroot' and f.attrs['default'] == 'run_0001'
    assert f.attrs['file_format'] == 'ulpscope-session/3' and f.attrs['generation'] == 1
    assert len(f.attrs['session_id']) == 32
    assert list(f['samples/sample_ids'].asstr()) == ['a', 'b', 'c']
    assert f['samples/labels'][()].tolist() == [0, 1, 1]
    assert list(f['samples/class_names'].asstr()) == ['cat', 'd\u00f6g']
    assert json.loads(f['model'][()])['modules'][1]['path'] == 'encoder.0.fc2'
    sites = f['run_0001/sites']
    assert list(sites['module'].asstr()) == ['encoder.0.fc2', '']
    assert sites['rel_l2'][0] == math.inf and sites['rel_l2'][1] == 5e-324
    assert math.isnan(sites['max_abs'][0]) and sites['max_abs'][1] == 1.0 / 3.0
    assert sites['has_noise_floor_rel_l2'][()].tolist() == [True, False] and sites['has_noise_floor_rel_l2'].dtype == bool
    assert sites['headroom_bits'][0] == -0.32 and math.isnan(sites['headroom_bits'][1])
    assert sites['elements_over_tolerance'][0] == 1 << 40
    assert sites['candidate_plus_inf'][0] == 2 and sites['reference_nan'][0] == 4
    assert sites['shape'].asstr()[0] == '[3,7]'
    flips = f['run_0001/flips']
    assert flips['sample_id'].asstr()[0] == 'c' and flips['candidate_margin'][0] == -math.inf
    record = json.loads(f['run_0001/record'][()])
    assert record['settings']['fp32'] == ['encoder.0'] and 'flips' not in record
    assert record['nonfinite_origins'][0]['cause'] == 'overflow'
    # The heatmap through the link, as silx and H5Web find it.
    assert f['run_0001'].attrs['default'] == 'divergence'
    assert f['run_0001/divergence'].attrs['signal'] == 'rel_l2'
with h5py.File('digits.ulps.d/run-0001.metrics.h5', 'r') as f:
    data = f[f.attrs['default']][f[f.attrs['default']].attrs['default']]
    assert data.attrs['NX_class'] == 'NXdata' and list(data.attrs['axes']) == ['site', 'sample']
    assert data.attrs['SILX_style'] == '{"signal_scale_type":"log"}'
    signal = data[data.attrs['signal']]
    assert signal.dtype == np.float32 and signal.shape == (2, 3)
    assert signal[()].view(np.uint32)[1].tolist() == np.array([1e-3, -0.0, 1e-45], np.float32).view(np.uint32).tolist()
    assert math.isnan(signal[0, 1]) and signal[0, 2] == math.inf
    assert signal.dims[0][0].name.endswith('/site') and signal.dims[1][0].name.endswith('/sample')
    assert data['flags'][()].tolist() == [[0, 1, 2], [64, 32, 127]]
    assert list(data['layer_name'].asstr()) == ['encoder.0.fc2: aten::linear#2', '(root): aten::add']
with h5py.File('digits.ulps.d/run-0001.tensors.h5', 'r') as f:
    half = f['run_0001/output_0/candidate']
    assert half.dtype == np.float16 and f['run_0001/output_0'].attrs['name'] == 'logits'
    assert half[()].view(np.uint16).ravel().tolist()[:2] == [0x5C00, 0x7C00]
    bf16 = f['run_0001/output_1/candidate']
    assert bf16.attrs['dtype'] == 'bfloat16' and bf16[0, 0] == 256.0 and bf16[0, 1] == math.inf
    assert f['run_0001/output_1'].attrs['name'] == 'a/b'
)"));
}

// h5py rewrites text with fixed length and numbers big-endian: another writer following FORMAT.md is understood.
TEST_F(SessionRoundTrip, ReadsWhatPlainH5pyWroteIntoASession) {
  write();
  ASSERT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
with h5py.File('digits.ulps', 'r+') as f:
    del f['samples/sample_ids'], f['samples/labels'], f['run_0001/sites/max_abs'], f['run_0001/sites/op']
    f['samples/sample_ids'] = np.array([b'x', b'yy', b'z'])
    f['samples/labels'] = np.array([7, 8, 9], '>i4')
    f['run_0001/sites/max_abs'] = np.array([np.inf, 0.25], '>f8')
    f['run_0001/sites/op'] = ['aten::mm', 'aten::bmm']
    f.attrs['title'] = 'renamed'
)"));
  const auto read = storage::openSession(m_master);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_THAT(read->samples.ids, ElementsAre("x", "yy", "z"));
  EXPECT_THAT(read->samples.labels, ElementsAre(7, 8, 9));
  EXPECT_EQ(read->runs[0].sites[0].values[session::Metric::maxAbs], std::numeric_limits<double>::infinity());
  EXPECT_EQ(read->runs[0].sites[1].op, "aten::bmm");
  EXPECT_EQ(read->title, "renamed");
}

TEST_F(SessionRoundTrip, StoresASessionWithoutSitesOrOutputs) {
  session::Session session = tests::sampleSession();
  storage::RunMetrics metrics;
  metrics[session::Metric::maxAbs].samples = metrics[session::Metric::relL2].samples = 3;
  const auto written = storage::addRun(m_master, session, session::RunRecord{}, metrics, {}, WriteMode::create);
  ASSERT_TRUE(written.ok()) << written.error().message();
  const auto read = storage::openSession(m_master);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_TRUE(read->runs[0].sites.empty());
  EXPECT_TRUE(storage::readMetrics(m_master, read.value(), "run_0001").ok());
  EXPECT_TRUE(storage::readOutputs(m_master, read.value(), "run_0001").ok());
}

TEST_F(SessionRoundTrip, OpensThroughASymbolicLinkAndAfterARename) {
  const session::Session session = write();
  std::filesystem::create_symlink(m_master, m_folder.file("link.ulps"));
  EXPECT_TRUE(storage::readMetrics(m_folder.file("link.ulps"), session, "run_0001").ok());
  std::filesystem::rename(m_master, m_folder.file("new.ulps"));
  std::filesystem::rename(m_master + ".d", m_folder.file("new.ulps.d"));
  const auto read = storage::openSession(m_folder.file("new.ulps"));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_TRUE(storage::readMetrics(m_folder.file("new.ulps"), read.value(), "run_0001").ok());
}

TEST_F(SessionRoundTrip, SaysThatARunIsUnknown) {
  const session::Session session = write();
  const auto metrics = storage::readMetrics(m_master, session, "run_0009");
  ASSERT_FALSE(metrics.ok());
  EXPECT_THAT(metrics.error().message(), HasSubstr("run_0009"));
}

}  // namespace
