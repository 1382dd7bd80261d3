// A run written while it goes on: what h5py and our own reader find in it, and what is refused.
#include "core/storage/run_writer.h"

#include "core/storage/atomic_file.h"
#include "core/storage/session_care.h"
#include "tests/core/storage/captured_run.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

using namespace ulpscope;
using base::DType;
using storage::RunSide;
using storage::WriteMode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

namespace {

constexpr DType kAllTypes[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64,     DType::int32,
                               DType::int16,   DType::int8,    DType::uint8,   DType::boolean,  DType::complex64, DType::complex128};

class Writer : public testing::Test {
 protected:
  storage::RunWriter begin(WriteMode mode = WriteMode::create) {
    auto writer = storage::RunWriter::begin(m_master, m_session, mode);
    EXPECT_TRUE(writer.ok()) << writer.error().message();
    return std::move(writer).value();
  }
  // Both sides the same; ends the run with one op site a capture.
  void write(const std::vector<tests::Captured>& captures) {
    auto writer = begin();
    ASSERT_EQ(tests::captureAll(writer, captures), "");
    auto ended = tests::finish(writer, captures);
    ASSERT_TRUE(ended.ok()) << ended.error().message();
    m_session = ended.value();
  }
  std::vector<storage::CapturedBlock> read(std::size_t index, RunSide side = RunSide::candidate) {
    auto blocks = storage::readCapture(m_master, m_session, "run_0001", index, side);
    EXPECT_TRUE(blocks.ok()) << blocks.error().message();
    return blocks.ok() ? blocks.value() : std::vector<storage::CapturedBlock>{};
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  session::Session m_session = tests::sampleSession();
};

// Random bits of every type, NaNs of all kinds among them; the bytes are also written plainly for numpy.
TEST_F(Writer, EveryTypeComesBackBitForBitInH5pyAndHere) {
  std::vector<tests::Captured> captures;
  for (const DType dtype : kAllTypes) captures.push_back(tests::randomCapture(dtype, {3, 5, 7}));
  write(captures);
  for (std::size_t i = 0; i < captures.size(); ++i) {
    tests::writeFile(m_folder.file(std::to_string(i)), captures[i].bytes);
    const auto blocks = read(i);
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks[0].dtype, captures[i].dtype);
    EXPECT_THAT(blocks[0].shape, ElementsAre(3, 5, 7));
    EXPECT_EQ(std::memcmp(blocks[0].bytes.data(), captures[i].bytes.data(), captures[i].bytes.size()), 0) << base::name(captures[i].dtype);
  }
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
types = ['f8', 'f4', 'f2', 'u2', 'i8', 'i4', 'i2', 'i1', 'u1', '?', 'c8', 'c16']
with h5py.File('s.ulps.d/run-0001.tensors.h5', 'r') as f:
    for i, t in enumerate(types):
        raw = np.fromfile(str(i), t).reshape(3, 5, 7)
        for side in ('reference', 'candidate'):
            d = f['run_0001/captures/capture_%06d/%s' % (i, side)]
            if i == 3:
                assert d.attrs['dtype'] == 'bfloat16' and d.dtype == np.float32
                want = (raw.astype('u4') << 16)
                got = d[()].view('u4')
                nan = (raw & 0x7fff) > 0x7f80
                assert (got[~nan] == want[~nan]).all() and np.isnan(d[()][nan]).all()
            else:
                assert d.dtype == np.dtype(t), (d.dtype, t)
                assert d[()].tobytes() == raw.tobytes(), t
            assert np.fromfile(f.filename, 'u1', raw.nbytes, offset=d.id.get_offset()).tobytes() == raw.tobytes()
)"));
}

