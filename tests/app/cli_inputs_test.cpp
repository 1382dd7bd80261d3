// One model on the same inputs in every format that the command line takes: the same numbers; and what it refuses, with exit code 3.
#include "program.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kFixture = ULPSCOPE_TEST_BUILD "/testdata/models/ffn_wo_overflow";

// Writes the fixture's inputs.h5 again in the other formats; the formats' writers are numpy, h5py and, of safetensors, the eight lines below.
constexpr const char* kWrite = R"(
import json, struct, sys, h5py, numpy as np
f = h5py.File(FIXTURE + '/inputs.h5')
arrays = {k: v[()] for k, v in f.items() if isinstance(v, h5py.Dataset) and v.dtype.kind != 'O'}
texts = {k: np.array([t.decode() for t in np.atleast_1d(v[()])]) for k, v in f.items() if isinstance(v, h5py.Dataset) and v.dtype.kind == 'O'}
expected = {'expected.' + k: v[()] for k, v in f['expected'].items()} if 'expected' in f else {}
inputs = [k for k in arrays if k not in ('labels', 'targets')]
assert len(inputs) == 1, inputs
np.savez('a.npz', **arrays, **{k: v if k != 'preprocessing' else v[0] for k, v in texts.items()}, **expected)
np.savez_compressed('b.npz', *[arrays[inputs[0]]], **{k: arrays[k] for k in arrays if k not in inputs}, **texts, **{k.replace('.', '/'): v for k, v in expected.items()})
np.save('c.npy', np.asfortranarray(arrays[inputs[0]]))
header, data = {'__metadata__': {k: json.dumps(v.tolist()) for k, v in texts.items()}}, b''
names = {'float32': 'F32', 'int64': 'I64', 'float64': 'F64', 'bool': 'BOOL', 'int32': 'I32'}
for k, v in {**arrays, **expected}.items():
    header[k] = {'dtype': names[v.dtype.name], 'shape': list(v.shape), 'data_offsets': [len(data), len(data) + v.nbytes]}
    data += np.ascontiguousarray(v).tobytes()
text = json.dumps(header).encode()
open('d.safetensors', 'wb').write(struct.pack('<Q', len(text)) + text + data)
with h5py.File('e.h5', 'w') as g:
    g['entry/detector/raw'] = arrays[inputs[0]]
    d = g.create_group('entry/data')
    d.attrs.update({'NX_class': 'NXdata', 'signal': 'signal'})
    d['signal'] = h5py.SoftLink('/entry/detector/raw')
    for k in arrays:
        if k not in inputs: g[k] = arrays[k]
    for k, v in texts.items(): g[k] = v.tolist()
    for k, v in expected.items(): g['expected/' + k[9:]] = v
)";

// Paths, times, digests and identities aside, at every level.
void strip(json& value) {
  if (value.is_object())
    for (const char* key : {"path", "sha256", "inputs_sha256", "session", "created_utc", "id", "run_id", "elapsed_ms", "duration_ms", "timings", "inputs", "peak_memory_bytes"}) value.erase(key);
  for (auto& item : value)
    if (item.is_structured()) strip(item);
}

json run(const Folder& folder, const std::string& model, const std::string& name, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run", model, "--inputs", name, "--decision", "argmax", "--session", "s.ulps", "--json", "-"};
  words.insert(words.end(), more.begin(), more.end());
  const Finished finished = ulpscope(folder, words);
  EXPECT_EQ(finished.code, 0) << finished.err;
  json document = json::parse(finished.out, nullptr, false);
  strip(document);
  return document;
}

TEST(CliInputs, GiveTheSameNumbersInEveryFormat) {
  const tests::ScratchFolder files;
  ASSERT_TRUE(tests::python(files, std::string("FIXTURE = '") + kFixture + "'\n" + kWrite));
  const std::string model = std::string(kFixture) + "/model.ts";
  const json expected = run(Folder(), model, std::string(kFixture) + "/inputs.h5");
  ASSERT_FALSE(expected.is_discarded());
  ASSERT_GT(expected.dump().size(), 2000U) << "there is something to compare";
  for (const char* name : {"a.npz", "b.npz", "d.safetensors", "e.h5"}) EXPECT_EQ(run(Folder(), model, files.file(name)), expected) << name;
}

