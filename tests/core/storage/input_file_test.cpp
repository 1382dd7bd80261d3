// Inputs as users' own tools write them, and what must not be taken for one.
#include "core/base/float_formats.h"
#include "core/storage/input_file.h"
#include "tests/core/storage/sample_reader.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace ulpscope;
using base::DType;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::valuesOf;

namespace {

class InputFile : public testing::Test {
 protected:
  // Writes in.h5 with h5py; `lines` see it as f.
  void write(const std::string& lines) {
    ASSERT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nf = h5py.File('in.h5', 'w')\n" + lines + "\nf.close()\n"));
  }
  std::string error() {
    const auto read = storage::readInputFile(m_path);
    return read.ok() ? "read" : read.error().message();
  }
  storage::InputFile read() {
    auto result = storage::readInputFile(m_path);
    EXPECT_TRUE(result.ok()) << result.error().message();
    return result.ok() ? result.value() : storage::InputFile{};
  }
  storage::RawTensor only() {
    auto file = read();
    EXPECT_EQ(file.inputs.size(), 1U);
    return file.inputs.empty() ? storage::RawTensor{} : file.inputs[0];
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("in.h5");
};

TEST_F(InputFile, ReadsAllThatAnInputsFileMayHold) {
  write(R"(
f['x'] = np.arange(6, dtype='f4').reshape(3, 2)
f['mask'] = np.array([True, False, True])
f['sample_ids'] = ['a', 'b', '\u00e9']
f['labels'] = np.array([2, 0, 1], 'u1')
f['class_names'] = np.array([b'cat', b'dog', b'ox'])
f['expected/logits'] = np.array([1.5, -2.5], 'f8'))");
  const auto file = read();
  ASSERT_EQ(file.inputs.size(), 2U);
  EXPECT_EQ(file.inputs[0].name, "mask");
  EXPECT_EQ(file.inputs[0].dtype, DType::boolean);
  EXPECT_THAT(valuesOf<std::uint8_t>(file.inputs[0]), ElementsAre(1, 0, 1));
  EXPECT_EQ(file.inputs[1].name, "x");
  EXPECT_THAT(file.inputs[1].shape, ElementsAre(3, 2));
  EXPECT_THAT(valuesOf<float>(file.inputs[1]), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(file.sampleIds, ElementsAre("a", "b", "é"));
  EXPECT_THAT(file.labels, ElementsAre(2, 0, 1));
  EXPECT_THAT(file.classNames, ElementsAre("cat", "dog", "ox"));
  ASSERT_EQ(file.expected.size(), 1U);
  EXPECT_THAT(valuesOf<double>(file.expected[0]), ElementsAre(1.5, -2.5));
}

// HDF5's own conversion halves values just below a power of two and loses NaN payloads; all patterns must survive.
TEST_F(InputFile, KeepsAllBitPatternsOfFloat16) {
  for (const char* order : {"<", ">"}) {
    write(std::string("f['x'] = np.arange(65536, dtype='<u2').view('<f2').view('") + "<f2')" +
          (order[0] == '>' ? ".byteswap().view('>f2')" : ""));
    const auto tensor = only();
    EXPECT_EQ(tensor.dtype, DType::float16);
    const auto bits = valuesOf<std::uint16_t>(tensor);
    ASSERT_EQ(bits.size(), 65536U);
    for (std::size_t i = 0; i < bits.size(); ++i) ASSERT_EQ(bits[i], i);
  }
}

TEST_F(InputFile, KeepsAllBitPatternsOfBfloat16InItsThreeForms) {
  const std::string patterns = "bits = np.arange(65536, dtype='<u2')\n";
  const std::string asFloat = R"(
t = h5py.h5t.IEEE_F32LE.copy(); t.set_fields(15, 7, 8, 0, 7); t.set_size(2); t.set_ebias(127)
d = h5py.h5d.create(f.id, b'x', t, h5py.h5s.create_simple((65536,)))
d.write(h5py.h5s.ALL, h5py.h5s.ALL, bits, mtype=t))";
  const std::string asInteger = "f['x'] = bits; f['x'].attrs['dtype'] = 'bfloat16'";
  const std::string asOpaque = "f['x'] = bits.view('V2'); f['x'].attrs['dtype'] = np.bytes_('bfloat16')";
  for (const std::string& form : {asFloat, asInteger, asOpaque}) {
    SCOPED_TRACE(form);
    write(patterns + form);
    const auto tensor = only();
    EXPECT_EQ(tensor.dtype, DType::bfloat16);
    const auto bits = valuesOf<std::uint16_t>(tensor);
    ASSERT_EQ(bits.size(), 65536U);
    for (std::size_t i = 0; i < bits.size(); ++i) ASSERT_EQ(bits[i], i);
  }
}

TEST_F(InputFile, KeepsFloatBitsAndTurnsBigEndian) {
  write(R"(
bits = np.array([0x7fc00001, 0xff800000, 0x80000000, 0x00000001, 0x3f800000], '<u4')
f['a'] = bits.view('<f4')
f['b'] = bits.byteswap().view('>f4')
f['c'] = np.array([0x7ff8000000000001, 1], '<u8').byteswap().view('>f8')
f['d'] = np.array([-2, 1 << 40], '>i8')
f['e'] = np.array([-2, 300], '>i2'))");
  const auto file = read();
  ASSERT_EQ(file.inputs.size(), 5U);
  for (const int i : {0, 1}) EXPECT_THAT(valuesOf<std::uint32_t>(file.inputs[i]), ElementsAre(0x7fc00001, 0xff800000, 0x80000000, 1, 0x3f800000));
  EXPECT_THAT(valuesOf<std::uint64_t>(file.inputs[2]), ElementsAre(0x7ff8000000000001, 1));
  EXPECT_THAT(valuesOf<std::int64_t>(file.inputs[3]), ElementsAre(-2, std::int64_t{1} << 40));
  EXPECT_EQ(file.inputs[4].dtype, DType::int16);
  EXPECT_THAT(valuesOf<std::int16_t>(file.inputs[4]), ElementsAre(-2, 300));
}

TEST_F(InputFile, ReadsScalarsEmptyArraysAndCompressedChunks) {
  write(R"(
f['empty'] = np.zeros((0, 3), 'f4')
f['scalar'] = np.float32(2.5)
f.create_dataset('z', data=np.arange(1000, dtype='i4'), chunks=(10,), compression='gzip', shuffle=True))");
  const auto file = read();
  ASSERT_EQ(file.inputs.size(), 3U);
  EXPECT_THAT(file.inputs[0].shape, ElementsAre(0, 3));
  EXPECT_TRUE(file.inputs[0].bytes.empty());
  EXPECT_TRUE(file.inputs[1].shape.empty());
  EXPECT_THAT(valuesOf<float>(file.inputs[1]), ElementsAre(2.5F));
  EXPECT_EQ(valuesOf<std::int32_t>(file.inputs[2])[999], 999);
}

TEST_F(InputFile, RefusesWhatIsNoTensor) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"f['x'] = ['a', 'b']", "holds text"},
      {"f['x'] = np.zeros(2, 'c8')", "holds records (or complex numbers)"},
      {"f['x'] = np.zeros(2, 'u2')", "is uint16"},
      {"f['x'] = np.zeros(2, 'u8')", "is uint64"},
      {"f['x'] = np.zeros(2, 'longdouble')", "layout PyTorch does not have"},
      {"f['x'] = np.zeros(2, 'V2')", "opaque"},
      {"f['x'] = h5py.Empty('f4')", "null dataspace"},
      {"f.create_dataset('x', (2, 3), 'f4')", "never written"},
      {"f['g/x'] = np.zeros(2)", "is a group"},
      {"f['labels'] = [1]", "holds no inputs"},
      {"f['x'] = [1.0]; f['labels'] = [0.5]", "does not hold integers"},
      {"f['x'] = [1.0]; f['sample_ids'] = ['a', 'a']", "'a' twice"},
      {"f['x'] = [1.0]; f['sample_ids'] = ['a', '']", "empty id"},
      {"f['x'] = [1.0]; f['class_names'] = np.array([b'\\xff'])", "not UTF-8"},
      {"f['x'] = np.zeros(2, h5py.enum_dtype({'A': 0, 'B': 1}))", "enumeration"}};
  for (const auto& [lines, words] : cases) {
    SCOPED_TRACE(lines);
    write(lines);
    EXPECT_THAT(error(), AllOf(HasSubstr(m_path), HasSubstr(words)));
  }
}

