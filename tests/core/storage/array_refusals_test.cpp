// What npy, npz and safetensors files must not be taken for, each in its one line.
#include "core/storage/input_file.h"
#include "core/storage/input_samples.h"
#include "core/storage/input_size.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using testing::HasSubstr;

namespace {

constexpr const char* kHelpers = R"(
import json, os, struct, zipfile, numpy as np
def header(text, data=b'', version=1):
    text = text.encode()
    open('in', 'wb').write(b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H' if version == 1 else '<I', len(text)) + text + data)
def tensors(header, data=b'', length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    open('in', 'wb').write(struct.pack('<Q', len(text) if length is None else length) + text + data)
def x(dtype='F32', shape=[2], offsets=[0, 8]): return {'x': {'dtype': dtype, 'shape': shape, 'data_offsets': offsets}}
def save(array): np.save(open('in', 'wb'), array, allow_pickle=True)
def savez(**arrays): np.savez(open('in', 'wb'), **arrays)
)";

struct Refusal {
  std::string lines;
  std::string message;  // after the path
};

class Refused : public testing::Test {
 protected:
  static std::string errorOf(const std::string& path) {
    const auto read = storage::readInputFile(path);
    return read.ok() ? "read" : read.error().message();
  }
  std::string error(const std::string& lines) {
    EXPECT_TRUE(tests::python(m_folder, kHelpers + lines));
    return errorOf(m_path);
  }
  // All files by one Python: in0, in1, ...
  void expect(const std::vector<Refusal>& refusals) {
    std::string script = kHelpers;
    for (std::size_t i = 0; i < refusals.size(); ++i) script += refusals[i].lines + "\nos.rename('in', 'in" + std::to_string(i) + "')\n";
    ASSERT_TRUE(tests::python(m_folder, script));
    for (std::size_t i = 0; i < refusals.size(); ++i) {
      SCOPED_TRACE(refusals[i].lines);
      const std::string path = m_path + std::to_string(i);
      EXPECT_EQ(errorOf(path), path + refusals[i].message);
    }
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("in");
};

constexpr const char* kTypes = "float16, bfloat16, float32, float64, int8 to int64, uint8, bool, complex64 and complex128 are read";

TEST_F(Refused, WhatNoTensorHolds) {
  const std::string types = kTypes;
  expect({{"save(np.array([{}]))", ": holds Python objects (a pickle inside, which could run any code); store numbers, or text as numpy.array(list, dtype=str)"},
          {"save(np.zeros(2, [('a', 'f4'), ('b', 'i4')]))", ": holds records (a structured array); an input is an array of plain numbers; save each field as an array of its own"},
          {"save(np.zeros(2, 'V2'))", ": holds raw bytes ('|V2'); if it is bfloat16, save it with ml_dtypes' dtype ('<V2'), or widened to float32"},
          {"save(np.zeros(2, 'u4'))", ", arr_0: is uint32, which PyTorch does not have; store it as int64"},
          {"save(np.array(['a']))", ", arr_0: holds text; an input is an array of numbers; move other data into a file of its own"},
          {"savez(x=np.ones(1), labels=np.array([0.5]))", ", labels: does not hold integers; store it as int64"},
          {"savez(x=np.ones(1), labels=np.array([[1]]))", ", labels: has [1, 1] where one entry a sample belongs; store it with one dimension"},
          {"savez(x=np.ones(1), labels=np.array([1 << 63], 'u8'))", ", labels: holds 9223372036854775808, more than int64 does; store it as int64"},
          {"savez(x=np.ones(2), sample_ids=np.array(['a', 'a']))", ", sample_ids: holds 'a' twice; give every sample a name of its own"},
          {"savez(x=np.ones(2), sample_ids=np.array(['a', '']))", ", sample_ids: holds an empty id; give every sample a name of its own"},
          {"savez(x=np.ones(1), class_names=np.array([b'\\xff']))", ", class_names: holds a text, number 0, that is not UTF-8 or has a zero in it; store it as numpy.array([\"a\", \"b\"])"},
          {"savez(labels=np.array([1]))", ": holds no inputs; store each argument of forward as an array of that name (ulpscope snippet prints how)"},
          {"savez(x=np.ones(1), **{'expected/y': np.ones(1), 'expected.y': np.ones(1)})", ": stands twice, as expected/y and expected.y; leave one of them out"},
          {"savez(x=np.ones(1), **{'expected': np.ones(1)})", ", expected: has no output's name; name it expected/OUTPUT or expected.OUTPUT"},
          {"save(np.zeros(2, 'M8[s]'))", ": holds dates or durations; " + types},
          {"save(np.zeros(2, 'longdouble'))", ": is float128, which PyTorch does not have; " + types},
          {"header(\"{'descr': '<f1', 'fortran_order': False, 'shape': (2,), }\", b'ab')", ": is float8 ('<f1'), which PyTorch does not have; " + types}});
}

TEST_F(Refused, DamagedNpy) {
  constexpr const char* kDamaged = ": has a damaged header (not the dict with 'descr', 'fortran_order' and 'shape' that numpy writes); copy the file again, or save it again with numpy.save";
  std::vector<Refusal> damaged;
  for (const char* text : {"{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
                           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", "__import__('os').system('true')", "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
                           "{'descr': '\\\\x3cf4', 'fortran_order': False, 'shape': (2,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"})
    damaged.push_back({"header(\"" + std::string(text) + "\", bytes(8))", kDamaged});
  expect(damaged);
  expect({{"save(np.zeros(4)); d = open('in', 'rb').read(); open('in', 'wb').write(d[:-1])", ": is cut short: it has 159 bytes, its header declares 160; copy the file again, or save it again with numpy.save"},
          {"save(np.zeros(4)); open('in', 'ab').write(b'abc')", ": has 3 bytes after its array's last, at byte 160; save one array a file, or several with numpy.savez"},
          {"open('in', 'wb').write(b'\\x93NUMPY\\1')", ": is cut short: 7 bytes, not even a header; copy the file again, or save it again with numpy.save"},
          {"header('{}'); d = open('in', 'rb').read(); open('in', 'wb').write(d[:8] + b'\\xff\\xff')", ": is cut short: its header is to end at byte 65545, the file at 10; copy the file again, or save it again with numpy.save"},
          {"open('in', 'wb').write(b'\\x93NUMPY\\x09\\0' + bytes(100))", ": is of version 9.0 of numpy's format; save it with a numpy that writes 1.0, 2.0 or 3.0"},
          {"header(\"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }\")", ": declares [4294967296, 4294967296, 4294967296], more elements than any memory can hold; the file is damaged or hostile"}});
}

TEST_F(Refused, EveryLengthButTheWhole) {
  ASSERT_TRUE(tests::python(m_folder, kHelpers + std::string("save(np.arange(5.0)); open('a', 'wb').write(open('in', 'rb').read())\nsavez(x=np.arange(3)); open('b', 'wb').write(open('in', 'rb').read())\n"
                                                             "tensors(x(), bytes(8)); open('c', 'wb').write(open('in', 'rb').read())\n")));
  for (const char* name : {"a", "b", "c"}) {
    const std::string whole = tests::readFile(m_folder.file(name));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      tests::writeFile(m_path, whole.substr(0, length));
      ASSERT_FALSE(storage::readInputFile(m_path).ok()) << name << " of " << length;
    }
    tests::writeFile(m_path, whole);
    EXPECT_TRUE(storage::readInputFile(m_path).ok());
    tests::writeFile(m_path, whole + "x");
    EXPECT_FALSE(storage::readInputFile(m_path).ok()) << name << ": something is after its end";
  }
}

TEST_F(Refused, DamagedNpz) {
  expect({{"zipfile.ZipFile('in', 'w').close()", ": holds no inputs (an empty zip archive); store each argument of forward as an array of that name"},
          {"z = zipfile.ZipFile('in', 'w'); z.writestr('x.npy', b'no'); z.close()", ", x.npy: is no array of numpy's (it does not begin with \\x93NUMPY); copy the file again, or save it again with numpy.save"},
          {"savez(x=np.ones(1)); z = zipfile.ZipFile('in', 'a'); z.writestr('notes.txt', b'no'); z.close()", ", notes.txt: is in the archive but no array (NAME.npy); keep inputs and other data apart"},
          {"savez(x=np.ones(9)); d = bytearray(open('in', 'rb').read()); d[d.index(b'\\xf0?') + 8] ^= 1; open('in', 'wb').write(d)", ", x.npy: is damaged: CRC error; copy the file again, or save it again with numpy.savez"}});
  EXPECT_THAT(error("savez(x=np.ones(9)); d = open('in', 'rb').read(); open('in', 'wb').write(d[:-30])"), HasSubstr(m_path + ": is a zip archive that is cut short or damaged ("));
}

// 1,100 times the bytes are allowed, since deflate can do no more: a set of zeros is no bomb.
TEST_F(Refused, BombsButNotZeros) {
  const std::string bomb = "np.savez_compressed(open('in', 'wb'), x=np.zeros(1 << 22, 'u1'))\n";
  EXPECT_EQ(error(bomb), "read");
  const std::string lie = bomb + "d = bytearray(open('in', 'rb').read())\nfor at, n in ((d.index(b'PK\\1\\2') + 24, 4), (22, 4)): d[at:at + n] = struct.pack('<I', 0x7fffffff)\nopen('in', 'wb').write(d)";
  EXPECT_THAT(error(lie), HasSubstr("bytes in"));
}

TEST_F(Refused, DamagedSafetensors) {
  constexpr const char* kCopy = "; copy the file again, or save it again";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"tensors(x(), bytes(7))", ": is cut short: 'x' ends at byte 8 of the data, of which there are 7"},
      {"tensors(x(), bytes(9))", ": has 1 bytes after its last tensor, at byte 8 of its data"},
      {"tensors(x(offsets=[4, 12]), bytes(12))", ": has a hole at byte 0 of its data, before 'x' begins at 4"},
      {"tensors({**x(), 'y': {'dtype': 'U8', 'shape': [2], 'data_offsets': [7, 9]}}, bytes(9))", ": has tensors that overlap at byte 8 of its data, before 'y' begins at 7"},
      {"tensors(x(offsets=[0, 9]), bytes(9))", ", x: lies from byte 0 to 9 of the data, but [2] of F32 takes 8 bytes"},
      {"tensors(x(offsets=[8, 0]), bytes(8))", ", x: lies from byte 8 to 0 of the data, but [2] of F32 takes 8 bytes"},
      {"tensors(b'{\"x\": 1}', bytes(8))", ": has a header in which 'x' has a number where none belongs"},
      {"tensors(b'{\"x\": {\"dtype\": \"F32\", \"shape\": [2]}}')", ": has a header in which 'x' lacks \"dtype\", \"shape\" or \"data_offsets\""},
      {"tensors(b'{\"x\": {\"dtype\": \"F32\", \"shape\": [-2], \"data_offsets\": [0, 8]}}')", ": has a header in which 'x' has a negative number"},
      {"tensors(b'{\"x\": {\"dtype\": \"F32\", \"shape\": [2.0], \"data_offsets\": [0, 8]}}')", ": has a header in which 'x' has a number with a fraction or beyond 64 bits"},
      {"tensors(b'{\"x\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8, 9]}}')", ": has a header in which 'x' has 3 data offsets, 2 expected"},
      {"tensors(b'{\"x\": {\"dtype\": \"F32\", \"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}')", ": has a header in which 'x' has \"dtype\" twice"},
      {"t = json.dumps(x()['x']); tensors(f'{{\"x\": {t}, \"x\": {t}}}'.encode(), bytes(8))", ": has a header in which 'x' stands twice"},
      {"tensors({'__metadata__': {'a': 1}, **x()}, bytes(8))", ": has a header in which '__metadata__' has a number where none belongs"},
      {"tensors(b'{\"x\": {\"a\": 1}}')", ": has a header in which 'x' has \"a\", which no tensor has"},
      {"tensors(b'{' + b'\"x\": {' * 5000)", ": has a header in which 'x' has \"x\", which no tensor has"},
      {"tensors(b'{\"x\": [' + b'[' * 90000)", ": has a header in which 'x' has a list where none belongs"},
      {"tensors(b'{\"x\"', bytes(8))", ": has a header that is no JSON (at byte 5 of it)"},
      {"tensors(x(), bytes(8), length=999)", ": is cut short: its header is to end at byte 1007, the file at 77"},
      {"tensors(x(), bytes(8), length=100000001)", ": declares a header of 100000001 bytes; safetensors allows 100000000"}};
  std::vector<Refusal> refusals;
  for (const auto& [lines, message] : cases) refusals.push_back({lines, message + kCopy});
  expect(refusals);
  expect({{"tensors(x('F8_E4M3', [8]), bytes(8))", ", x: is of the type 'F8_E4M3', which no tensor here has; F16, BF16, F32, F64, I8 to I64, U8, BOOL and C64 are read"},
          {"tensors(x('U16', [4]), bytes(8))", ", x: is uint16, which PyTorch does not have; store it as int64"},
          {"tensors(x('BOOL', [8]), bytes([0, 1, 2, 0, 0, 0, 0, 0]))", ", x: holds bools that are neither false nor true; the file is damaged"},
          {"tensors(x(shape=[1 << 62, 1 << 62]), bytes(8))", ", x: declares [4611686018427387904, 4611686018427387904], more elements than any memory can hold; the file is damaged or hostile"},
          {"tensors({**x(), '__metadata__': {'sample_ids': 'a,b'}}, bytes(8))", ", sample_ids, line 1, column 1: is no JSON: 'a' does not belong there; write a JSON list: [\"a\", \"b\"]"},
          {"tensors({**x(), '__metadata__': {'class_names': '{}'}}, bytes(8))", ", class_names: is no JSON list of texts; write a JSON list: [\"a\", \"b\"]"},
          {"tensors({})", ": holds no inputs; store each argument of forward as an array of that name (ulpscope snippet prints how)"}});
}

