// Inputs where NeXus puts them, as h5py writes them.
#include "tests/core/storage/sample_reader.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::valuesOf;

namespace {

class NexusData : public testing::Test {
 protected:
  void write(const std::string& lines) {
    ASSERT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nf = h5py.File('in.h5', 'w')\n"
                                        "def data(place, signal='data', **attributes):\n  g = f.create_group(place)\n  g.attrs.update({'NX_class': 'NXdata', 'signal': signal, **attributes})\n  return g\n" +
                                            lines + "\nf.close()\n"));
  }
  storage::InputFile read() {
    auto result = storage::readInputFile(m_path);
    EXPECT_TRUE(result.ok()) << result.error().message();
    return result.ok() ? result.value() : storage::InputFile{};
  }
  std::string error() {
    const auto read = storage::readInputFile(m_path);
    return read.ok() ? "read" : read.error().message();
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("in.h5");
};

TEST_F(NexusData, TheSignalIsTheInput) {
  write("d = data('entry/data', axes=['sample', '.'])\nd['data'] = np.arange(6, dtype='f4').reshape(3, 2)\nd['sample'] = np.arange(3)\nd['labels'] = [1, 0, 1]\nf['sample_ids'] = ['a', 'b', 'c']");
  const auto file = read();
  ASSERT_EQ(file.inputs.size(), 1U);
  EXPECT_EQ(file.inputs[0].name, "data");
  EXPECT_FALSE(file.isNamed) << "the only signal is forward's only argument";
  EXPECT_THAT(valuesOf<float>(file.inputs[0]), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(file.labels, ElementsAre(1, 0, 1));
  EXPECT_THAT(file.sampleIds, ElementsAre("a", "b", "c"));
  EXPECT_THAT(storage::readTruth(m_path)->labels, ElementsAre(1, 0, 1));
  const auto shapes = storage::inputShapes(m_path);
  ASSERT_EQ(shapes->size(), 1U);
  EXPECT_THAT(shapes.value()[0].shape, ElementsAre(3, 2));
  EXPECT_THAT(valuesOf<float>(tests::samplesOf(m_path, {"data", 0, {2}})[0]), ElementsAre(4, 5));
}

TEST_F(NexusData, TheDefaultChainChoosesAndAuxiliarySignalsAreInputsToo) {
  write("data('a/other')['data'] = [9.0]\nd = data('b/plot', signal='x', auxiliary_signals=['mask'])\nd['x'] = [1.0, 2.0]; d['mask'] = [True, False]\nf.attrs['default'] = 'b'; f['b'].attrs['default'] = 'plot'");
  const auto file = read();
  ASSERT_EQ(file.inputs.size(), 2U);
  EXPECT_TRUE(file.isNamed);
  EXPECT_EQ(file.inputs[0].name, "x");
  EXPECT_THAT(valuesOf<double>(file.inputs[0]), ElementsAre(1, 2));
  EXPECT_EQ(file.inputs[1].name, "mask");
}

TEST_F(NexusData, LinksWithinTheFileAreFollowed) {
  write("f['entry/detector/values'] = np.arange(4.)\nd = data('entry/data')\nd['data'] = h5py.SoftLink('/entry/instrument/values')\nf['entry/instrument'] = h5py.SoftLink('detector')");
  EXPECT_THAT(valuesOf<double>(read().inputs.at(0)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(valuesOf<double>(tests::samplesOf(m_path, {"data", 0, {3}})[0]), ElementsAre(3));
  write("f['values'] = np.arange(4.)\nd = data('plot')\nd['data'] = f['values']\nf.attrs['default'] = 'plot'");
  EXPECT_EQ(read().inputs.at(0).name, "data") << "the default is meant, not what lies at the root";
}

TEST_F(NexusData, RefusesWhatItCannotFollow) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"data('a')['data'] = [1.0]; data('b')['data'] = [1.0]", ": holds 2 NXdata groups (/a, /b); say which is meant by the root's attribute 'default'"},
      {"data('a')", ", /a/data: leads to 'data', which is not there; the file is damaged, or not whole"},
      {"data('a')['data'] = h5py.SoftLink('/a/data')", ", /a/data: is a link that leads to no end; the file is damaged or hostile"},
      {"data('a')['data'] = h5py.SoftLink('/c/b'); f['c/b'] = h5py.SoftLink('/a/data')", ", /a/data: is a link that leads to no end; the file is damaged or hostile"},
      {"data('a')['data'] = h5py.ExternalLink('other.h5', '/x')", ", /a/data: is a link out of the file; store the data itself in this file"},
      {"data('a', signal='../x')['data'] = [1.0]", ", /a: names its signals in a way that cannot be followed ('../x'); name each dataset once"},
      {"data('a', auxiliary_signals=['data'])['data'] = [1.0]", ", /a: names its signals in a way that cannot be followed ('data'); name each dataset once"},
      {"f.create_group('a').attrs['NX_class'] = 'NXdata'", ", /a: is an NXdata without the attribute 'signal'; name its dataset there"},
      {"d = data('a'); d['data'] = [1.0]; d['labels'] = [1]; f['labels'] = [1]", ", labels: stands twice, at the root and in /a; leave one of them out"},
      {"data('a')['data'] = [1.0]; f['x'] = [1.0]", ", a: is a group; inputs are datasets at the root, named as forward's arguments, or the signals of an NXdata; move its arrays to the root"},
      {"f['g/x'] = [1.0]", ", g: is a group; inputs are datasets at the root, named as forward's arguments, or the signals of an NXdata; move its arrays to the root"},
      {"data('a')['data'] = [1.0]; f.attrs['file_format'] = 'ulpscope-session/2'", ": is a file of Ulpscope's own (ulpscope-session/2), which holds results; name the inputs that they come from"}};
  for (const auto& [lines, message] : cases) {
    SCOPED_TRACE(lines);
    write(lines);
    EXPECT_EQ(error(), m_path + message);
  }
}

}  // namespace
