// Private: an object of a file that a person wrote, read key by key.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ulpscope::session {

// What the readers throw; caught where the file's Result is made.
struct SectionFault {
  base::Error error;
};
// which: "criteria, outputs[0].atol".
[[noreturn]] void failAt(const std::string& document, const std::string& where, const std::string& what, const std::string& remedy = "");

// base::readJson with the text at the first line of `which`.
base::Result<nlohmann::json> parseJson(const std::string& text, const std::string& which, const std::string& remedy);
// The same of a file; one that cannot be opened or read is an error of kind input too.
base::Result<nlohmann::json> readJsonFile(const std::string& path, const std::string& remedy);

// Its keys are asked for one by one, and what nobody asked for is unknown. Every fault is a SectionFault (kind input) that names the place.
class Section {
 public:
  static constexpr double kLargest = std::numeric_limits<double>::max();

  // document: "criteria", "recipe"; where: the place in it, "" the whole. `object` must outlive it.
  Section(const nlohmann::json& object, std::string document, std::string where = "");

  bool has(const char* key);  // also where its value is null
  bool hasValue(const char* key);
  const nlohmann::json& at(const char* key) const { return m_object.at(key); }
  const std::string& place() const { return m_where; }
  std::string where(const std::string& key) const { return m_where.empty() ? key : m_where + "." + key; }

  // null: "has no limit yet".
  std::optional<double> limit(const char* key, double largest = kLargest, double smallest = 0);
  double number(const char* key, double otherwise);  // finite
  std::int64_t whole(const char* key, std::int64_t otherwise, std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
  std::string text(const char* key, const std::string& otherwise = "");
  bool flag(const char* key, bool otherwise);
  std::vector<std::string> texts(const char* key);
  Section section(const char* key) const { return Section(m_object.at(key), m_document, where(key)); }
  std::vector<Section> sections(const char* key);  // of a list of objects
  // The one of `names` that stands there; an error names them all.
  std::size_t oneOf(const char* key, const std::vector<std::string>& names, std::size_t otherwise);

  void refuseUnknown() const;
  [[noreturn]] void fail(const std::string& key, const std::string& what, const std::string& remedy = "") const { failAt(m_document, where(key), what, remedy); }

 private:
  void refuseNul(const char* key, const nlohmann::json& text) const;

  const nlohmann::json& m_object;
  std::string m_document, m_where;
  std::set<std::string> m_known;
};

}  // namespace ulpscope::session
