#include "core/storage/h5_data.h"

#include <algorithm>
#include <cstring>

namespace ulpscope::storage::h5 {
namespace {

Space spaceOf(const std::vector<std::int64_t>& shape) {
  if (shape.empty()) return Space(check(H5Screate(H5S_SCALAR), "cannot be made"));
  std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return Space(check(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), "cannot be made"));
}

Type textType() {
  Type type(check(H5Tcopy(H5T_C_S1), "cannot be made"));
  check(H5Tset_size(type, H5T_VARIABLE), "cannot be made");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "cannot be made");
  return type;
}

// HDF5 takes C strings, which would silently end at a NUL.
std::vector<const char*> pointers(const std::vector<std::string>& texts, const std::string& name) {
  std::vector<const char*> list;
  for (const std::string& text : texts) {
    if (text.find('\0') != std::string::npos) fail("holds a NUL character, which HDF5 cannot store in a text", name);
    list.push_back(text.c_str());
  }
  return list;
}

void writeAttribute(hid_t object, const std::string& name, hid_t type, const Space& space, const void* value) {
  const Attribute attribute(check(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), "cannot be made", "@" + name));
  check(H5Awrite(attribute, type, value), "cannot be written", "@" + name);
}

Type floatType(std::size_t exponentBits, std::size_t mantissaBits, std::size_t bias) {
  Type type(check(H5Tcopy(H5T_IEEE_F32LE), "cannot be made"));
  check(H5Tset_fields(type, 15, mantissaBits, exponentBits, 0, mantissaBits), "cannot be made");
  check(H5Tset_size(type, 2), "cannot be made");
  check(H5Tset_ebias(type, bias), "cannot be made");
  return type;
}

std::string trimmed(const char* text, std::size_t size, H5T_str_t padding) {
  std::string value(text, padding == H5T_STR_SPACEPAD ? size : ::strnlen(text, size));
  if (padding == H5T_STR_SPACEPAD)
    while (!value.empty() && value.back() == ' ') value.pop_back();
  return value;
}

// read(memoryType, buffer) is H5Dread or H5Aread.
template <typename Read>
std::vector<std::string> readVariableTexts(std::size_t count, const Type& stored, const Space& space, const std::string& name, Read read) {
  const Type type = textType();
  // HDF5 refuses to convert between its two character sets, though ASCII is UTF-8.
  check(H5Tset_cset(type, H5Tget_cset(stored)), "has no readable type", name);
  std::vector<char*> buffers(count, nullptr);
  check(read(static_cast<hid_t>(type), buffers.data()), "cannot be read", name);
  std::vector<std::string> texts;
  for (const char* text : buffers) texts.emplace_back(text ? text : "");
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffers.data());
  return texts;
}

template <typename Read>
std::vector<std::string> readFixedTexts(std::size_t count, const Type& type, const std::string& name, Read read) {
  const std::size_t size = H5Tget_size(type);
  std::vector<char> bytes(count * size);
  check(read(static_cast<hid_t>(type), bytes.data()), "cannot be read", name);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back(trimmed(bytes.data() + i * size, size, H5Tget_strpad(type)));
  return texts;
}

template <typename Read>
std::vector<std::string> readTextsOf(const Type& type, const Space& space, const std::string& name, Read read) {
  if (H5Tget_class(type) != H5T_STRING) fail("holds no text", name, "store strings there");
  const hssize_t count = check(H5Sget_simple_extent_npoints(space), "has no readable shape", name);
  const bool variable = check(H5Tis_variable_str(type), "has no readable type", name) > 0;
  auto texts = variable ? readVariableTexts(static_cast<std::size_t>(count), type, space, name, read)
                        : readFixedTexts(static_cast<std::size_t>(count), type, name, read);
  if (!std::all_of(texts.begin(), texts.end(), isUtf8)) fail("holds text that is not UTF-8", name, "store its strings as UTF-8");
  return texts;
}

Attribute openAttribute(hid_t object, const std::string& name) {
  if (!hasAttribute(object, name)) fail("is missing", "attribute " + name, "the file is damaged or not of the kind expected");
  return Attribute(check(H5Aopen(object, name.c_str(), H5P_DEFAULT), "cannot be opened", "attribute " + name));
}

// Reads a one-dimensional dataset whose class must be `wanted`, as memory type `memory`.
template <typename T>
std::vector<T> readNumbers(hid_t group, const std::string& name, H5T_class_t wanted, hid_t memory) {
  const Dataset dataset = openDataset(group, name);
  const Type type(check(H5Dget_type(dataset), "has no readable type", name));
  // HDF5's conversion from 16-bit floats is wrong, so they never pass through it.
  if (H5Tget_class(type) != wanted || (wanted == H5T_FLOAT && H5Tget_size(type) < 4))
    fail(wanted == H5T_FLOAT ? "does not hold float32 or float64" : "does not hold integers", name, "store it with that type");
  const auto shape = shapeOf(dataset, name);
  if (shape.size() != 1) fail("has " + std::to_string(shape.size()) + " dimensions, 1 expected", name, "store one value an entry");
  byteCount(shape, sizeof(T), name);
  std::vector<T> values(static_cast<std::size_t>(shape[0]));
  if (!values.empty()) check(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "cannot be read", name);
  return values;
}

}  // namespace

void writeAttribute(hid_t object, const std::string& name, const std::string& text) {
  const char* pointer = pointers({text}, name).front() ? text.c_str() : nullptr;
  writeAttribute(object, name, textType(), spaceOf({}), &pointer);
}

void writeAttribute(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
  const auto list = pointers(texts, name);
  writeAttribute(object, name, textType(), spaceOf({static_cast<std::int64_t>(texts.size())}), list.data());
}

