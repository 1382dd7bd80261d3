// One input of a fuzz run: bytes as the file, or the part of one, that a reader of inputs meets (ULPSCOPE_FUZZ_READER). The reader may refuse
// them in one line; it may not crash, and what it reads must agree with itself. Works under libFuzzer and under reader_driver.cpp.
#include "core/storage/input_file.h"
#include "core/storage/input_kind.h"
#include "core/storage/input_samples.h"
#include "core/storage/strided_copy.h"
#include "tests/support/scratch_folder.h"

#include <zip.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace ulpscope;

namespace {

constexpr std::string_view kReader = ULPSCOPE_FUZZ_READER;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "reader_target: %s\n", what);
  std::abort();
}

void requireOneLine(const base::Error& error) {
  const std::string message = error.message();
  require(error.kind == base::ErrorKind::input, "an error is not of the kind input");
  require(!message.empty() && message.find('\n') == std::string::npos, "an error is not one line");
}

// An archive of records, so that damage lies behind right checksums; deflated where `deflates`.
void writeZip(const std::string& path, const std::vector<std::pair<std::string, std::string_view>>& records, bool deflates) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  require(archive != nullptr, "no archive can be made");
  for (const auto& [name, bytes] : records) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), deflates ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
  }
  require(zip_close(archive) == 0, "no archive can be written");
}

constexpr const char* kHow = R"({"resize": {"size": [5, 7], "filter": "bicubic"}, "channels": "RGB", "exif_orientation": "apply", "divide": 255, "layout": "NCHW", "dtype": "float16"})";
// A grey PNG of one pixel.
constexpr std::string_view kPixel("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\b\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9c" "cp\0\0\0B\0A\xb8\x8f\xba\xe3\0\0\0\0IEND\xae" "B`\x82", 67);

// What the reader is to open: the bytes themselves, or a file around them.
std::string place(const tests::ScratchFolder& folder, std::string_view bytes) {
  const std::string path = folder.file("input");
  const bool deflates = bytes.size() % 2 == 1;
  if (kReader == "npz" && !bytes.starts_with("PK")) {
    writeZip(path, {{"x.npy", bytes}, {"sample_ids.npy", bytes}}, deflates);
  } else if (kReader == "holder" && !bytes.starts_with("PK")) {
    static const std::string kStorage(64, '\x3f');
    writeZip(path, {{"in/data.pkl", bytes}, {"in/constants.pkl", "\x80\x02)."}, {"in/code/a.py", ""}, {"in/data/0", kStorage}, {"in/data/1", kStorage}}, deflates);
  } else if (kReader == "safetensors" && bytes.starts_with("{")) {
    const std::uint64_t length = bytes.size();
    tests::writeFile(path, std::string(reinterpret_cast<const char*>(&length), sizeof length) + std::string(bytes) + std::string(64, '\1'));
  } else if (kReader == "images") {
    std::filesystem::create_directories(path + "/cat");
    const bool isHow = bytes.starts_with("{");
    tests::writeFile(path + "/preprocessing.json", isHow ? std::string(bytes) : kHow);
    tests::writeFile(path + "/cat/a.png", std::string(isHow ? kPixel : bytes));
  } else {
    tests::writeFile(path, std::string(bytes));
  }
  return path;
}

std::vector<std::byte> sliceOf(const storage::RawTensor& tensor, std::int64_t sample) {
  std::vector<std::int64_t> shape(tensor.shape.begin() + 1, tensor.shape.end());
  const std::size_t count = tensor.bytes.size() / static_cast<std::size_t>(tensor.shape[0]);
  const std::byte* first = tensor.bytes.data() + static_cast<std::size_t>(sample) * count;
  return {first, first + count};
}

void checkTensor(const storage::RawTensor& tensor) {
  std::size_t bytes = base::sizeBytes(tensor.dtype);
  for (const std::int64_t size : tensor.shape) {
    require(size >= 0, "a size is negative");
    bytes *= static_cast<std::size_t>(size);
  }
  require(tensor.bytes.size() == bytes, "a tensor has another size than its shape");
}

// The samples one by one against the whole.
void checkSamples(const std::string& path, const storage::InputShape& input, const storage::InputFile* whole) {
  if (input.shape.empty() || input.shape[0] == 0) return;
  const std::vector<std::int64_t> wanted{0, input.shape[0] - 1};
  const auto samples = storage::readSamples(path, {input.name, 0, wanted});
  if (!samples) return requireOneLine(samples.error());
  require(samples->size() == wanted.size(), "samples are missing");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    checkTensor(samples.value()[i]);
    if (!whole) continue;
    for (const storage::RawTensor& tensor : whole->inputs)
      if (tensor.name == input.name) require(sliceOf(tensor, wanted[i]) == samples.value()[i].bytes, "a sample differs from the whole tensor's");
  }
}

void look(const std::string& path) {
  const auto kind = storage::inputKindOf(path);
  if (!kind) requireOneLine(kind.error());
  const auto whole = storage::readInputFile(path);
  if (!whole) requireOneLine(whole.error());
  else
    for (const auto* tensors : {&whole->inputs, &whole->expected})
      for (const storage::RawTensor& tensor : *tensors) checkTensor(tensor);
  const auto shapes = storage::inputShapes(path);
  if (!shapes) requireOneLine(shapes.error());
  else
    for (const storage::InputShape& shape : shapes.value()) checkSamples(path, shape, whole ? &whole.value() : nullptr);
  if (kReader == "images") return;
  if (const auto truth = storage::readTruth(path); !truth) requireOneLine(truth.error());
  if (const auto names = storage::readClassNames(path); !names) requireOneLine(names.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tests::ScratchFolder folder;
  look(place(folder, {reinterpret_cast<const char*>(data), size}));
  return 0;
}
