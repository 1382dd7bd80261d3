// A set with one sample more, read back by h5py and by our own reader.
#include "core/storage/added_sample.h"
#include "tests/core/storage/sample_reader.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

using namespace ulpscope;
using base::DType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

storage::RawTensor floats(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  storage::RawTensor tensor{name, DType::float32, shape, std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

class AddedSample : public testing::Test {
 protected:
  // x has its samples on axis 0, tail on its last one, scale is shared.
  AddedSample() {
    EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
f = h5py.File('in.h5', 'w')
f['x'] = np.arange(6, dtype='f4').reshape(3, 2)
f['tail'] = np.arange(6, dtype='f4').reshape(2, 3)
f['scale'] = np.array([0.5, 0.25], 'f4')
f['labels'] = [2, 0, 1]
f['expected/out'] = np.zeros((3, 4), 'f4')
f.close()
)"));
    m_set.ids = {"a", "b", "c"};
    m_set.labels = {2, 0, 1};
    m_set.classNames = {"cat", "dog", "emu"};
    m_set.preprocessing = "scaled-v1";
    m_sample.id = "boundary: a..b t=0.5";
    m_sample.inputs = {floats("x", {2}, {10, 11}), floats("tail", {2}, {20, 21})};
    m_sample.label = 1;
  }
  base::Status write() { return storage::writeWithSample(m_folder.file("out.h5"), {m_folder.file("in.h5"), m_set, {{"tail", 1}, {"scale", -1}}}, m_sample); }
  std::string error() {
    const auto status = write();
    return status.ok() ? "written" : status.error().message();
  }

  tests::ScratchFolder m_folder;
  session::SampleSet m_set;
  storage::AddedSample m_sample;
};

TEST_F(AddedSample, StandsAfterTheOthersOnEachInputsOwnAxis) {
  ASSERT_TRUE(write().ok()) << error();
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
f = h5py.File('out.h5')
assert np.array_equal(f['x'], [[0, 1], [2, 3], [4, 5], [10, 11]]), f['x'][()]
assert np.array_equal(f['tail'], [[0, 1, 2, 20], [3, 4, 5, 21]]), f['tail'][()]
assert np.array_equal(f['scale'], np.array([0.5, 0.25], 'f4'))
assert list(f['sample_ids'].asstr()) == ['a', 'b', 'c', 'boundary: a..b t=0.5']
assert list(f['labels']) == [2, 0, 1, 1]
assert list(f['sample_kinds'].asstr()) == ['common'] * 3 + ['boundary']
assert list(f['class_names'].asstr()) == ['cat', 'dog', 'emu']
assert f['preprocessing'].asstr()[()] == 'scaled-v1'
assert 'expected' not in f
)"));
}

TEST_F(AddedSample, KeepsTheSetsKindsAndLeavesOutLabelsThatNobodyKnows) {
  m_set.kinds = {"edge", "common", "boundary"};
  m_sample.label.reset();
  ASSERT_TRUE(write().ok());
  const auto file = storage::readInputFile(m_folder.file("out.h5"));
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_THAT(file->kinds, ElementsAre("edge", "common", "boundary", "boundary"));
  EXPECT_THAT(file->labels, IsEmpty()) << "no truth is made up";
}

TEST_F(AddedSample, LeavesTheSetAsItIs) {
  const auto before = tests::python(m_folder, "import hashlib; open('before', 'w').write(hashlib.sha256(open('in.h5', 'rb').read()).hexdigest())");
  ASSERT_TRUE(before);
  ASSERT_TRUE(write().ok());
  EXPECT_TRUE(tests::python(m_folder, "import hashlib; assert open('before').read() == hashlib.sha256(open('in.h5', 'rb').read()).hexdigest()"));
}

TEST_F(AddedSample, RefusesWhatDoesNotFit) {
  m_sample.id = "b";
  EXPECT_THAT(error(), HasSubstr("'b': is no new name for a sample"));
  m_sample.id = "new";
  m_sample.inputs.pop_back();
  EXPECT_THAT(error(), HasSubstr("tail: is an input that the new sample does not have"));
  m_sample.inputs.push_back(floats("tail", {3}, {1, 2, 3}));
  EXPECT_THAT(error(), HasSubstr("tail: has another dtype or shape than the new sample"));
  m_sample.inputs.back() = floats("tail", {2}, {1, 2});
  m_set.ids = {"a", "b"};
  EXPECT_THAT(error(), HasSubstr("tail: does not hold 2 samples on axis 1"));
  EXPECT_FALSE(std::filesystem::exists(m_folder.file("out.h5")));
}

TEST_F(AddedSample, NeverWritesOverAFile) {
  ASSERT_TRUE(write().ok());
  const auto again = write();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(again.error().message(), HasSubstr("exists already"));
}

TEST_F(AddedSample, ReadsSetsThatASavedModuleHolds) {
  ASSERT_TRUE(tests::python(m_folder, R"(
import torch
class Holder(torch.nn.Module):
  def forward(self): return 0
h = Holder()
h.register_buffer('x', torch.arange(6.).view(3, 2))
h.register_buffer('tail', torch.arange(6.).view(2, 3))
h.register_buffer('labels', torch.arange(3))
torch.jit.save(torch.jit.script(h), 'in.pt')
)"));
  const auto status = storage::writeWithSample(m_folder.file("out.h5"), {m_folder.file("in.pt"), m_set, {{"tail", 1}}}, m_sample);
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
f = h5py.File('out.h5')
assert sorted(f) == ['class_names', 'labels', 'preprocessing', 'sample_ids', 'sample_kinds', 'tail', 'x'], sorted(f)
assert np.array_equal(f['tail'], [[0, 1, 2, 20], [3, 4, 5, 21]])
)"));
}

TEST_F(AddedSample, NamesTheInputsOfAFileWithoutNamesForForward) {
  ASSERT_TRUE(tests::python(m_folder, R"(
import numpy as np
np.savez('in.npz', np.arange(6, dtype='f4').reshape(3, 2), np.arange(6, dtype='f4').reshape(2, 3))
)"));
  const auto status = storage::writeWithSample(m_folder.file("out.h5"), {m_folder.file("in.npz"), m_set, {{"tail", 1}}, {"x", "tail"}}, m_sample);
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
f = h5py.File('out.h5')
assert np.array_equal(f['x'], [[0, 1], [2, 3], [4, 5], [10, 11]]), f['x'][()]
assert np.array_equal(f['tail'], [[0, 1, 2, 20], [3, 4, 5, 21]]), f['tail'][()]
)"));
}

TEST_F(AddedSample, ReadsFoldersOfImages) {
  ASSERT_TRUE(tests::python(m_folder, R"(
import json, numpy as np, os
from PIL import Image
os.mkdir('images')
for i in range(3): Image.fromarray(np.full((2, 2, 3), 51 * i, 'u1')).save(f'images/{i}.png')
json.dump({'channels': 'RGB', 'divide': 255, 'layout': 'NCHW', 'dtype': 'float32'}, open('images/preprocessing.json', 'w'))
)"));
  m_sample.inputs = {floats("x", {3, 2, 2}, std::vector<float>(12, 0.5F))};
  const auto status = storage::writeWithSample(m_folder.file("out.h5"), {m_folder.file("images"), m_set, {}, {"x"}}, m_sample);
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, numpy as np
x = h5py.File('out.h5')['x'][()]
assert x.shape == (4, 3, 2, 2), x.shape
for i in range(3): assert (x[i] == np.float32(51 * i) / np.float32(255)).all(), x[i]
assert (x[3] == 0.5).all()
)"));
}

}  // namespace
