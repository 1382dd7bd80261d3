// Folders of images against torchvision's own transforms on Pillow's images, bit for bit.
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

// set/ gets images of every kind that is read; expect(...) writes what torchvision's ImageFolder gives of them, in its order.
constexpr const char* kImages = R"(
import json, os, numpy as np, torch
from PIL import Image, ImageOps
from torchvision import datasets, transforms as T
rng = np.random.default_rng(7)
def picture(h, w):
    y, x = np.mgrid[0:h, 0:w]
    smooth = np.stack([x * 255 // w, y * 255 // h, (x + y) * 255 // (w + h)], -1)
    return Image.fromarray(np.where(rng.random((h, w, 1)) < 0.5, smooth, rng.integers(0, 256, (h, w, 3))).astype('u1'))
def put(name, image, **options):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    image.save(name, **options)
def every(size=None):
    for i, (h, w) in enumerate([(31, 47), (64, 20), (17, 17), (90, 121)] if size is None else [size] * 4):
        p = picture(h, w)
        put(f'set/b cat/{i}.png', p)
        put(f'set/a dog/x/{i}.JPG', p, quality=90)
        put(f'set/a dog/{i}.jpeg', p, progressive=True, subsampling=0)
        put(f'set/b cat/L{i}.png', p.convert('L'))
        put(f'set/b cat/P{i}.png', p.convert('P'), transparency=3)
        put(f'set/c/A{i}.png', Image.merge('RGBA', (*p.split(), p.convert('L'))))
        put(f'set/c/LA{i}.png', p.convert('LA'))
        put(f'set/c/1{i}.png', p.convert('1'))
        put(f'set/c/L{i}.jpg', p.convert('L'))
def how(**words): json.dump(words, open('set/preprocessing.json', 'w'))
def load(mode): return lambda path: Image.open(path).convert('RGB').convert(mode)
def expect(transform, mode='RGB'):
    folder = datasets.ImageFolder('set', transform, loader=load(mode))
    torch.stack([image for image, _ in folder]).contiguous().numpy().tofile('truth.bin')
    with open('names.txt', 'w') as file:
        for path, label in folder.samples: print(label, os.path.relpath(path, 'set'), file=file)
)";

class ImageFolder : public testing::Test {
 protected:
  void make(const std::string& lines) { ASSERT_TRUE(tests::python(m_folder, kImages + lines)); }
  storage::InputFile read() {
    auto file = storage::readInputFile(m_path);
    EXPECT_TRUE(file.ok()) << file.error().message();
    return file.ok() && file->inputs.size() == 1 ? file.value() : storage::InputFile{{{}}, {}, {}, {}, {}, {}, {}};
  }
  void expectTruth() {
    const auto file = read();
    std::string names;
    for (std::size_t i = 0; i < file.sampleIds.size(); ++i) names += std::to_string(file.labels.at(i)) + " " + file.sampleIds[i] + "\n";
    EXPECT_EQ(names, tests::readFile(m_folder.file("names.txt")));
    const std::string truth = tests::readFile(m_folder.file("truth.bin"));
    const auto& bytes = file.inputs[0].bytes;
    ASSERT_EQ(bytes.size(), truth.size());
    std::size_t differing = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) differing += bytes[i] != static_cast<std::byte>(truth[i]) ? 1 : 0;
    EXPECT_EQ(differing, 0U) << "of " << truth.size() << " bytes";
  }
  std::string error() {
    const auto read = storage::readInputFile(m_path);
    return read.ok() ? "read" : read.error().message();
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("set");
};

TEST_F(ImageFolder, IsTorchvisionsUsualPreprocessing) {
  make("every()\nhow(resize={'size': 24, 'filter': 'bilinear'}, crop=[19, 22], channels='RGB', divide=255, mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225], layout='NCHW', dtype='float32')\n"
       "expect(T.Compose([T.Resize(24), T.CenterCrop((19, 22)), T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]))\n");
  expectTruth();
  const auto file = read();
  EXPECT_THAT(file.inputs[0].shape, ElementsAre(36, 3, 19, 22));
  EXPECT_THAT(file.classNames, ElementsAre("a dog", "b cat", "c"));
  EXPECT_FALSE(file.isNamed);
  EXPECT_EQ(file.preprocessing, R"({"channels":"RGB","crop":[19,22],"divide":255,"dtype":"float32","layout":"NCHW","mean":[0.485,0.456,0.406],"resize":{"filter":"bilinear","size":24},"std":[0.229,0.224,0.225]})");
}

TEST_F(ImageFolder, ResizesUpAndDownAsPillowDoes) {
  for (const char* filter : {"bilinear", "bicubic"})
    for (const char* size : {"[7, 90]", "[200, 5]", "[33, 33]", "[1, 1]"}) {
      SCOPED_TRACE(std::string(filter) + size);
      std::filesystem::remove_all(m_path);
      make("every()\nhow(resize={'size': " + std::string(size) + ", 'filter': '" + filter + "'}, channels='RGB', layout='NHWC', dtype='uint8')\n" + "expect(T.Compose([T.Resize(" + size +
           ", T.InterpolationMode." + (filter == std::string("bilinear") ? "BILINEAR" : "BICUBIC") + "), lambda i: torch.from_numpy(np.array(i))]))\n");
      expectTruth();
    }
}

TEST_F(ImageFolder, GreyAndBgrHalfAndBfloat16) {
  make("every()\nhow(resize={'size': [20, 30], 'filter': 'bilinear'}, channels='grey', divide=1, layout='NCHW', dtype='float16', mean=[127.5])\n"
       "expect(T.Compose([T.Resize((20, 30)), T.PILToTensor(), lambda t: (t.float() - 127.5).half()]), 'L')\n");
  expectTruth();
  make("how(resize={'size': [20, 30], 'filter': 'bilinear'}, channels='BGR', divide=255, layout='NHWC', dtype='bfloat16', std=[0.1, 0.2, 0.3])\n"
       "expect(T.Compose([T.Resize((20, 30)), T.ToTensor(), lambda t: (t.flip(0) / torch.tensor([0.1, 0.2, 0.3]).view(3, 1, 1)).bfloat16().permute(1, 2, 0).contiguous().view(torch.int16)]))\n");
  expectTruth();
  EXPECT_EQ(read().inputs[0].dtype, DType::bfloat16);
}

TEST_F(ImageFolder, OrientationIsSaidOrRefused) {
  const std::string images = "for i in range(1, 9):\n  exif = Image.Exif(); exif[0x0112] = i\n  put(f'set/a/{i}.jpg', picture(16, 24), exif=exif)\n  put(f'set/a/{i}.png', picture(16, 24), exif=exif)\n"
                             "size = dict(resize={'size': [16, 16], 'filter': 'bilinear'}, channels='RGB', layout='NHWC', dtype='uint8')\n";
  make(images + "how(**size)\n");
  EXPECT_EQ(error(), m_path + "/a/2.jpg: has the EXIF orientation 2, and preprocessing.json does not say what to do with it; add \"exif_orientation\": \"ignore\" (as torchvision) or \"apply\"");
  make(images + "how(**size, exif_orientation='ignore')\nexpect(T.Compose([T.Resize((16, 16)), lambda i: torch.from_numpy(np.array(i))]))\n");
  expectTruth();
  make(images + "how(**size, exif_orientation='apply')\nload = lambda mode: lambda path: ImageOps.exif_transpose(Image.open(path)).convert('RGB')\n"
                "expect(T.Compose([T.Resize((16, 16)), lambda i: torch.from_numpy(np.array(i))]))\n");
  expectTruth();
}

TEST_F(ImageFolder, WithoutClassesHasNoLabelsAndGivesSingleImages) {
  make("for i in range(3): put(f'set/{i}.png', picture(5, 4))\nhow(channels='RGB', divide=255, layout='NCHW', dtype='float32', input='image')\nput('set/.hidden/x.png', picture(5, 4))\n");
  const auto file = read();
  EXPECT_THAT(file.sampleIds, ElementsAre("0.png", "1.png", "2.png"));
  EXPECT_THAT(file.labels, IsEmpty());
  EXPECT_TRUE(file.isNamed);
  EXPECT_EQ(file.inputs[0].name, "image");
  const auto shapes = storage::inputShapes(m_path);
  ASSERT_TRUE(shapes.ok()) << shapes.error().message();
  EXPECT_THAT(shapes.value().at(0).shape, ElementsAre(3, 3, 5, 4));
  const auto one = tests::samplesOf(m_path, {"image", 0, {2, 0}});
  EXPECT_THAT(one[0].shape, ElementsAre(3, 5, 4));
  EXPECT_TRUE(std::equal(one[0].bytes.begin(), one[0].bytes.end(), file.inputs[0].bytes.begin() + 480));
  EXPECT_TRUE(std::equal(one[1].bytes.begin(), one[1].bytes.end(), file.inputs[0].bytes.begin()));
  EXPECT_EQ(tests::sampleError(m_path, {"image", 1, {0}}), m_path + ", images: are counted along axis 0 alone; the folder is another one than the run's");
}

TEST_F(ImageFolder, SaysWhatIsWrongWithItsImages) {
  const std::string least = "how(channels='RGB', layout='NHWC', dtype='uint8')\nput('set/0.png', picture(5, 4))\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"put('set/1.png', picture(4, 5))", "/1.png: has 5 x 4 pixels where the first image has 4 x 5 pixels; add a resize or a crop to preprocessing.json"},
      {"open('set/notes.txt', 'w').write('x' * 40)", "/notes.txt: is neither PNG nor JPEG; convert it, or move it out of the folder"},
      {"put('set/a/1.png', picture(5, 4))", ": holds images in itself ('0.png') and in sub-folders ('a'); put every image into the sub-folder of its class, or all into the folder"},
      {"put('set/1.jpg', picture(5, 4).convert('CMYK'))", "/1.jpg: is neither grey nor RGB (CMYK?); convert it to RGB; replace it, or move it out of the folder"},
      {"put('set/1.png', Image.fromarray(np.zeros((5, 4), 'u2')))", "/1.png: has 16 bits a channel; save it with 8; replace it, or move it out of the folder"},
      {"open('set/1.png', 'wb').write(open('set/0.png', 'rb').read()[:-20])", "/1.png: is damaged: the file ends too early; replace it, or move it out of the folder"},
      {"put('set/1.jpg', picture(64, 64)); d = open('set/1.jpg', 'rb').read(); open('set/1.jpg', 'wb').write(d[:-300])", "/1.jpg: is damaged: Premature end of JPEG file; replace it, or move it out of the folder"},
      {"os.remove('set/0.png')", ": holds no images; put PNG or JPEG files there, or in a sub-folder a class"},
      {"os.symlink('.', 'set/loop')", "/loop: is a link to a folder; put the folder itself there"},
      {"how(channels='RGB', layout='NHWC', dtype='uint8', crop=[6, 4])", "/0.png: has 4 x 5 pixels where 4 x 6 pixels are to be cropped; resize to more, or crop less"}};
  for (const auto& [lines, message] : cases) {
    SCOPED_TRACE(lines);
    std::filesystem::remove_all(m_path);
    std::filesystem::create_directory(m_path);
    make(least + lines);
    EXPECT_EQ(error(), m_path + message);
  }
}

