// What is told of a path by its content; and the pickles, whose refusal holds the command that converts them.
#include "core/storage/input_digest.h"
#include "core/storage/input_file.h"
#include "core/storage/input_kind.h"
#include "tests/core/storage/sample_reader.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using base::DType;
using storage::InputKind;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::valuesOf;

namespace {

constexpr const char* kOneLine = "numpy.savez(sys.argv[2], **d) if isinstance(d, dict) else numpy.savez(sys.argv[2], *(d if isinstance(d, (list, tuple)) else [d]))\"";

class Kinds : public testing::Test {
 protected:
  void make(const std::string& lines) { ASSERT_TRUE(tests::python(m_folder, "import pickle, numpy as np, torch, zipfile\n" + lines)); }
  std::string error(const std::string& name) {
    const auto kind = storage::inputKindOf(m_folder.file(name));
    return kind.ok() ? "taken" : kind.error().message();
  }
  // Runs the command that the refusal of `name` ends in; the file that it makes.
  std::string converted(const std::string& name) {
    const std::string message = error(name), start = "convert it: python3 ";
    const std::size_t at = message.find(start);
    EXPECT_NE(at, std::string::npos) << message;
    if (at == std::string::npos) return "";
    EXPECT_EQ(std::system((ULPSCOPE_PYTHON " " + message.substr(at + start.size())).c_str()), 0) << message;
    return std::filesystem::path(m_folder.file(name)).replace_extension(".npz").string();
  }
  storage::InputFile read(const std::string& path) {
    auto file = storage::readInputFile(path);
    EXPECT_TRUE(file.ok()) << file.error().message();
    return file.ok() ? file.value() : storage::InputFile();
  }

