#include "core/storage/array_inputs.h"

#include "core/base/json_text.h"
#include "core/storage/input_names.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using Texts = std::vector<std::string>;

const PlainArray* find(const PlainArrays& file, const std::string& name) {
  const auto found = std::find_if(file.arrays.begin(), file.arrays.end(), [&](const PlainArray& array) { return array.name == name; });
  return found == file.arrays.end() ? nullptr : &*found;
}

// Where nothing went wrong the value goes to `to`.
template <typename T>
Status store(Result<T> from, T& to) {
  if (!from) return from.error();
  to = std::move(from).value();
  return base::success();
}

Result<Texts> idsOf(const PlainArrays& file, const PlainArray& array) {
  if (array.type.isText()) return readPlainTexts(file, array);
  const auto numbers = readPlainIntegers(file, array);
  if (!numbers) return numbers.error();
  Texts ids;
  for (const std::int64_t number : numbers.value()) ids.push_back(std::to_string(number));
  return ids;
}

// safetensors holds no texts but those of its metadata: lists are JSON there.
Result<Texts> listOf(const std::string& text, const std::string& place) {
  const auto json = base::readJson(text, {place, "write a JSON list: [\"a\", \"b\"]"});
  if (!json) return json.error();
  const Error error{ErrorKind::input, "is no JSON list of texts", place, "write a JSON list: [\"a\", \"b\"]"};
  if (!json->is_array()) return error;
  Texts list;
  for (const nlohmann::json& item : json.value()) {
    if (item.is_string()) list.push_back(item.get<std::string>());
    else if (item.is_number_integer()) list.push_back(item.dump());
    else return error;
  }
  return list;
}

// sample_ids, class_names or sample_kinds: an array, or an entry of the metadata. Nothing there: none.
Result<Texts> textsOf(const PlainArrays& file, const std::string& name) {
  const PlainArray* array = find(file, name);
  const auto text = file.texts.find(name);
  if (array && text != file.texts.end()) return Error{ErrorKind::input, "stands twice, as an array and in the metadata", file.path + ", " + name, "leave one of them out"};
  if (text != file.texts.end()) return listOf(text->second, file.path + ", " + name);
  if (!array) return Texts();
  return name == "sample_ids" ? idsOf(file, *array) : readPlainTexts(file, *array);
}

Result<std::string> preprocessingOf(const PlainArrays& file) {
  if (const auto text = file.texts.find("preprocessing"); text != file.texts.end()) return text->second;
  const PlainArray* array = find(file, "preprocessing");
  if (!array) return std::string();
  auto texts = readPlainTexts(file, *array);
  if (!texts) return texts.error();
  if (texts->size() != 1) return Error{ErrorKind::input, "holds several texts, one is expected", file.path + ", preprocessing", "store one text"};
  return texts->front();
}

Status addTensors(const PlainArrays& file, InputFile& input) {
  for (const PlainArray& array : file.arrays) {
    const auto output = expectedOutput(array.name);
    if (!output && !isTensorName(array.name)) continue;
    auto tensor = readPlain(file, array);
    if (!tensor) return tensor.error();
    if (output) tensor.value().name = *output;
    (output ? input.expected : input.inputs).push_back(std::move(tensor).value());
  }
  const auto byName = [](const RawTensor& a, const RawTensor& b) { return a.name < b.name; };
  std::sort(input.inputs.begin(), input.inputs.end(), byName);
  std::sort(input.expected.begin(), input.expected.end(), byName);
  const auto same = std::adjacent_find(input.expected.begin(), input.expected.end(), [](const RawTensor& a, const RawTensor& b) { return a.name == b.name; });
  if (same != input.expected.end()) return Error{ErrorKind::input, "stands twice, as expected/" + same->name + " and expected." + same->name, file.path, "leave one of them out"};
  return base::success();
}

