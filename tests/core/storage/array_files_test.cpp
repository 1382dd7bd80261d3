// Arrays as numpy and safetensors write them, against what numpy itself holds, bit for bit.
#include "tests/core/storage/sample_reader.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using base::DType;
using testing::ElementsAre;
using testing::IsEmpty;
using tests::valuesOf;

namespace {

// The arrays that every format is to hand on; `only` is called where the format has no such type.
constexpr const char* kArrays = R"(
import io, json, struct, zipfile, numpy as np
special = np.array([0.0, -0.0, 1.5, np.nan, np.inf, -np.inf, 5e-324, 1e-45, 6e-8, 65504], 'f8')
arrays = {'f2': special.astype('f2'), 'f4': special.astype('f4'), 'f8': special,
          'nan_bits': np.array([0x7fc00001, 0xff800001, 1, 0x80000000], '<u4').view('<f4'),
          'i1': np.array([-128, 127], 'i1'), 'i2': np.array([-2, 300], 'i2'), 'i4': np.array([-2, 1 << 20], 'i4'), 'i8': np.array([-2, 1 << 40], 'i8'),
          'u1': np.array([0, 255], 'u1'), 'b1': np.array([True, False, True]), 'c8': np.array([1 + 2j, -0.0j], 'c8'),
          'scalar': np.array(2.5, 'f4'), 'empty': np.zeros((0, 3), 'f4'), 'empty2': np.zeros((2, 0), 'i8'), 'cube': np.arange(24, dtype='f4').reshape(2, 3, 4)}
names = {'float16': 'F16', 'float32': 'F32', 'float64': 'F64', 'int8': 'I8', 'int16': 'I16', 'int32': 'I32', 'int64': 'I64', 'uint8': 'U8', 'bool': 'BOOL',
         'complex64': 'C64', 'uint16': 'U16', 'uint32': 'U32', 'uint64': 'U64'}
def save_safetensors(path, arrays, metadata=None, types={}, padding=''):
    header, at, data = {}, 0, b''
    if metadata is not None: header['__metadata__'] = metadata
    for name, a in arrays.items():
        header[name] = {'dtype': types.get(name, names[a.dtype.name]), 'shape': list(a.shape), 'data_offsets': [at, at + a.nbytes]}
        at += a.nbytes
        data += np.ascontiguousarray(a).tobytes()
    text = (json.dumps(header) + padding).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)
# What the reader is to give: name, dtype and the bytes in C order, little-endian.
def truth(arrays):
    with open('truth.txt', 'w') as file:
        for name, a in sorted(arrays.items()):
            shape = ','.join(map(str, a.shape))
            print(name, a.dtype.name, shape or '-', np.ascontiguousarray(a).astype(a.dtype.newbyteorder('<')).tobytes().hex() or '-', file=file)
)";

std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += "0123456789abcdef"[static_cast<int>(b) >> 4], text += "0123456789abcdef"[static_cast<int>(b) & 15];
  return text.empty() ? "-" : text;
}