  tests::ScratchFolder m_folder;
};

TEST_F(Kinds, AreToldByContent) {
  make("np.save('a.txt', np.ones(1))\nnp.save(open('a', 'wb'), np.ones(1))\nnp.savez(open('b', 'wb'), x=np.ones(1))\n"
       "class H(torch.nn.Module):\n  def __init__(s):\n    super().__init__()\n    s.register_buffer('x', torch.ones(1))\ntorch.jit.script(H()).save('c')\n"
       "import h5py; h5py.File('d', 'w')['x'] = [1.0]\nimport struct; h = b'{}'; open('e', 'wb').write(struct.pack('<Q', 2) + h)\n");
  const std::pair<const char*, InputKind> kinds[] = {{"a", InputKind::npy}, {"b", InputKind::npz}, {"c", InputKind::holder}, {"d", InputKind::hdf5}, {"e", InputKind::safetensors}, {".", InputKind::images}};
  for (const auto& [name, kind] : kinds) {
    const auto found = storage::inputKindOf(m_folder.file(name));
    ASSERT_TRUE(found.ok()) << name;
    EXPECT_EQ(found.value(), kind) << name;
  }
  const auto holder = storage::readInputFile(m_folder.file("c"));
  ASSERT_FALSE(holder.ok());
  EXPECT_THAT(holder.error().message(), HasSubstr("is a TorchScript archive"));
}

TEST_F(Kinds, NamesWhatIsNone) {
  tests::writeFile(m_folder.file("text"), "1,2,3\n");
  tests::writeFile(m_folder.file("json"), R"({"model": {"a": 1}})");
  tests::writeFile(m_folder.file("empty"), "");
  tests::writeFile(m_folder.file("image"), "\x89PNG\r\n\x1a\n");
  const std::string what = ": is no inputs file; give HDF5, npz, npy, safetensors, tensors saved as `ulpscope snippet` shows, or a folder of images";
  for (const char* name : {"text", "json"}) EXPECT_EQ(error(name), m_folder.file(name) + what);
  EXPECT_EQ(error("empty"), m_folder.file("empty") + ": is empty; copy or write it again");
  EXPECT_EQ(error("image"), m_folder.file("image") + ": is one image; inputs are a folder of them; name the folder, with a preprocessing.json in it");
  EXPECT_THAT(error("none"), HasSubstr("does not exist"));
}

TEST_F(Kinds, APickleOfTorchNamesTheCommandThatConvertsIt) {
  make("torch.save({'x': torch.tensor([1.5, -0.0, float('nan')]).half(), 'ids': torch.arange(3), 'sample_ids': ['a', 'b', 'c']}, 'in.pt')\n");
  const std::string path = m_folder.file("in.pt");
  EXPECT_EQ(error("in.pt"), path + ": is a pickle of torch.save, which can run any code when it is read; if you trust it, convert it: python3 -c \"import numpy, sys, torch; "
                                   "d = torch.load(sys.argv[1], map_location='cpu'); " + kOneLine + " " + path + " " + m_folder.file("in.npz"));
  const auto file = read(converted("in.pt"));
  ASSERT_EQ(file.inputs.size(), 2U);
  EXPECT_THAT(file.sampleIds, ElementsAre("a", "b", "c"));
  EXPECT_EQ(file.inputs[1].dtype, DType::float16);
  EXPECT_THAT(valuesOf<std::uint16_t>(file.inputs[1]), ElementsAre(0x3e00, 0x8000, 0x7e00));
}

TEST_F(Kinds, StateDictsListsAndLoneTensorsConvertToo) {
  make("torch.save(torch.nn.Linear(2, 1).state_dict(), 'model.pth')\ntorch.save([torch.zeros(2), torch.ones(2)], 'list.pt')\ntorch.save(torch.ones(3), 'one.pt')\n"
       "torch.save((torch.ones(1),), \"it's $HOME.pt\")\nfor n in ('dict', 'one'): torch.save(torch.load({'dict': 'model.pth', 'one': 'one.pt'}[n]), n + '.old', _use_new_zipfile_serialization=False)\n");
  const auto weights = read(converted("model.pth"));
  ASSERT_EQ(weights.inputs.size(), 2U);
  EXPECT_EQ(weights.inputs[0].name, "bias");
  const auto list = read(converted("list.pt"));
  ASSERT_EQ(list.inputs.size(), 2U);
  EXPECT_FALSE(list.isNamed) << "forward's order";
  EXPECT_THAT(valuesOf<float>(list.inputs[1]), ElementsAre(1, 1));
  EXPECT_THAT(valuesOf<float>(read(converted("one.pt")).inputs.at(0)), ElementsAre(1, 1, 1));
  EXPECT_EQ(read(converted("it's $HOME.pt")).inputs.size(), 1U) << "the shell sees the name as it is";
  EXPECT_EQ(read(converted("dict.old")).inputs.size(), 2U);
  EXPECT_EQ(read(converted("one.old")).inputs.size(), 1U);
}

TEST_F(Kinds, OtherPicklesToo) {
  make("pickle.dump({'x': np.arange(3.)}, open('in.pkl', 'wb'), protocol=4)\n");
  EXPECT_THAT(error("in.pkl"), HasSubstr(": is a pickle, which can run any code when it is read; if you trust it, convert it: python3 -c \"import numpy, pickle, sys; "));
  EXPECT_THAT(valuesOf<double>(read(converted("in.pkl")).inputs.at(0)), ElementsAre(0, 1, 2));
}

TEST_F(Kinds, AFolderHasTheDigestOfItsFiles) {
  const std::string command = "cd '" + m_folder.path() + "/set' && find . -type f -not -path '*/.*' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum | cut -c1-64 > ../sum";
  std::filesystem::create_directories(m_folder.file("set/b c"));
  tests::writeFile(m_folder.file("set/preprocessing.json"), R"({"channels": "grey", "layout": "NCHW", "dtype": "uint8"})");
  tests::writeFile(m_folder.file("set/b c/2.png"), "two");
  tests::writeFile(m_folder.file("set/b.png"), "one");
  tests::writeFile(m_folder.file("set/.hidden"), "no");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto digest = storage::inputsDigest(m_folder.file("set"));
  ASSERT_TRUE(digest.ok()) << digest.error().message();
  EXPECT_EQ(digest.value() + "\n", tests::readFile(m_folder.file("sum")));
  std::filesystem::rename(m_folder.file("set/b.png"), m_folder.file("set/c.png"));
  EXPECT_NE(storage::inputsDigest(m_folder.file("set")).value(), digest.value()) << "names count";
  EXPECT_FALSE(storage::inputsDigest(m_folder.path()).ok()) << "any folder is not read through";
}

}  // namespace