// They would move a terminal's cursor, or end the line.
TEST_F(Refused, NamesThatATerminalObeys) {
  expect({{"savez(x=np.zeros((2, 1)), sample_ids=np.array(['a', '\\x1b[31mb']))", ", sample_ids: holds an id with control characters (number 1, counted from 0); give every sample a name of its own"},
          {"savez(x=np.zeros((2, 1)), sample_ids=np.array(['a\\n', 'b']))", ", sample_ids: holds an id with control characters (number 0, counted from 0); give every sample a name of its own"},
          {"savez(x=np.zeros((1, 1)), sample_ids=np.array(['\\x9b2J']))", ", sample_ids: holds an id with control characters (number 0, counted from 0); give every sample a name of its own"},
          {"tensors({'x\\0y': x()['x']}, b'12345678')", ": has a header that names a tensor with control characters; copy the file again, or save it again"}});
}

// 400 GB that take no room on the disk, and a file that fits to the byte.
TEST_F(Refused, InputsLargerThanTheMemory) {
  ASSERT_TRUE(tests::python(m_folder, std::string(kHelpers) + "header(\"{'descr': '<f4', 'fortran_order': False, 'shape': (25000000000, 4), }\".ljust(117) + '\\n')\nos.truncate('in', 128 + 400000000000)\n"));
  EXPECT_THAT(storage::checkFits(m_path, 2.5e10).error().message(), testing::AllOf(HasSubstr("holds inputs of"), HasSubstr("store fewer samples")));
  EXPECT_EQ(storage::checkFits(m_path, 2.5e10).error().kind, base::ErrorKind::input);
  EXPECT_TRUE(storage::checkFits(m_path, 4e11).ok());
  EXPECT_FALSE(storage::checkFits(m_path, 4e11 - 1).ok());
  EXPECT_TRUE(storage::checkFits(m_folder.file("absent"), 1).ok()) << "whoever reads it says why";
}

}  // namespace