TEST_F(Writer, AllPatternsOfHalfAndBfloat16Survive) {
  std::vector<std::uint16_t> patterns(65536);
  std::iota(patterns.begin(), patterns.end(), 0);
  const std::string bytes(reinterpret_cast<const char*>(patterns.data()), 131072);
  write({{DType::float16, {65536}, {}, bytes}, {DType::bfloat16, {65536}, {}, bytes}});
  for (const std::size_t i : {0, 1}) {
    const auto blocks = read(i);
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(std::memcmp(blocks[0].bytes.data(), bytes.data(), bytes.size()), 0);
  }
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
with h5py.File('s.ulps.d/run-0001.tensors.h5', 'r') as f:
    assert (f['run_0001/captures/capture_000000/candidate'][()].view('u2') == np.arange(65536)).all()
    wide = f['run_0001/captures/capture_000001/candidate'][()]
    finite = ~np.isnan(wide)
    assert finite.sum() == 65536 - 2 * 127
    assert (wide.view('u4')[finite] == (np.arange(65536, dtype='u4') << 16)[finite]).all()
)"));
}

// The same memory and strides in numpy (as_strided) are the independent answer.
TEST_F(Writer, StridedBlocksAreWhatNumpyMakesOfThem) {
  struct Strided {
    std::vector<std::int64_t> shape, strides;
    std::int64_t offset;  // elements, of the first
  };
  const std::vector<Strided> all = {{{70, 50}, {1, 70}, 0},       {{4, 3, 5}, {1, 20, 4}, 0},     {{6, 8}, {0, 1}, 3},   {{6, 8}, {1, 0}, 3},
                                    {{9}, {-1}, 8},               {{3, 4}, {-4, -1}, 11},         {{5, 6}, {12, 2}, 1},  {{2, 1, 3}, {3, 777, 1}, 0},
                                    {{600, 1100}, {1, 600}, 0},   {{1100, 600}, {1, 1100}, 0},    {{3, 0, 2}, {2, 2, 1}, 0}, {{}, {}, 5},
                                    {{2, 3, 4, 5}, {60, 1, 15, 3}, 0}, {{1, 1}, {5, 5}, 2}};
  for (const DType dtype : {DType::int8, DType::float16, DType::float32, DType::float64, DType::complex128}) {
    SCOPED_TRACE(base::name(dtype));
    const tests::Captured memory = tests::randomCapture(dtype, {660000});
    std::vector<tests::Captured> captures;
    std::string script = "import h5py, numpy as np\nfrom numpy.lib.stride_tricks import as_strided\n"
                         "m = np.fromfile('memory', 'V" + std::to_string(base::sizeBytes(dtype)) + "')\ncases = [";
    for (const Strided& s : all) {
      captures.push_back({dtype, s.shape, s.strides, memory.bytes, s.offset});
      script += "((" ;
      for (const auto size : s.shape) script += std::to_string(size) + ",";
      script += "),(";
      for (const auto stride : s.strides) script += std::to_string(stride) + ",";
      script += ")," + std::to_string(s.offset) + "),";
    }
    tests::writeFile(m_folder.file("memory"), memory.bytes);
    fs::remove_all(m_master + ".d");
    fs::remove(m_master);
    m_session = tests::sampleSession();
    write(captures);
    EXPECT_TRUE(tests::python(m_folder, script + R"(]
with h5py.File('s.ulps.d/run-0001.tensors.h5', 'r') as f:
    for i, (shape, strides, at) in enumerate(cases):
        want = as_strided(m[at:], shape, [s * m.itemsize for s in strides]).tobytes()
        d = f['run_0001/captures/capture_%06d' % i]['reference_b0000' if len(strides) or not shape else 'reference']
        assert d.shape == shape, (i, d.shape)
        assert d[()].tobytes() == want, i
)"));
  }
}

TEST_F(Writer, BatchesOfSamplesStandOneAfterAnotherWhateverTheirOrder) {
  auto writer = begin();
  const tests::Captured whole = tests::randomCapture(DType::float32, {10, 3});
  const auto index = writer.addCapture({"site", true, 10});
  for (const auto& [first, count] : {std::pair{4, 4}, {8, 2}, {0, 4}})
    for (const RunSide side : {RunSide::reference, RunSide::candidate})
      ASSERT_TRUE(writer.capture({index, side, DType::float32, {count, 3}, {}, whole.bytes.data() + first * 12, first / 4, first}).ok());
  auto ended = tests::finish(writer, {whole});
  ASSERT_TRUE(ended.ok()) << ended.error().message();
  m_session = ended.value();
  const auto blocks = read(0);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].batch, -1);
  EXPECT_EQ(std::memcmp(blocks[0].bytes.data(), whole.bytes.data(), whole.bytes.size()), 0);
  EXPECT_EQ(m_session.runs[0].capture->sites[0].bytes, 2 * 120);
}

