#include "core/session/json_section.h"

#include "core/base/file_kind.h"
#include "core/base/json_text.h"
#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace ulpscope::session {

using nlohmann::json;

void failAt(const std::string& document, const std::string& where, const std::string& what, const std::string& remedy) {
  throw SectionFault{{base::ErrorKind::input, what, where.empty() ? document : document + ", " + where, remedy}};
}

base::Result<json> parseJson(const std::string& text, const std::string& which, const std::string& remedy) { return base::readJson(text, {which, remedy}); }

base::Result<json> readJsonFile(const std::string& path, const std::string& remedy) {
  if (auto kind = base::checkFileKind(path); !kind) return kind.error();
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::Error{base::ErrorKind::input, "cannot be opened", path, remedy};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return base::Error{base::ErrorKind::input, "cannot be read to its end", path, remedy};
  return parseJson(text, path, remedy);
}

Section::Section(const json& object, std::string document, std::string where) : m_object(object), m_document(std::move(document)), m_where(std::move(where)) {
  if (!object.is_object()) failAt(m_document, m_where, "must be an object in braces");
}

bool Section::has(const char* key) {
  m_known.insert(key);
  return m_object.contains(key);
}

bool Section::hasValue(const char* key) { return has(key) && !at(key).is_null(); }

std::optional<double> Section::limit(const char* key, double largest, double smallest) {
  if (!has(key)) return std::nullopt;
  const json& value = at(key);
  if (value.is_null()) fail(key, "has no limit yet", "write a number, or take the line out");
  if (!value.is_number() || !std::isfinite(value.get<double>())) fail(key, value.dump() + " is no finite number", "write a number, or take the line out");
  if (value.get<double>() < smallest) fail(key, value.dump() + " is below 0", "write a limit of at least 0");
  if (value.get<double>() > largest) fail(key, fmt::format("{} is above {}", value.dump(), largest), fmt::format("write a limit of at most {}", largest));
  return value.get<double>();
}

double Section::number(const char* key, double otherwise) {
  if (!has(key)) return otherwise;
  if (!at(key).is_number() || !std::isfinite(at(key).get<double>())) fail(key, at(key).dump() + " is no finite number");
  return at(key).get<double>();
}

std::int64_t Section::whole(const char* key, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  if (!has(key)) return otherwise;
  const json& value = at(key);
  const bool fits = value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
  if (!fits) fail(key, value.dump() + " is no whole number");
  if (value.get<std::int64_t>() < least) fail(key, fmt::format("{} is below {}", value.dump(), least));
  if (value.get<std::int64_t>() > most) fail(key, fmt::format("{} is above {}", value.dump(), base::groupedInteger(most)), fmt::format("write at most {}", most));
  return value.get<std::int64_t>();
}

// Neither a path nor a name can hold one: what stands behind it would quietly be lost.
void Section::refuseNul(const char* key, const json& text) const {
  if (text.get_ref<const std::string&>().find('\0') != std::string::npos) fail(key, text.dump() + " holds a NUL character", "take \\u0000 out");
}

std::string Section::text(const char* key, const std::string& otherwise) {
  if (!has(key)) return otherwise;
  if (!at(key).is_string()) fail(key, at(key).dump() + " is no text");
  refuseNul(key, at(key));
  return at(key);
}

bool Section::flag(const char* key, bool otherwise) {
  if (!has(key)) return otherwise;
  if (!at(key).is_boolean()) fail(key, at(key).dump() + " is neither true nor false");
  return at(key);
}

std::vector<std::string> Section::texts(const char* key) {
  std::vector<std::string> list;
  if (!has(key)) return list;
  if (!at(key).is_array()) fail(key, "must be a list in brackets");
  for (const json& item : at(key)) {
    if (!item.is_string()) fail(key, item.dump() + " is no text");
    refuseNul(key, item);
    list.push_back(item);
  }
  return list;
}

std::vector<Section> Section::sections(const char* key) {
  std::vector<Section> list;
  if (!has(key)) return list;
  if (!at(key).is_array()) fail(key, "must be a list in brackets");
  for (std::size_t i = 0; i < at(key).size(); ++i) list.emplace_back(at(key)[i], m_document, where(fmt::format("{}[{}]", key, i)));
  return list;
}

std::size_t Section::oneOf(const char* key, const std::vector<std::string>& names, std::size_t otherwise) {
  if (!has(key)) return otherwise;
  const std::string name = text(key);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail(key, "'" + name + "' is not one of " + base::quotedChoice(names));
  return static_cast<std::size_t>(found - names.begin());
}

void Section::refuseUnknown() const {
  const std::vector<std::string> known(m_known.begin(), m_known.end());
  for (const auto& [key, value] : m_object.items())
    if (m_known.count(key) == 0) fail(key, "is no key that is known here", "nearest: " + base::quotedChoice(base::nearestNames(key, known)));
}

}  // namespace ulpscope::session