TEST_F(InputFile, RefusesHugeShapesBeforeAllocating) {
  write("f.create_dataset('x', (1 << 31, 1 << 31, 1 << 31), 'f8', chunks=(1, 1, 1))");
  EXPECT_THAT(error(), HasSubstr("more elements than any memory can hold"));
  write("f.create_dataset('x', (1 << 38,), 'f4', chunks=(16,))[0] = 1");
  EXPECT_THAT(error(), HasSubstr("the file stores only"));
}

TEST_F(InputFile, RefusesDataOfOtherFiles) {
  ASSERT_TRUE(tests::python(m_folder, "import h5py\nh5py.File('other.h5', 'w')['x'] = [1.0]"));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"f['x'] = h5py.ExternalLink('other.h5', '/x')", "link out of the file"},
      {"f['x'] = h5py.SoftLink('/y'); f['y'] = [1.0]", "soft link"},
      {"f.create_dataset('x', (2,), 'f4', external=[('other.h5', 0, 8)])", "external storage"},
      {"l = h5py.VirtualLayout((1,), 'f8'); l[:] = h5py.VirtualSource('other.h5', 'x', (1,)); f.create_virtual_dataset('x', l)", "virtual dataset"},
      {"f['y'] = [1.0]; f['labels'] = h5py.ExternalLink('other.h5', '/x')", "link out of the file"}};
  for (const auto& [lines, words] : cases) {
    SCOPED_TRACE(lines);
    write(lines);
    EXPECT_THAT(error(), HasSubstr(words));
  }
}