// A candidate that raised, a run that was cancelled: zeros that nobody computed are never given out.
TEST_F(Writer, SamplesThatWereNotReachedAreNotRead) {
  auto writer = begin();
  const tests::Captured whole = tests::randomCapture(DType::float16, {9, 4});
  const auto index = writer.addCapture({"site", true, 9});
  for (const int first : {0, 6}) ASSERT_TRUE(writer.capture({index, RunSide::candidate, DType::float16, {3, 4}, {}, whole.bytes.data() + first * 8, first / 3, first}).ok());
  auto ended = tests::finish(writer, {whole});
  ASSERT_TRUE(ended.ok()) << ended.error().message();
  m_session = ended.value();
  EXPECT_THAT(read(0, RunSide::reference), IsEmpty());
  const auto blocks = read(0);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[1].firstSample, 6);
  EXPECT_THAT(blocks[1].shape, ElementsAre(3, 4));
  EXPECT_EQ(std::memcmp(blocks[1].bytes.data(), whole.bytes.data() + 48, 24), 0);
  EXPECT_TRUE(tests::python(m_folder, "import h5py\nd = h5py.File('s.ulps.d/run-0001.tensors.h5')['run_0001/captures/capture_000000/candidate']\n"
                                      "assert d.shape == (9, 4) and d.attrs['rows_written'] == '[[0,3],[6,9]]'\n"));
}

TEST_F(Writer, BatchesOfOtherShapesOrTypesHaveDatasetsOfTheirOwn) {
  auto writer = begin();
  const auto index = writer.addCapture({"site", true, 8});
  const tests::Captured a = tests::randomCapture(DType::float32, {4, 3}), b = tests::randomCapture(DType::float32, {4, 5}), c = tests::randomCapture(DType::float16, {4, 3});
  ASSERT_TRUE(writer.capture({index, RunSide::candidate, a.dtype, a.shape, {}, a.bytes.data(), 0, 0}).ok());
  ASSERT_TRUE(writer.capture({index, RunSide::candidate, b.dtype, b.shape, {}, b.bytes.data(), 1, 4}).ok());
  ASSERT_TRUE(writer.capture({index, RunSide::candidate, c.dtype, c.shape, {}, c.bytes.data(), 2, 4}).ok());
  auto ended = tests::finish(writer, {a});
  ASSERT_TRUE(ended.ok()) << ended.error().message();
  m_session = ended.value();
  const auto blocks = read(0);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_THAT(blocks[0].shape, ElementsAre(4, 3));
  EXPECT_EQ(blocks[1].batch, 1);
  EXPECT_THAT(blocks[1].shape, ElementsAre(4, 5));
  EXPECT_EQ(blocks[2].dtype, DType::float16);
}

TEST_F(Writer, ABlockCapturedTwiceOrASiteThatIsNotNamedIsAnErrorAndLeavesNothing) {
  {
    auto writer = begin();
    const tests::Captured block = tests::randomCapture(DType::float32, {2, 3});
    const auto index = writer.addCapture({"site", true, 3});
    for (int i = 0; i < 2; ++i) (void)writer.capture({index, RunSide::candidate, block.dtype, block.shape, {}, block.bytes.data(), i, i});
    const auto ended = tests::finish(writer, {block});
    ASSERT_FALSE(ended.ok());
    EXPECT_THAT(ended.error().message(), HasSubstr("captured twice"));
  }
  EXPECT_TRUE(fs::is_empty(m_folder.path()));
  auto writer = begin();
  writer.addCapture({"site", false, 0});
  EXPECT_FALSE(tests::finish(writer, {}).ok());
  EXPECT_TRUE(fs::is_empty(m_folder.path()));
}

