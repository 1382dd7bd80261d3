// Sessions built to mislead a reader, and sessions read by others: h5py, h5dump, and the NeXus rule that silx plots by.
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"
#include "tests/support/stored_elements.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>
#include <numeric>

using namespace ulpscope;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

class OddSession : public testing::Test {
 protected:
  void write(const tests::SampleRun& sample) {
    auto written = storage::addRun(m_master, tests::sampleSession(), sample.run, sample.metrics, sample.outputs, storage::WriteMode::create);
    ASSERT_TRUE(written.ok()) << written.error().message();
    m_session = written.value();
  }
  void SetUp() override {
    write(tests::sampleRun());
    for (const char* kind : {"metrics", "tensors"}) fs::permissions(m_master + ".d/run-0001." + kind + ".h5", fs::perms::owner_all);
  }
  // What opening says once the Python lines changed the file "f".
  std::string afterEdit(const std::string& file, const std::string& lines) {
    const std::string whole = tests::readFile(m_folder.file(file));
    EXPECT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nwith h5py.File('" + file + "', 'r+') as f:\n" + lines));
    const auto opened = storage::openSession(m_master);
    std::string said = opened.ok() ? "" : opened.error().message();
    if (const auto read = storage::readMetrics(m_master, m_session, "run_0001"); said.empty() && !read.ok()) said = read.error().message();
    if (const auto read = storage::readOutputs(m_master, m_session, "run_0001"); said.empty() && !read.ok()) said = read.error().message();
    tests::writeFile(m_folder.file(file), whole);
    return said;
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
  session::Session m_session;
};

struct Oddity {
  const char* lines;
  const char* said;
};

TEST_F(OddSession, WhatNoWriterOfOursMakesIsRefusedInOneLineInEveryFile) {
  tests::writeFile(m_folder.file("secret"), "secret");
  constexpr Oddity kOddities[] = {
      {"  f['run_0001/again'] = f['run_0001']", "contains itself"},
      {"  g = f.create_group('a'); g['b'] = f['/']", "contains itself"},
      {"  f['twin'] = f['run_0001']", "stands at two places"},
      {"  f.create_group('/'.join('abcdefghijklmnop'))", "nested deeper"},
      {"  f.create_group('a/b')['x'] = h5py.ExternalLink('secret', '/x')", "is a link to 'secret'"},
      {"  f.create_group('a/b')['x'] = h5py.SoftLink('/run_0001')", "is a link"},
      {"  f.create_group('a').create_dataset('x', (6,), 'u1', external=[('secret', 0, 6)])", "external storage"},
      {"  l = h5py.VirtualLayout((6,), 'u1'); l[:] = h5py.VirtualSource('secret', 'x', (6,)); f.create_virtual_dataset('x', l)", "virtual dataset"},
      {"  f.create_dataset('x', (1 << 40, 1 << 20), 'f4', chunks=(1, 1 << 10))", "more elements than any memory"},
      {"  f.create_dataset('x', (1 << 40,), 'f4', chunks=(1 << 10,))[0] = 1", "declares"},
      {"  f.create_dataset('x', (4,), 'f4')", "never written"}};
  for (const std::string file : {"s.ulps", "s.ulps.d/run-0001.metrics.h5", "s.ulps.d/run-0001.tensors.h5"})
    for (const Oddity& oddity : kOddities) {
      SCOPED_TRACE(file + ": " + oddity.lines);
      EXPECT_THAT(afterEdit(file, oddity.lines), AllOf(HasSubstr(file), HasSubstr(oddity.said), Not(HasSubstr("\n"))));
    }
  EXPECT_EQ(afterEdit("s.ulps", "  pass"), "");
}

TEST_F(OddSession, AColumnOfAnotherTypeIsNamed) {
  constexpr Oddity kOddities[] = {
      {"  del f['run_0001/sites/rel_l2']; f['run_0001/sites/rel_l2'] = [b'x', b'y']", "rel_l2: does not hold float32 or float64"},
      {"  del f['run_0001/sites/rel_l2']; f['run_0001/sites/rel_l2'] = np.zeros(2, 'f2')", "rel_l2: does not hold float32 or float64"},
      {"  del f['run_0001/sites/module']; f['run_0001/sites/module'] = [1, 2]", "module: holds no text"},
      {"  del f['run_0001/sites/occurrence']; f['run_0001/sites/occurrence'] = [1.0, 2.0]", "occurrence: does not hold integers"},
      {"  del f['run_0001/sites/occurrence']; f['run_0001/sites/occurrence'] = np.zeros(2, [('a', 'i4'), ('b', 'f4')])", "occurrence: does not hold integers"},
      {"  del f['run_0001/sites/max_abs']; f['run_0001/sites/max_abs'] = [[1.0, 2.0]]", "max_abs: has 2 dimensions"},
      {"  del f['run_0001/sites']; f['run_0001/sites'] = 1", "sites: is no group"},
      {"  del f['model']; f.create_group('model')", "model: is no dataset"},
      {"  f.attrs['generation'] = 'many'", "generation: is not one whole number"}};
  for (const Oddity& oddity : kOddities) EXPECT_THAT(afterEdit("s.ulps", oddity.lines), HasSubstr(oddity.said)) << oddity.lines;
}

// HDF5 would prefer each of these to the session's own file.
TEST_F(OddSession, AFileOfThatNameInTheWorkingDirectoryOrUnderHdf5sPrefixIsNotTaken) {
  const fs::path decoy = m_folder.file("work/s.ulps.d");
  fs::create_directories(decoy);
  for (const char* kind : {"metrics", "tensors"}) tests::writeFile((decoy / (std::string("run-0001.") + kind + ".h5")).string(), "a decoy");
  const fs::path before = fs::current_path();
  fs::current_path(m_folder.file("work"));
  ::setenv("HDF5_EXT_PREFIX", m_folder.file("work").c_str(), 1);
  ::setenv("HDF5_VDS_PREFIX", m_folder.file("work").c_str(), 1);
  EXPECT_TRUE(storage::readMetrics(m_master, m_session, "run_0001").ok());
  EXPECT_TRUE(storage::readOutputs(m_master, m_session, "run_0001").ok());
  for (const char* variable : {"HDF5_EXT_PREFIX", "HDF5_VDS_PREFIX"}) ::unsetenv(variable);
  fs::current_path(before);
}

// The rule of silx's nxdata.get_default and of NeXus: root -> default entry -> default data -> signal with its axes, one
// per dimension and of its length; found through the master's link.
TEST_F(OddSession, TheNexusDefaultPlotOfEveryFileIsFound) {
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py
def default_plot(path):
    group = h5py.File(path)
    while group.attrs['NX_class'] != 'NXdata':
        assert group.attrs['NX_class'] in ('NXroot', 'NXentry'), group.attrs['NX_class']
        group = group[group.attrs['default']]
    return group
for path in ('s.ulps', 's.ulps.d/run-0001.metrics.h5'):
    data = default_plot(path)
    signal = data[data.attrs['signal']]
    assert signal.dtype == 'f4' and signal.attrs['interpretation'] == 'image'
    assert list(data.attrs['axes']) == ['site', 'sample'] and len(data.attrs['axes']) == signal.ndim
    for axis, size in zip(data.attrs['axes'], signal.shape):
        assert data[axis].shape == (size,) and data[axis].dtype.kind == 'i'
    for name in data.attrs['auxiliary_signals']:
        assert data[name].shape == signal.shape
sites = h5py.File('s.ulps')['run_0001/sites']
assert sites.attrs['NX_class'] == 'NXdata' and sites[sites.attrs['signal']].ndim == 1
)"));
}

