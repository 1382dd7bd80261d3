#include "core/storage/safetensors_header.h"

#include "core/storage/input_names.h"

#include <nlohmann/json.hpp>

#include <set>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using nlohmann::json;

constexpr std::size_t kMostDimensions = 64;
constexpr const char* kMetadata = "__metadata__";

// Takes the header word by word; whatever does not belong at its place ends the reading. So no depth and no length of a hostile header
// costs more than its own bytes.
class HeaderReader : public json::json_sax_t {
 public:
  SafetensorsHeader header;
  std::string problem;  // the first

  bool start_object(std::size_t) override {
    if (m_depth == 0 || (m_depth == 1 && m_hasKey)) return ++m_depth, m_hasKey = false, m_seen = {}, true;
    return refuse("has an object where none belongs");
  }
  bool end_object() override {
    if (--m_depth == 1 && !m_isMetadata && !(m_seen.dtype && m_seen.shape && m_seen.offsets)) return refuse("lacks \"dtype\", \"shape\" or \"data_offsets\"");
    return true;
  }
  bool key(string_t& name) override {
    m_hasKey = true;
    m_key = name;
    if (m_depth == 1) return beginEntry(name);
    if (m_isMetadata) return !header.metadata.contains(name) || refuse("holds \"" + name + "\" twice");
    bool* seen = name == "dtype" ? &m_seen.dtype : name == "shape" ? &m_seen.shape : name == "data_offsets" ? &m_seen.offsets : nullptr;
    if (!seen) return refuse("has \"" + name.substr(0, 40) + "\", which no tensor has");
    if (*seen) return refuse("has \"" + name + "\" twice");
    return *seen = true;
  }
  bool string(string_t& text) override {
    if (m_depth != 2) return refuse("has a text where none belongs");
    if (m_isMetadata) return header.metadata.emplace(m_key, text), true;
    if (m_key != "dtype") return refuse("has a text for \"" + m_key + "\"");
    header.entries.back().dtype = text;
    return true;
  }
  bool start_array(std::size_t) override {
    if (m_depth != 2 || m_isMetadata || m_key == "dtype") return refuse("has a list where none belongs");
    ++m_depth;
    m_numbers.clear();
    return true;
  }
  bool end_array() override {
    --m_depth;
    SafetensorsEntry& entry = header.entries.back();
    if (m_key == "shape") {
      entry.shape.assign(m_numbers.begin(), m_numbers.end());
      return true;
    }
    if (m_numbers.size() != 2) return refuse("has " + std::to_string(m_numbers.size()) + " data offsets, 2 expected");
    entry.begin = m_numbers[0];
    entry.end = m_numbers[1];
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;
    if (m_depth != 3) return refuse("has a number where none belongs");
    if (value > kLargest || m_numbers.size() == kMostDimensions) return refuse("has sizes that no tensor has");
    m_numbers.push_back(value);
    return true;
  }
  bool number_integer(number_integer_t) override { return refuse("has a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return refuse("has a number with a fraction or beyond 64 bits"); }
  bool null() override { return refuse("has null where it does not belong"); }
  bool boolean(bool) override { return refuse("has true or false where none belongs"); }
  bool binary(binary_t&) override { return refuse("has binary data"); }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    problem = "has a header that is no JSON (at byte " + std::to_string(at) + " of it)";
    return false;
  }

 private:
  struct Seen {
    bool dtype = false, shape = false, offsets = false;
  };

  bool refuse(const std::string& what) {
    problem = m_depth > 0 && !m_name.empty() ? "has a header in which '" + m_name.substr(0, 80) + "' " + what : "has a header that " + what;
    return false;
  }
  bool beginEntry(const std::string& name) {
    m_name.clear();
    if (hasControls(name)) return refuse("names a tensor with control characters");
    m_name = name;
    m_isMetadata = name == kMetadata;
    if (!m_names.insert(name).second) return refuse("stands twice");
    if (!m_isMetadata) header.entries.push_back({name, "", {}, 0, 0});
    return true;
  }

  int m_depth = 0;  // 1: names; 2: a tensor or the metadata; 3: a list of numbers
  bool m_hasKey = false, m_isMetadata = false;
  std::string m_name, m_key;
  Seen m_seen;
  std::set<std::string> m_names;
  std::vector<std::uint64_t> m_numbers;
};

}  // namespace

base::Result<SafetensorsHeader> readSafetensorsHeader(std::string_view text, const std::string& place) {
  HeaderReader reader;
  if (json::sax_parse(text.begin(), text.end(), &reader)) return std::move(reader.header);
  return Error{ErrorKind::input, reader.problem.empty() ? "has a header that is no JSON" : reader.problem, place, "copy the file again, or save it again"};
}

}  // namespace ulpscope::storage