// arr_0 to the last: forward's arguments by their order.
void orderByPosition(InputFile& input) {
  Texts names;
  for (const RawTensor& tensor : input.inputs)
    if (tensor.name != "targets") names.push_back(tensor.name);
  const auto ordered = positionalNames(names);
  if (!ordered) return;
  input.isNamed = false;
  const auto place = [&](const RawTensor& tensor) { return std::find(ordered->begin(), ordered->end(), tensor.name) - ordered->begin(); };
  std::sort(input.inputs.begin(), input.inputs.end(), [&](const RawTensor& a, const RawTensor& b) { return place(a) < place(b); });
}

}  // namespace

Result<InputFile> inputsOf(const PlainArrays& file) {
  InputFile input;
  for (const auto& [name, to] : {std::pair("sample_ids", &input.sampleIds), {"class_names", &input.classNames}, {"sample_kinds", &input.kinds}})
    if (auto stored = store(textsOf(file, name), *to); !stored) return stored.error();
  if (auto unique = checkSampleIds(input.sampleIds, file.path + ", sample_ids"); !unique) return unique.error();
  if (auto stored = store(preprocessingOf(file), input.preprocessing); !stored) return stored.error();
  if (const PlainArray* labels = find(file, "labels"))
    if (auto stored = store(readPlainIntegers(file, *labels), input.labels); !stored) return stored.error();
  if (find(file, "expected")) return Error{ErrorKind::input, "has no output's name", file.path + ", expected", "name it expected/OUTPUT or expected.OUTPUT"};
  if (auto added = addTensors(file, input); !added) return added.error();
  if (input.inputs.empty()) return Error{ErrorKind::input, "holds no inputs", file.path, "store each argument of forward as an array of that name (ulpscope snippet prints how)"};
  orderByPosition(input);
  return input;
}

Result<std::vector<InputShape>> shapesOf(const PlainArrays& file) {
  std::vector<InputShape> shapes;
  Texts names;
  for (const PlainArray& array : file.arrays) {
    if (!isInputName(array.name) || array.type.kind != ElementType::Kind::number) continue;
    shapes.push_back({array.name, array.type.dtype, array.shape});
    names.push_back(array.name);
  }
  const auto ordered = positionalNames(names);
  const auto place = [&](const InputShape& shape) { return ordered ? std::find(ordered->begin(), ordered->end(), shape.name) - ordered->begin() : 0; };
  std::sort(shapes.begin(), shapes.end(), [&](const InputShape& a, const InputShape& b) { return std::pair(place(a), a.name) < std::pair(place(b), b.name); });
  return shapes;
}

Result<std::vector<RawTensor>> samplesOf(const PlainArrays& file, const SampleSlices& slices) {
  const PlainArray* array = find(file, slices.input);
  if (!array) return Error{ErrorKind::input, "is not in the file", file.path + ", " + slices.input, "the file is another one than the run's"};
  if (auto fits = checkSlices({array->name, array->type.dtype, array->shape}, slices, file.path); !fits) return fits.error();
  return readPlainSamples(file, *array, slices);
}

Result<Truth> truthOf(const PlainArrays& file) {
  Truth truth;
  const PlainArray* labels = find(file, "labels");
  const PlainArray* targets = labels ? nullptr : find(file, "targets");
  if (!labels && !targets && file.arrays.size() == 1 && file.arrays.front().name == "arr_0") {
    const ElementType& type = file.arrays.front().type;
    const bool isFloating = type.kind == ElementType::Kind::number && base::isFloating(type.dtype);
    (isFloating ? targets : labels) = &file.arrays.front();
  }
  if (!labels && !targets) return Error{ErrorKind::input, "holds neither 'labels' nor 'targets'", file.path, "store one of them, one entry a sample"};
  if (auto stored = labels ? store(readPlainIntegers(file, *labels), truth.labels) : store(readPlainDoubles(file, *targets), truth.targets); !stored) return stored.error();
  return truth;
}

Result<Texts> classNamesOf(const PlainArrays& file) {
  const bool isLone = file.arrays.size() == 1 && file.arrays.front().name == "arr_0";
  if (isLone) return readPlainTexts(file, file.arrays.front());
  if (!find(file, "class_names") && !file.texts.contains("class_names")) return Error{ErrorKind::input, "holds no 'class_names'", file.path, "store them, one text a class"};
  return textsOf(file, "class_names");
}

}  // namespace ulpscope::storage