TEST_F(InputFile, ATruncatedFileIsAnErrorAtEveryLength) {
  write("f['x'] = np.arange(1000.0); f['labels'] = np.arange(1000)");
  const std::string whole = tests::readFile(m_path);
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    tests::writeFile(m_path, whole.substr(0, length));
    ASSERT_THAT(error(), HasSubstr(m_path)) << length;
  }
}

TEST_F(InputFile, NamesAFileThatIsMissingEmptyOrForeign) {
  EXPECT_THAT(error(), HasSubstr("does not exist"));
  tests::writeFile(m_path, "");
  EXPECT_THAT(error(), HasSubstr("is empty"));
  tests::writeFile(m_path, "1,2,3\n");
  EXPECT_THAT(error(), HasSubstr("is no inputs file"));
  EXPECT_FALSE(storage::looksLikeHdf5(m_path));
  std::filesystem::remove(m_path);
  std::filesystem::create_directory(m_path);
  EXPECT_THAT(error(), HasSubstr("is a folder"));
}

TEST_F(InputFile, KnowsHdf5BehindAUserBlock) {
  ASSERT_TRUE(tests::python(m_folder, "import h5py\nh5py.File('in.h5', 'w', userblock_size=1024)['x'] = [1.0]"));
  EXPECT_TRUE(storage::looksLikeHdf5(m_path));
  EXPECT_THAT(valuesOf<double>(only()), ElementsAre(1.0));
}

TEST_F(InputFile, ReadsLabelsFromTextAndFromHdf5) {
  const std::string text = m_folder.file("labels.txt");
  tests::writeFile(text, "3\r\n-1\n 2 \n\n");
  auto truth = storage::readTruth(text);
  ASSERT_TRUE(truth.ok()) << truth.error().message();
  EXPECT_THAT(truth->labels, ElementsAre(3, -1, 2));
  EXPECT_THAT(truth->targets, IsEmpty());
  tests::writeFile(text, "3\ncat\n");
  truth = storage::readTruth(text);
  ASSERT_FALSE(truth.ok());
  EXPECT_THAT(truth.error().message(), AllOf(HasSubstr("line 2"), HasSubstr("cat")));
  tests::writeFile(text, "3\n\n2\n");
  EXPECT_FALSE(storage::readTruth(text).ok());
  write("f['labels'] = np.array([5, 6], '>i2')");
  truth = storage::readTruth(m_path);
  ASSERT_TRUE(truth.ok()) << truth.error().message();
  EXPECT_THAT(truth->labels, ElementsAre(5, 6));
  EXPECT_FALSE(storage::readTruth(m_folder.file("none")).ok());
}

TEST_F(InputFile, ReadsTargetsWhereANumberHasAFraction) {
  const std::string text = m_folder.file("targets.txt");
  tests::writeFile(text, "3\n2.5\n-1e-3\n");
  auto truth = storage::readTruth(text);
  ASSERT_TRUE(truth.ok()) << truth.error().message();
  EXPECT_THAT(truth->targets, ElementsAre(3, 2.5, -1e-3));
  EXPECT_THAT(truth->labels, IsEmpty());
  tests::writeFile(text, "1.5\nnan\n");
  EXPECT_FALSE(storage::readTruth(text).ok());
  write("f['targets'] = np.array([5.5, 6], 'f4')");
  EXPECT_THAT(storage::readTruth(m_path)->targets, ElementsAre(5.5, 6));
}

TEST_F(InputFile, ReadsKindsAndPreprocessing) {
  write("f['x'] = [1.0, 2.0]\nf['sample_kinds'] = ['edge', 'common']\nf['preprocessing'] = 'resize-256'");
  const auto file = storage::readInputFile(m_path);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_THAT(file->kinds, ElementsAre("edge", "common"));
  EXPECT_EQ(file->preprocessing, "resize-256");
  EXPECT_EQ(file->inputs.size(), 1U);
}

TEST_F(InputFile, ReadsClassNamesFromText) {
  const std::string text = m_folder.file("names.txt");
  tests::writeFile(text, "cat\ndög\r\nblue whale\n");
  const auto names = storage::readClassNames(text);
  ASSERT_TRUE(names.ok()) << names.error().message();
  EXPECT_THAT(names.value(), ElementsAre("cat", "dög", "blue whale"));
  tests::writeFile(text, std::string("cat\n\xff\xfe\n"));
  EXPECT_FALSE(storage::readClassNames(text).ok());
}

}  // namespace