std::string line(const storage::RawTensor& tensor) {
  std::string shape;
  for (const std::int64_t size : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(size);
  return tensor.name + " " + base::name(tensor.dtype) + " " + (shape.empty() ? "-" : shape) + " " + hex(tensor.bytes) + "\n";
}

class ArrayFiles : public testing::Test {
 protected:
  void write(const std::string& lines) { ASSERT_TRUE(tests::python(m_folder, kArrays + lines)); }
  storage::InputFile read(const std::string& name) {
    auto result = storage::readInputFile(m_folder.file(name));
    EXPECT_TRUE(result.ok()) << result.error().message();
    return result.ok() ? result.value() : storage::InputFile{};
  }
  void expectTruth(const std::string& name) {
    std::string lines;
    for (const storage::RawTensor& tensor : read(name).inputs) lines += line(tensor);
    EXPECT_EQ(lines, tests::readFile(m_folder.file("truth.txt")));
  }

  tests::ScratchFolder m_folder;
};

TEST_F(ArrayFiles, NpzGivesWhatNumpyHolds) {
  write("truth(arrays)\nnp.savez('a.npz', **arrays)\nnp.savez_compressed('b.npz', **arrays)\n");
  expectTruth("a.npz");
  expectTruth("b.npz");
  EXPECT_TRUE(read("a.npz").isNamed);
}

TEST_F(ArrayFiles, FortranOrderAndBigEndianComeOutTheSame) {
  write("odd = {n: (np.asfortranarray(a) if a.ndim else a).astype(a.dtype.newbyteorder('>')) for n, a in arrays.items()}\n"
        "turned = arrays['cube'].astype('i2').transpose(2, 0, 1)\nodd['turned'] = arrays['turned'] = turned\n"
        "assert np.lib.format.header_data_from_array_1_0(odd['cube'])['fortran_order']\ntruth(arrays)\nnp.savez('a.npz', **odd)\n");
  expectTruth("a.npz");
}

TEST_F(ArrayFiles, SafetensorsGivesWhatNumpyHolds) {
  write("truth(arrays)\nsave_safetensors('a.safetensors', arrays, {'format': 'pt'}, padding='   ')\n");
  expectTruth("a.safetensors");
}

TEST_F(ArrayFiles, TheKindIsThatOfTheContent) {
  write("np.savez(open('a.h5', 'wb'), x=arrays['cube'])\nsave_safetensors('b.npy', {'x': arrays['cube']})\nnp.save(open('c.txt', 'wb'), arrays['cube'])\n");
  EXPECT_THAT(read("a.h5").inputs.at(0).shape, ElementsAre(2, 3, 4));
  EXPECT_THAT(read("b.npy").inputs.at(0).shape, ElementsAre(2, 3, 4));
  EXPECT_THAT(read("c.txt").inputs.at(0).shape, ElementsAre(2, 3, 4));
}

TEST_F(ArrayFiles, EveryVersionOfTheHeaderIsRead) {
  write("import warnings\nwarnings.simplefilter('ignore')\nfor v in (1, 2, 3): np.lib.format.write_array(open(f'{v}.npy', 'wb'), arrays['cube'], (v, 0))\n"
        "d = b\"{'shape': (2L, 1L), 'fortran_order': False, 'descr': '<i2', }\\n\"\nopen('py2.npy', 'wb').write(b'\\x93NUMPY\\1\\0' + struct.pack('<H', len(d)) + d + b'\\1\\0\\2\\0')\n");
  for (const char* name : {"1.npy", "2.npy", "3.npy"}) {
    const auto file = read(name);
    ASSERT_EQ(file.inputs.size(), 1U) << name;
    EXPECT_EQ(valuesOf<float>(file.inputs[0])[23], 23) << name;
    EXPECT_FALSE(file.isNamed) << "an npy has no name";
  }
  EXPECT_THAT(valuesOf<std::int16_t>(read("py2.npy").inputs.at(0)), ElementsAre(1, 2)) << "Python 2's long";
}

// '<V2' is what ml_dtypes' bfloat16 becomes in numpy's header.
TEST_F(ArrayFiles, AllBfloat16PatternsSurvive) {
  write("bits = np.arange(65536, dtype='<u2')\nnp.save('v.npy', bits.view('V2'))\ndata = open('v.npy', 'rb').read()\n"
        "open('ml.npy', 'wb').write(data.replace(b'|V2', b'<V2'))\nopen('word.npy', 'wb').write(data.replace(b\"'|V2'\", b\"'bfloat16'\").replace(b'     \\n', b'\\n'))\n"
        "save_safetensors('b.safetensors', {'x': bits}, types={'x': 'BF16'})\nsave_safetensors('h.safetensors', {'x': bits}, types={'x': 'F16'})\n");
  for (const char* name : {"ml.npy", "word.npy", "b.safetensors", "h.safetensors"}) {
    const auto file = read(name);
    ASSERT_EQ(file.inputs.size(), 1U) << name;
    EXPECT_EQ(file.inputs[0].dtype, name[0] == 'h' ? DType::float16 : DType::bfloat16);
    const auto bits = valuesOf<std::uint16_t>(file.inputs[0]);
    ASSERT_EQ(bits.size(), 65536U);
    for (std::size_t i = 0; i < bits.size(); ++i) ASSERT_EQ(bits[i], i);
  }
}

constexpr const char* kWhole = R"(
more = dict(labels=np.array([2, 0], '>u2'), targets=np.array([0.5, 1], 'f2'))
out = np.array([[1.5], [-2.5]])
texts = dict(sample_ids=np.array(['a', '\u00e9\U0001F600']), class_names=np.array([b'cat', b'dog', b'ox']), sample_kinds=np.array(['common', 'edge'], '>U6'), preprocessing=np.array('none'))
np.savez_compressed('a.npz', x=np.ones((2, 1)), **more, **texts, **{'expected/logits': out})
np.savez('b.npz', x=np.ones((2, 1)), **more, **texts, **{'expected.logits': out})
lists = {k: json.dumps(v.astype(str).tolist()) for k, v in texts.items() if v.ndim}
save_safetensors('c.safetensors', dict(x=np.ones((2, 1)), labels=more['labels'].astype('<u2'), targets=more['targets'], **{'expected.logits': out}), {**lists, 'preprocessing': 'none', 'other': 'x'})
)";

TEST_F(ArrayFiles, HoldAllThatAnInputsFileMayHold) {
  write(kWhole);
  for (const char* name : {"a.npz", "b.npz", "c.safetensors"}) {
    SCOPED_TRACE(name);
    const auto file = read(name);
    ASSERT_EQ(file.inputs.size(), 2U);
    EXPECT_EQ(file.inputs[0].name, "targets");
    EXPECT_EQ(file.inputs[1].name, "x");
    EXPECT_THAT(file.labels, ElementsAre(2, 0));
    EXPECT_THAT(file.sampleIds, ElementsAre("a", "é😀"));
    EXPECT_THAT(file.classNames, ElementsAre("cat", "dog", "ox"));
    EXPECT_THAT(file.kinds, ElementsAre("common", "edge"));
    EXPECT_EQ(file.preprocessing, "none");
    ASSERT_EQ(file.expected.size(), 1U);
    EXPECT_EQ(file.expected[0].name, "logits");
    EXPECT_THAT(valuesOf<double>(file.expected[0]), ElementsAre(1.5, -2.5));
  }
}