void writeAttribute(hid_t object, const std::string& name, std::int64_t value) {
  writeAttribute(object, name, H5T_STD_I64LE, spaceOf({}), &value);
}

Dataset createArray(hid_t group, const std::string& name, hid_t type, const std::vector<std::int64_t>& shape, hid_t plist) {
  return Dataset(check(H5Dcreate2(group, name.c_str(), type, spaceOf(shape), H5P_DEFAULT, plist, H5P_DEFAULT), "cannot be made", name));
}

Dataset writeArray(hid_t group, const std::string& name, hid_t type, const std::vector<std::int64_t>& shape, const void* bytes) {
  Dataset dataset = createArray(group, name, type, shape, H5P_DEFAULT);
  if (std::find(shape.begin(), shape.end(), 0) == shape.end())
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes), "cannot be written", name);
  return dataset;
}

void writeText(hid_t group, const std::string& name, const std::string& text) {
  const auto list = pointers({text}, name);
  const char* pointer = text.c_str();
  writeArray(group, name, textType(), {}, &pointer);
}

void writeColumn(hid_t group, const std::string& name, const std::vector<std::string>& texts) {
  writeArray(group, name, textType(), {static_cast<std::int64_t>(texts.size())}, pointers(texts, name).data());
}

void writeColumn(hid_t group, const std::string& name, const std::vector<std::int64_t>& values) {
  writeArray(group, name, H5T_STD_I64LE, {static_cast<std::int64_t>(values.size())}, values.data());
}

void writeColumn(hid_t group, const std::string& name, const std::vector<double>& values) {
  writeArray(group, name, H5T_IEEE_F64LE, {static_cast<std::int64_t>(values.size())}, values.data());
}

void writeColumn(hid_t group, const std::string& name, const std::vector<bool>& values) {
  const std::vector<std::int8_t> bytes(values.begin(), values.end());
  writeArray(group, name, boolType(), {static_cast<std::int64_t>(values.size())}, bytes.data());
}

Group createGroup(hid_t parent, const std::string& name, const std::string& nexusClass) {
  Group group(check(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "cannot be made", name));
  writeAttribute(group, "NX_class", nexusClass);
  return group;
}

Type halfType() { return floatType(5, 10, 15); }
Type bfloat16Type() { return floatType(8, 7, 127); }

Type boolType() {
  Type type(check(H5Tenum_create(H5T_STD_I8LE), "cannot be made"));
  const std::int8_t no = 0, yes = 1;
  check(H5Tenum_insert(type, "FALSE", &no), "cannot be made");
  check(H5Tenum_insert(type, "TRUE", &yes), "cannot be made");
  return type;
}

bool hasAttribute(hid_t object, const std::string& name) {
  return check(H5Aexists(object, name.c_str()), "cannot be looked for", "attribute " + name) > 0;
}

std::vector<std::string> readTextsAttribute(hid_t object, const std::string& name) {
  const Attribute attribute = openAttribute(object, name);
  const Type type(check(H5Aget_type(attribute), "has no readable type", "attribute " + name));
  const Space space(check(H5Aget_space(attribute), "has no readable shape", "attribute " + name));
  if (H5Sget_simple_extent_npoints(space) == 0) return {};
  return readTextsOf(type, space, "attribute " + name, [&](hid_t memory, void* buffer) { return H5Aread(attribute, memory, buffer); });
}

std::string readTextAttribute(hid_t object, const std::string& name) {
  const auto texts = readTextsAttribute(object, name);
  if (texts.size() != 1) fail("is not one text", "attribute " + name, "the file is damaged");
  return texts.front();
}

std::int64_t readIntegerAttribute(hid_t object, const std::string& name) {
  const Attribute attribute = openAttribute(object, name);
  const Type type(check(H5Aget_type(attribute), "has no readable type", "attribute " + name));
  const Space space(check(H5Aget_space(attribute), "has no readable shape", "attribute " + name));
  if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1)
    fail("is not one whole number", "attribute " + name, "the file is damaged");
  std::int64_t value = 0;
  check(H5Aread(attribute, H5T_NATIVE_INT64, &value), "cannot be read", "attribute " + name);
  return value;
}

std::string readText(hid_t group, const std::string& name) {
  auto texts = readTexts(group, name);
  if (texts.size() != 1) fail("is not one text", name, "the file is damaged");
  return std::move(texts.front());
}

std::vector<std::string> readTexts(hid_t group, const std::string& name) {
  const Dataset dataset = openDataset(group, name);
  const Type type(check(H5Dget_type(dataset), "has no readable type", name));
  const Space space(check(H5Dget_space(dataset), "has no readable shape", name));
  if (shapeOf(dataset, name).size() > 1) fail("has more than 1 dimension", name, "store one text an entry");
  if (H5Sget_simple_extent_npoints(space) == 0) return {};
  return readTextsOf(type, space, name,
                     [&](hid_t memory, void* buffer) { return H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer); });
}

std::vector<std::int64_t> readIntegers(hid_t group, const std::string& name) {
  return readNumbers<std::int64_t>(group, name, H5T_INTEGER, H5T_NATIVE_INT64);
}

std::vector<double> readDoubles(hid_t group, const std::string& name) {
  return readNumbers<double>(group, name, H5T_FLOAT, H5T_NATIVE_DOUBLE);
}

std::vector<bool> readBools(hid_t group, const std::string& name) {
  const Type type = boolType();
  const auto bytes = readNumbers<std::int8_t>(group, name, H5T_ENUM, type);
  return {bytes.begin(), bytes.end()};
}

bool has(hid_t group, const std::string& name) { return H5Lexists(group, name.c_str(), H5P_DEFAULT) > 0; }

bool isUtf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    i += length;
  }
  return true;
}

}  // namespace ulpscope::storage::h5