// Sixty digits of the demo, whose values are sixteenths: as PNG files in a folder a class, and as the same arrays.
TEST(CliInputs, AFolderOfImagesIsTheSetThatItsStatementSays) {
  const tests::ScratchFolder files;
  const std::string demo = ULPSCOPE_TEST_DATA "/../../resources/demo/digits";
  ASSERT_TRUE(tests::python(files, "import h5py, json, os, numpy as np\nfrom PIL import Image\nf = h5py.File('" + demo + "/inputs.h5')\n"
                                   "x, y = f['image'][:60], f['labels'][:60]\nnames = [f'{c}/{i:02}.png' for c, i in zip(y, range(60))]\norder = np.argsort(names)\n"
                                   "for name, image in zip(names, x):\n  os.makedirs('set/' + name[0], exist_ok=True)\n  Image.fromarray((image[0] * 16).astype('u1')).save('set/' + name)\n"
                                   "how = {'channels': 'grey', 'divide': 16, 'dtype': 'float32', 'layout': 'NCHW'}\njson.dump(how, open('set/preprocessing.json', 'w'))\n"
                                   "np.savez('a.npz', image=x[order], labels=y[order], sample_ids=np.array(names)[order], class_names=np.array([str(i) for i in range(10)]),\n"
                                   "         preprocessing=np.array(json.dumps(how, separators=(',', ':'), sort_keys=True)))\n"));
  const Folder folder;
  const std::string model = demo + "/model.ts", set = files.file("set");
  EXPECT_EQ(run(folder, model, set), run(Folder(), model, files.file("a.npz")));
  EXPECT_EQ(run(folder, model, set, {"--append", "--only-samples", "3/01.png"})["only_samples"], json({"3/01.png"})) << "an id is a path";
  ASSERT_TRUE(tests::python(files, "import os\nos.rename('set/3/01.png', 'set/3/63.png')\n"));
  const Finished other = ulpscope(folder, {"run", model, "--inputs", set, "--decision", "argmax", "--session", "s.ulps", "--append"});
  EXPECT_NE(other.code, 0) << "it is another set";
  EXPECT_THAT(other.err, HasSubstr("inputs"));
}

TEST(CliInputs, AreRefusedInOneLineWithExitCode3) {
  const Folder folder;
  const tests::ScratchFolder files;
  ASSERT_TRUE(tests::python(files, "import numpy as np, torch\ntorch.save({'x': torch.ones(2)}, 'in.pt')\nnp.save('cut.npy', np.ones(9))\nopen('cut.npy', 'r+b').truncate(150)\n"
                                   "np.save('objects.npy', np.array([{}]), allow_pickle=True)\nopen('in.csv', 'w').write('1,2\\n')\nimport os\nos.mkdir('images')\n"));
  const std::pair<const char*, const char*> cases[] = {
      {"in.pt", "in.pt: is a pickle of torch.save, which can run any code when it is read; if you trust it, convert it: python3 -c \"import numpy, sys, torch; d = torch.load("},
      {"cut.npy", "cut.npy: is cut short: it has 150 bytes, its header declares 200; copy the file again, or save it again with numpy.save\n"},
      {"objects.npy", "objects.npy: holds Python objects (a pickle inside, which could run any code); store numbers, or text as numpy.array(list, dtype=str)\n"},
      {"in.csv", "in.csv: is no inputs file; give HDF5, npz, npy, safetensors, tensors saved as `ulpscope snippet` shows, or a folder of images\n"},
      {"images", "images: is a folder without a preprocessing.json, which says what is done to its images; write one, for instance: {\"resize\": {\"size\": [224, 224], \"filter\": \"bilinear\"}, \"channels\": \"RGB\", \"divide\": 255, \"layout\": \"NCHW\", \"dtype\": \"float32\"}\n"}};
  for (const auto& [name, line] : cases) {
    SCOPED_TRACE(name);
    const Finished finished = ulpscope(folder, {"run", std::string(kFixture) + "/model.ts", "--inputs", files.file(name), "--session", "s.ulps"});
    EXPECT_EQ(finished.code, 3);
    EXPECT_THAT(finished.err, HasSubstr("ulpscope: " + files.path() + "/" + line));
    EXPECT_FALSE(folder.has("s.ulps"));
  }
}

}  // namespace
}  // namespace ulpscope::test
