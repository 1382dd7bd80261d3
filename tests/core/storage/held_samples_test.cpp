// Samples of inputs that torch.jit.save wrote; the expected numbers are torch.arange's.
#include "tests/core/storage/sample_reader.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

using namespace ulpscope;
using base::DType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::valuesOf;

namespace {

class HeldSamples : public testing::Test {
 protected:
  void save(const std::string& lines) {
    ASSERT_TRUE(tests::python(m_folder, "import torch\nclass Holder(torch.nn.Module): pass\nh = Holder()\ndef hold(name, tensor): h.register_buffer(name, tensor)\n" + lines +
                                            "\ntorch.jit.script(h).save('in.pt')\n"));
  }
  std::vector<storage::RawTensor> read(const std::string& input, int axis, const std::vector<std::int64_t>& samples) { return tests::samplesOf(m_path, {input, axis, samples}); }
  std::string error(const storage::SampleSlices& slices) { return tests::sampleError(m_path, slices); }
  std::string bytes() {
    std::ifstream file(m_path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("in.pt");
};

TEST_F(HeldSamples, NamesTheInputsAndNothingElse) {
  save("hold('x', torch.zeros(3, 1, 8, 8)); hold('mask', torch.ones(3, 2, dtype=torch.bool)); hold('low', torch.zeros(3, 4).half())\n"
       "hold('labels', torch.arange(3)); hold('targets', torch.zeros(3)); hold('expected_0', torch.zeros(3)); h.sample_ids = ['a']\n"
       "hold('quantized', torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8))");
  const auto shapes = storage::inputShapes(m_path);
  ASSERT_TRUE(shapes.ok()) << shapes.error().message();
  ASSERT_EQ(shapes->size(), 3U);
  EXPECT_EQ(shapes.value()[0].name, "low");
  EXPECT_EQ(shapes.value()[0].dtype, DType::float16);
  EXPECT_EQ(shapes.value()[1].dtype, DType::boolean);
  EXPECT_EQ(shapes.value()[2].name, "x");
  EXPECT_THAT(shapes.value()[2].shape, ElementsAre(3, 1, 8, 8));
}

TEST_F(HeldSamples, AreCutAlongTheirAxis) {
  save("hold('x', torch.arange(24.).view(2, 3, 4))");
  const auto first = read("x", 0, {1, 0});
  EXPECT_THAT(first[0].shape, ElementsAre(3, 4));
  EXPECT_THAT(valuesOf<float>(first[0]), ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(valuesOf<float>(first[1]), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  const auto middle = read("x", 1, {2, 0});
  EXPECT_THAT(middle[0].shape, ElementsAre(2, 4));
  EXPECT_THAT(valuesOf<float>(middle[0]), ElementsAre(8, 9, 10, 11, 20, 21, 22, 23));
  EXPECT_THAT(valuesOf<float>(middle[1]), ElementsAre(0, 1, 2, 3, 12, 13, 14, 15));
  EXPECT_THAT(valuesOf<float>(read("x", 2, {3})[0]), ElementsAre(3, 7, 11, 15, 19, 23));
  EXPECT_THAT(read("x", 0, {}), IsEmpty());
}

// One storage under several tensors, with offsets, transposed, expanded: as torch saves views.
TEST_F(HeldSamples, FollowOffsetsAndStrides) {
  save("base = torch.arange(24.)\nhold('tail', base[12:].view(3, 4)); hold('turned', base.view(4, 6).t()); hold('same', base[5:6].expand(3, 2))\nhold('scalar', torch.tensor(2.5)); hold('none', torch.zeros(3, 0))");
  EXPECT_THAT(valuesOf<float>(read("tail", 0, {2})[0]), ElementsAre(20, 21, 22, 23));
  EXPECT_THAT(valuesOf<float>(read("turned", 0, {5, 1})[0]), ElementsAre(5, 11, 17, 23));
  EXPECT_THAT(valuesOf<float>(read("turned", 0, {5, 1})[1]), ElementsAre(1, 7, 13, 19));
  EXPECT_THAT(valuesOf<float>(read("same", 0, {2})[0]), ElementsAre(5, 5));
  const auto scalar = read("scalar", -1, {0, 2});
  EXPECT_THAT(valuesOf<float>(scalar[1]), ElementsAre(2.5));
  EXPECT_THAT(read("none", 0, {1})[0].bytes, IsEmpty());
}

TEST_F(HeldSamples, KeepTheBitsOfEveryElementType) {
  save("hold('low', torch.tensor([4., 5.]).half()); hold('brain', torch.tensor([4., float('-inf')]).bfloat16()); hold('whole', torch.tensor([3, -7])); hold('flag', torch.tensor([True, False]))");
  EXPECT_THAT(valuesOf<std::uint16_t>(read("low", 0, {1})[0]), ElementsAre(0x4500)) << "5 in IEEE half";
  EXPECT_THAT(valuesOf<std::uint16_t>(read("brain", 0, {0})[0]), ElementsAre(0x4080)) << "4 in bfloat16";
  EXPECT_THAT(valuesOf<std::uint16_t>(read("brain", 0, {1})[0]), ElementsAre(0xff80)) << "-inf in bfloat16";
  EXPECT_THAT(valuesOf<std::int64_t>(read("whole", 0, {1})[0]), ElementsAre(-7));
  EXPECT_THAT(valuesOf<std::uint8_t>(read("flag", 0, {0})[0]), ElementsAre(1));
}

TEST_F(HeldSamples, AreRefusedInOneLine) {
  save("hold('x', torch.zeros(2, 3)); hold('turned', torch.zeros(3, 2).t())");
  EXPECT_THAT(error({"y", 0, {0}}), HasSubstr("in.pt, y: is not in the file; the file is another one than the run's"));
  EXPECT_THAT(error({"x", 0, {2}}), HasSubstr("in.pt, x: has no sample 2, only 2; the file is another one than the run's"));
  EXPECT_THAT(error({"x", 2, {0}}), HasSubstr("has no axis 2 to count samples"));
  EXPECT_THAT(error({"x", 0, {0}, 11}), HasSubstr("has samples of 12 bytes, more than is read for a picture (11 bytes)"));
  EXPECT_EQ(error({"x", 0, {0}, 12}), "read");
  EXPECT_THAT(error({"turned", 0, {0, 1}, 12}), HasSubstr("has samples that lie between each other over 24 bytes")) << "two rows that interleave";
  EXPECT_EQ(error({"turned", 0, {0, 1}, 24}), "read");
  save("hold('vast', torch.zeros(1).expand(2, 2 ** 30, 2 ** 30))");
  EXPECT_THAT(error({"vast", 0, {0}}), HasSubstr("in.pt, vast: declares more elements than any memory can hold"));
}

// Whatever is cut off or turned over: an error or the numbers, never a crash. (Only zero or the saved numbers would be right.)
TEST_F(HeldSamples, OfADamagedFileAreAnError) {
  save("hold('x', torch.arange(6.).view(2, 3))");
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    tests::writeFile(m_path, whole.substr(0, length));
    EXPECT_NE(error({"x", 0, {0}}), "read") << length << " of " << whole.size() << " bytes";
  }
  const std::size_t values = whole.find(std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  ASSERT_NE(values, std::string::npos) << "1.0 and 2.0 in float32";
  std::string turned = whole;
  turned[values + 2] = '\x40';
  tests::writeFile(m_path, turned);
  EXPECT_THAT(error({"x", 0, {0}}), HasSubstr("in.pt")) << "the record's CRC is wrong";
}

}  // namespace
