// Samples of inputs files that h5py wrote; the expected numbers are numpy's arange.
#include "tests/core/storage/sample_reader.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>


using namespace ulpscope;
using base::DType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::valuesOf;

namespace {

class InputSamples : public testing::Test {
 protected:
  void write(const std::string& lines) {
    ASSERT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nf = h5py.File('in.h5', 'w')\n" + lines + "\nf.close()\n"));
  }
  std::vector<storage::RawTensor> read(const std::string& input, int axis, const std::vector<std::int64_t>& samples) { return tests::samplesOf(m_path, {input, axis, samples}); }
  std::string error(const storage::SampleSlices& slices) { return tests::sampleError(m_path, slices); }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("in.h5");
};

TEST_F(InputSamples, NamesTheInputsAndNothingElse) {
  write("f['x'] = np.zeros((3, 1, 8, 8), 'f4'); f['mask'] = np.ones((3, 2), '?'); f['half'] = np.zeros((3, 4), '>f2')\n"
        "f['labels'] = np.arange(3); f['sample_ids'] = ['a', 'b', 'c']; f['targets'] = np.zeros(3); f['expected/out'] = np.zeros(3)\n"
        "f['class_names'] = ['x']; f['sample_kinds'] = ['edge'] * 3; f['preprocessing'] = 'none'");
  const auto shapes = storage::inputShapes(m_path);
  ASSERT_TRUE(shapes.ok()) << shapes.error().message();
  ASSERT_EQ(shapes->size(), 3U);
  EXPECT_EQ(shapes.value()[0].name, "half");
  EXPECT_EQ(shapes.value()[0].dtype, DType::float16);
  EXPECT_EQ(shapes.value()[1].dtype, DType::boolean);
  EXPECT_EQ(shapes.value()[2].name, "x");
  EXPECT_THAT(shapes.value()[2].shape, ElementsAre(3, 1, 8, 8));
}

TEST_F(InputSamples, AreCutAlongTheirAxis) {
  write("f['x'] = np.arange(24, dtype='f4').reshape(2, 3, 4)");
  const auto first = read("x", 0, {1, 0});
  ASSERT_EQ(first.size(), 2U);
  EXPECT_THAT(first[0].shape, ElementsAre(3, 4));
  EXPECT_THAT(valuesOf<float>(first[0]), ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(valuesOf<float>(first[1])[0], 0);
  const auto middle = read("x", 1, {2});
  EXPECT_THAT(middle[0].shape, ElementsAre(2, 4));
  EXPECT_THAT(valuesOf<float>(middle[0]), ElementsAre(8, 9, 10, 11, 20, 21, 22, 23));
  EXPECT_THAT(valuesOf<float>(read("x", 2, {3})[0]), ElementsAre(3, 7, 11, 15, 19, 23));
}

TEST_F(InputSamples, MayBeCompressedBigEndianOrShared) {
  write("f.create_dataset('x', data=np.arange(6, dtype='>f2').reshape(3, 2), chunks=(2, 2), compression='gzip')\n"
        "f['scale'] = np.array([2.5], 'f8'); f['flag'] = np.array([True, False])");
  const auto half = read("x", 0, {2});
  EXPECT_EQ(half[0].dtype, DType::float16);
  EXPECT_THAT(valuesOf<std::uint16_t>(half[0]), ElementsAre(0x4400, 0x4500)) << "4 and 5 in IEEE half";
  const auto shared = read("scale", -1, {0, 2});
  ASSERT_EQ(shared.size(), 2U);
  EXPECT_THAT(valuesOf<double>(shared[1]), ElementsAre(2.5));
  const auto flag = read("flag", 0, {0});
  EXPECT_THAT(flag[0].shape, IsEmpty()) << "one number a sample";
  EXPECT_THAT(valuesOf<std::uint8_t>(flag[0]), ElementsAre(1));
  EXPECT_THAT(read("x", 0, {}), IsEmpty());
}

TEST_F(InputSamples, AreRefusedInOneLine) {
  write("f['x'] = np.zeros((2, 3), 'f4')");
  EXPECT_THAT(error({"y", 0, {0}}), HasSubstr("y"));
  EXPECT_THAT(error({"x", 0, {2}}), HasSubstr("x: has no sample 2, only 2; the file is another one than the run's"));
  EXPECT_THAT(error({"x", 0, {-1}}), HasSubstr("has no sample -1"));
  EXPECT_THAT(error({"x", 2, {0}}), HasSubstr("has no axis 2 to count samples"));
  EXPECT_THAT(error({"x", 0, {0}, 11}), HasSubstr("has samples of 12 bytes, more than is read for a picture (11 bytes)"));
  EXPECT_EQ(error({"x", 0, {0}, 12}), "read");
  m_path = m_folder.file("none.h5");
  EXPECT_THAT(error({"x", 0, {0}}), HasSubstr("none.h5"));
}

}  // namespace