TEST_F(Writer, ModulesNameTheTensorThatAPartOfTheirsMade) {
  const std::vector<tests::Captured> captures = {tests::randomCapture(DType::float32, {3, 4}), tests::randomCapture(DType::float16, {3, 2})};
  write(captures);
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py
with h5py.File('s.ulps.d/run-0001.tensors.h5', 'r') as f:
    run = f['run_0001']
    assert list(run['modules']) == ['0', '1', '2']
    for i, (module, call, name, capture) in enumerate([('encoder.0', 1, 'output', 0), ('encoder', 1, 'output.0', 0), ('', 2, 'output', 1)]):
        m = run['modules'][str(i)]
        assert (m.attrs['module'], m.attrs['call'], m.attrs['name']) == (module, call, name)
        for side in ('reference', 'candidate'):
            a, b = m[side], run['captures/capture_%06d/%s' % (capture, side)]
            assert a == b and a.id.get_offset() == b.id.get_offset()
    c = run['captures/capture_000001']
    assert (c.attrs['label'], c.attrs['site'], c.attrs['module'], c.attrs['op']) == ('site 1', 1, 'module.1', 'aten::linear')
    assert (c.attrs['overload'], c.attrs['occurrence'], c.attrs['output'], c.attrs['sample_axis']) == ('out', 2, 1, '0')
    assert run.attrs['outputs'] == 3 and run['output_0/reference'].shape == (3, 2)
    assert f.attrs['file_format'] == 'ulpscope-tensors/1' and f[f.attrs['default']].attrs['default'] == 'output_0'
)"));
  const auto outputs = storage::readOutputs(m_master, m_session, "run_0001");
  ASSERT_TRUE(outputs.ok()) << outputs.error().message();
  EXPECT_EQ(outputs->size(), 3U);
  EXPECT_EQ(std::system(("h5dump -H '" + m_master + ".d/run-0001.tensors.h5' > '" + m_folder.file("dump") + "' 2>&1").c_str()), 0);
  EXPECT_THAT(tests::readFile(m_folder.file("dump")), HasSubstr("capture_000001"));
}

TEST_F(Writer, TheFileIsHardlyLargerThanItsTensors) {
  std::vector<tests::Captured> captures(40, tests::randomCapture(DType::float16, {3, 100001}));
  write(captures);
  const auto payload = static_cast<double>(2 * 40 * captures[0].bytes.size());
  EXPECT_LE(static_cast<double>(fs::file_size(m_master + ".d/run-0001.tensors.h5")), 1.005 * payload + 4096 * 40);
  fs::remove_all(m_master + ".d");
  fs::remove(m_master);
  m_session = tests::sampleSession();
  captures.assign(500, tests::randomCapture(DType::float32, {3, 1}));
  write(captures);
  EXPECT_LE(fs::file_size(m_master + ".d/run-0001.tensors.h5"), 500U * (24 + 4096) + 20000);
}

TEST_F(Writer, TwoRunsAtOnceHaveNumbersOfTheirOwnAndBothAreThere) {
  { auto first = begin(); ASSERT_TRUE(tests::finish(first, {}).ok()); }
  m_session = storage::openSession(m_master).value();
  auto a = begin(WriteMode::append), b = begin(WriteMode::append);
  const auto block = tests::randomCapture(DType::float32, {3, 2});
  ASSERT_EQ(tests::captureAll(a, {block}), "");
  ASSERT_EQ(tests::captureAll(b, {block}), "");
  EXPECT_THAT(storage::openWithNotes(m_master)->notes, IsEmpty());
  EXPECT_THAT(storage::repairSession(m_master).value(), IsEmpty()) << "a live writer's parts were touched";
  ASSERT_TRUE(tests::finish(b, {block}).ok());
  ASSERT_TRUE(tests::finish(a, {block}).ok());
  m_session = storage::openSession(m_master).value();
  ASSERT_EQ(m_session.runs.size(), 3U);
  for (const int number : {2, 3}) {
    EXPECT_EQ(m_session.runs[static_cast<std::size_t>(number) - 1].number, number);
    EXPECT_TRUE(storage::readCapture(m_master, m_session, "run_000" + std::to_string(number), 0, RunSide::reference).ok());
  }
}