TEST_F(ImageFolder, RefusesPixelBombsBeforeTheyAreDecoded) {
  make("os.makedirs('set')\nhow(channels='RGB', layout='NHWC', dtype='uint8', resize={'size': [8, 8], 'filter': 'bilinear'})\nimport zlib, struct\n"
       "def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))\n"
       "open('set/0.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 60000, 60000, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(bytes(1000))) + chunk(b'IEND', b''))\n");
  EXPECT_EQ(error(), m_path + "/0.png: has 60000 x 60000 pixels; at most 100000000 are read; replace it, or move it out of the folder");
}

TEST_F(ImageFolder, SaysWhatIsWrongWithItsStatement) {
  std::filesystem::create_directory(m_path);
  EXPECT_EQ(error(), m_path + R"(: is a folder without a preprocessing.json, which says what is done to its images; write one, for instance: {"resize": {"size": [224, 224], "filter": "bilinear"}, "channels": "RGB", "divide": 255, "layout": "NCHW", "dtype": "float32"})");
  const std::string rest = R"("channels": "RGB", "layout": "NCHW", "dtype": "float32", "divide": 255)";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"layout": "NCHW", "dtype": "float32", "divide": 255})", ", channels: is missing; say "},
      {R"({"channels": "rgb", "layout": "NCHW", "dtype": "float32", "divide": 255})", ", channels: is \"rgb\"; use "},
      {R"({"channels": "RGB", "layout": "NCHW", "dtype": "float32"})", ", divide: is missing; say 255 for values from 0 to 1, or 1 for those from 0 to 255"},
      {R"({"channels": "RGB", "layout": "NCHW", "dtype": "uint8", "divide": 255})", ", divide: does not go with dtype uint8, which keeps the pixels as they are; leave it out, or use float32"},
      {"{" + rest + R"(, "means": [0]})", ", means: means nothing; use "},
      {"{" + rest + R"(, "mean": [0.5]})", ", mean: is not a list of 3 numbers, one a channel; for instance [0.485, 0.456, 0.406]"},
      {"{" + rest + R"(, "std": [1, 0, 1]})", ", std: holds 0, which nothing can be divided by; write the standard deviations"},
      {"{" + rest + R"(, "std": [1, 1e400, 1]})", ": "},
      {"{" + rest + R"(, "crop": 5})", ", crop: is no [height, width]; for instance [224, 224]"},
      {"{" + rest + R"(, "resize": 5})", ", resize: is not an object of size and filter; for instance {\"size\": [224, 224]"},
      {"{" + rest + R"(, "resize": {"size": 0, "filter": "bilinear"}})", ", resize: has no size from 1 to 32768; for instance"},
      {"{" + rest + R"(, "resize": {"size": 5, "filter": "nearest"}})", ", resize: has a filter that is not known; for instance"},
      {"{" + rest + R"(, "dtype": "float32"})", ": "},
      {"[]", ": is no JSON object; write for instance: {"}};
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    tests::writeFile(m_path + "/preprocessing.json", text);
    EXPECT_THAT(error(), HasSubstr(m_path + "/preprocessing.json" + (message == ": " ? "" : message)));
  }
}

}  // namespace
