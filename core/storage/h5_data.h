// Private: attributes and columns (one-dimensional datasets), as h5py and pandas like them.
#pragma once

#include "core/storage/h5.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage::h5 {

// --- writing; text is variable-length UTF-8 ---
void writeAttribute(hid_t object, const std::string& name, const std::string& text);
void writeAttribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);
void writeAttribute(hid_t object, const std::string& name, std::int64_t value);

void writeText(hid_t group, const std::string& name, const std::string& text);  // a scalar
void writeColumn(hid_t group, const std::string& name, const std::vector<std::string>& texts);
void writeColumn(hid_t group, const std::string& name, const std::vector<std::int64_t>& values);
void writeColumn(hid_t group, const std::string& name, const std::vector<double>& values);
void writeColumn(hid_t group, const std::string& name, const std::vector<bool>& values);  // h5py's bool

// An array of any shape whose bytes already have the type `type`.
Dataset writeArray(hid_t group, const std::string& name, hid_t type, const std::vector<std::int64_t>& shape, const void* bytes);

// The same without its bytes, with the creation properties `plist`.
Dataset createArray(hid_t group, const std::string& name, hid_t type, const std::vector<std::int64_t>& shape, hid_t plist);

Group createGroup(hid_t parent, const std::string& name, const std::string& nexusClass);

// The layouts of IEEE half and of bfloat16, little-endian (facts of both: 10 and 7 mantissa bits).
Type halfType();
Type bfloat16Type();
Type boolType();

// --- reading; every one fails with the name of what is missing or of another kind ---
std::string readTextAttribute(hid_t object, const std::string& name);
std::vector<std::string> readTextsAttribute(hid_t object, const std::string& name);
std::int64_t readIntegerAttribute(hid_t object, const std::string& name);
bool hasAttribute(hid_t object, const std::string& name);

std::string readText(hid_t group, const std::string& name);
std::vector<std::string> readTexts(hid_t group, const std::string& name);  // scalar or 1-D, fixed or variable length
std::vector<std::int64_t> readIntegers(hid_t group, const std::string& name);  // 1-D, any integer type
std::vector<double> readDoubles(hid_t group, const std::string& name);         // 1-D, float32 or float64
std::vector<bool> readBools(hid_t group, const std::string& name);

// The column itself when it has `expected` entries; fails otherwise.
template <typename T>
const std::vector<T>& ofLength(const std::vector<T>& column, std::size_t expected, const std::string& name) {
  if (column.size() != expected)
    fail("has " + std::to_string(column.size()) + " entries, " + std::to_string(expected) + " expected", name, "the file is damaged; restore it from a copy");
  return column;
}

bool has(hid_t group, const std::string& name);  // whether there is a link of that name

bool isUtf8(const std::string& text);

}  // namespace ulpscope::storage::h5