TEST_F(OddSession, H5pyAndH5dumpReadEveryDatasetOfEveryFile) {
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, subprocess
for path in ('s.ulps', 's.ulps.d/run-0001.metrics.h5', 's.ulps.d/run-0001.tensors.h5'):
    names = []
    def read(name, thing):
        for value in thing.attrs.values(): pass
        if isinstance(thing, h5py.Dataset):
            names.append(name); thing[()]
    h5py.File(path).visititems(read)
    assert len(names) >= 6, names
    dump = subprocess.run(['h5dump', '--enable-error-stack', path], capture_output=True, text=True)
    assert dump.returncode == 0 and 'error' not in dump.stderr, dump.stderr
    for name in names:
        one = subprocess.run(['h5dump', '-d', '/' + name, path], capture_output=True, text=True)
        assert one.returncode == 0 and 'DATA {' in one.stdout, name
)"));
}

// numpy reads float16, h5py widens bfloat16 itself: both from the bits on disk, with no conversion of HDF5's.
TEST_F(OddSession, All65536PatternsOfBoth16BitTypesReachH5pyBitForBit) {
  fs::remove_all(m_master + ".d");
  fs::remove(m_master);
  tests::SampleRun sample = tests::sampleRun();
  sample.outputs.clear();
  for (const base::DType dtype : {base::DType::float16, base::DType::bfloat16}) {
    std::vector<float> values;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) values.push_back(std::bit_cast<float>(bits << 16));
    if (dtype == base::DType::float16) {
      // By value, from IEEE 754's definition of binary16.
      for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const int exponent = static_cast<int>((bits >> 10) & 31);
        const auto fraction = static_cast<float>(bits & 1023);
        const float magnitude = exponent == 31 ? (fraction == 0 ? INFINITY : NAN) : exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        values[bits] = (bits & 0x8000) != 0 ? -magnitude : magnitude;
      }
    }
    sample.outputs.push_back({base::name(dtype), {65536}, tests::storedElements(base::DType::float32, std::vector<float>(65536, 0.0F)), tests::storedElements(dtype, values)});
  }
  write(sample);
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
f = h5py.File('s.ulps.d/run-0001.tensors.h5')['run_0001']
bits = np.arange(65536, dtype=np.uint16)
half = f['output_0/candidate']
assert half.dtype == np.float16
number = ~np.isnan(bits.view(np.float16))
assert (half[()].view(np.uint16) == bits)[number].all() and np.isnan(half[()][~number]).all()
brain = f['output_1/candidate']
assert brain.id.get_type().get_size() == 2 and brain.attrs['dtype'] == 'bfloat16'
wide = (bits.astype(np.uint32) << 16).view(np.float32)
number = ~np.isnan(wide)
read = brain[()].astype(np.float32)
assert (read.view(np.uint32) == wide.view(np.uint32))[number].all() and np.isnan(read[~number]).all()
)"));
  const auto read = storage::readOutputs(m_master, m_session, "run_0001");
  ASSERT_TRUE(read.ok()) << read.error().message();
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(read.value()[k].candidate.bytes, sample.outputs[k].candidate.bytes);
}

}  // namespace