TEST_F(Writer, ANewSessionThatIsSharedTakesAnotherRunBeforeTheFirstIsOver) {
  auto first = begin(WriteMode::share);
  EXPECT_FALSE(storage::RunWriter::begin(m_master, tests::sampleSession(), WriteMode::share).ok()) << "the session exists by now";
  m_session = storage::openSession(m_master).value();
  EXPECT_THAT(m_session.runs, IsEmpty());
  auto second = begin(WriteMode::append);
  EXPECT_EQ(first.runId() + " " + second.runId(), "run_0001 run_0002");
  ASSERT_TRUE(tests::finish(second, {}).ok());
  ASSERT_TRUE(tests::finish(first, {}).ok());
  EXPECT_EQ(storage::openSession(m_master)->runs.size(), 2U);
}

TEST_F(Writer, OfASharedSessionWhereAllRunsFailNothingIsLeft) {
  for (const bool makerEndsFirst : {true, false}) {
    std::optional<storage::RunWriter> first(begin(WriteMode::share));
    m_session = storage::openSession(m_master).value();
    std::optional<storage::RunWriter> second(begin(WriteMode::append));
    (makerEndsFirst ? first : second).reset();
    EXPECT_TRUE(fs::exists(m_master));
    (makerEndsFirst ? second : first).reset();
    EXPECT_TRUE(fs::is_empty(m_folder.path())) << makerEndsFirst;
    m_session = tests::sampleSession();
  }
}

TEST_F(Writer, ARunThatEndsEarlyLeavesNothing) {
  {
    auto writer = begin();
    ASSERT_EQ(tests::captureAll(writer, {tests::randomCapture(DType::float32, {3, 2})}), "");
    ASSERT_EQ(tests::checkpoint(writer, 1), "");
    EXPECT_TRUE(fs::exists(m_master));
  }
  EXPECT_TRUE(fs::is_empty(m_folder.path()));
  { auto first = begin(); ASSERT_TRUE(tests::finish(first, {}).ok()); }
  m_session = storage::openSession(m_master).value();
  const std::string before = tests::readFile(m_master);
  {
    auto writer = begin(WriteMode::append);
    ASSERT_EQ(tests::checkpoint(writer, 1), "");
  }
  EXPECT_EQ(tests::readFile(m_master), before);
  EXPECT_FALSE(fs::exists(m_master + ".d/run-0002.metrics.h5.part"));
  EXPECT_FALSE(fs::exists(m_master + ".d/run-0002.tensors.h5.part"));
}

TEST_F(Writer, ACheckpointedRunEndsAsAnyOtherAndItsPartIsGone) {
  auto writer = begin();
  ASSERT_EQ(tests::checkpoint(writer, 1), "");
  ASSERT_EQ(tests::checkpoint(writer, 2), "");
  EXPECT_THAT(storage::openSession(m_master)->runs, IsEmpty()) << "a live run is nobody's but its writer's";
  const auto ended = tests::finish(writer, {});
  ASSERT_TRUE(ended.ok()) << ended.error().message();
  const auto opened = storage::openWithNotes(m_master);
  ASSERT_EQ(opened->session.runs.size(), 1U);
  EXPECT_EQ(opened->session.runs[0].status, session::RunStatus::ok);
  EXPECT_THAT(opened->notes, IsEmpty());
  EXPECT_EQ(opened->session.generation, ended->generation);
  EXPECT_FALSE(fs::exists(m_master + ".d/run-0001.metrics.h5.part"));
}

}  // namespace