TEST_F(ArrayFiles, IdsMayBeNumbers) {
  write("np.savez('a.npz', x=np.ones(2), sample_ids=np.array([7, -1]))\nsave_safetensors('b.safetensors', {'x': np.ones(2)}, {'sample_ids': '[7, -1]'})\n"
        "save_safetensors('c.safetensors', {'x': np.ones(2), 'sample_ids': np.array([7, -1])})\n");
  for (const char* name : {"a.npz", "b.safetensors", "c.safetensors"}) EXPECT_THAT(read(name).sampleIds, ElementsAre("7", "-1")) << name;
}

TEST_F(ArrayFiles, ArraysThatNobodyNamedKeepTheirOrder) {
  write("np.savez('a.npz', *[np.full(2, i) for i in range(11)], labels=np.arange(2))\nnp.savez('b.npz', arr_0=np.ones(1), arr_2=np.ones(1))\n");
  const auto file = read("a.npz");
  EXPECT_FALSE(file.isNamed);
  ASSERT_EQ(file.inputs.size(), 11U);
  for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(valuesOf<std::int64_t>(file.inputs[i])[0], static_cast<std::int64_t>(i)) << "arr_10 is after arr_9";
  EXPECT_TRUE(read("b.npz").isNamed) << "a gap: somebody chose these names";
  const auto shapes = storage::inputShapes(m_folder.file("a.npz"));
  ASSERT_EQ(shapes->size(), 11U);
  EXPECT_EQ(shapes.value()[10].name, "arr_10");
}

TEST_F(ArrayFiles, GiveSingleSamples) {
  write("a = arrays['cube']\nnp.save('c.npy', a)\nnp.save('f.npy', np.asfortranarray(a.astype('>f4')))\nnp.savez_compressed('z.npz', arr_0=a)\n"
        "save_safetensors('s.safetensors', {'one': np.ones(1, 'u1'), 'arr_0': a})\n");
  for (const char* name : {"c.npy", "f.npy", "z.npz", "s.safetensors"}) {
    SCOPED_TRACE(name);
    const std::string path = m_folder.file(name);
    const auto first = tests::samplesOf(path, {"arr_0", 0, {1, 0}});
    EXPECT_THAT(first[0].shape, ElementsAre(3, 4));
    EXPECT_THAT(valuesOf<float>(first[0]), ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
    EXPECT_THAT(valuesOf<float>(first[1])[0], 0);
    EXPECT_THAT(valuesOf<float>(tests::samplesOf(path, {"arr_0", 1, {2}})[0]), ElementsAre(8, 9, 10, 11, 20, 21, 22, 23));
    EXPECT_THAT(valuesOf<float>(tests::samplesOf(path, {"arr_0", 2, {3}})[0]), ElementsAre(3, 7, 11, 15, 19, 23));
    EXPECT_EQ(tests::samplesOf(path, {"arr_0", -1, {5, 7}})[1].bytes.size(), 96U) << "shared by all samples";
    EXPECT_EQ(tests::sampleError(path, {"arr_0", 0, {2}}), path + ", arr_0: has no sample 2, only 2; the file is another one than the run's");
    EXPECT_EQ(tests::sampleError(path, {"y", 0, {0}}), path + ", y: is not in the file; the file is another one than the run's");
  }
}

TEST_F(ArrayFiles, HoldLabelsAndClassNames) {
  write(kWhole);
  write("np.save('labels.npy', np.array([3, 1], 'i2'))\nnp.save('targets.npy', np.array([0.5, np.inf], 'f4'))\nnp.save('names.npy', np.array(['cat', 'dog']))\nnp.savez('t.npz', targets=np.array([1.5]))\n");
  for (const char* name : {"a.npz", "c.safetensors"}) EXPECT_THAT(storage::readTruth(m_folder.file(name))->labels, ElementsAre(2, 0)) << name;
  EXPECT_THAT(storage::readTruth(m_folder.file("labels.npy"))->labels, ElementsAre(3, 1));
  EXPECT_THAT(storage::readTruth(m_folder.file("targets.npy"))->labels, IsEmpty());
  EXPECT_EQ(storage::readTruth(m_folder.file("targets.npy"))->targets[0], 0.5);
  EXPECT_THAT(storage::readTruth(m_folder.file("t.npz"))->targets, ElementsAre(1.5));
  EXPECT_THAT(storage::readClassNames(m_folder.file("names.npy")).value(), ElementsAre("cat", "dog"));
  for (const char* name : {"a.npz", "c.safetensors"}) EXPECT_THAT(storage::readClassNames(m_folder.file(name)).value(), ElementsAre("cat", "dog", "ox")) << name;
}

}  // namespace
