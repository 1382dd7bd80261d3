#include "schema_validator.h"

#include <algorithm>
#include <set>

namespace ulpscope::test {
namespace {

using nlohmann::json;

bool hasType(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return value.type_name() == type;  // "object", "array", "string", "null"
}

class Validator {
 public:
  explicit Validator(const json& root) : m_root(root) {}

  void check(const json& schema, const json& value, const std::string& place) {
    static const std::set<std::string> kKnown{"$schema", "$id", "$defs", "title", "description", "type", "const", "enum",
                                              "required", "properties", "additionalProperties", "items", "minimum", "maximum", "default",
                                              "anyOf", "$ref"};
    for (const auto& [key, ignored] : schema.items())
      if (!kKnown.count(key)) fault(place, "the schema uses '" + key + "', which this check does not know");
    if (schema.contains("$ref")) check(referenced(schema["$ref"]), value, place);
    checkValue(schema, value, place);
    if (value.is_object()) checkObject(schema, value, place);
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i) check(schema["items"], value[i], place + "/" + std::to_string(i));
    if (schema.contains("anyOf")) checkAnyOf(schema["anyOf"], value, place);
  }

  std::vector<std::string> faults;

 private:
  void fault(const std::string& place, const std::string& what) { faults.push_back(place + ": " + what); }

  const json& referenced(const std::string& reference) { return m_root.at(json::json_pointer(reference.substr(1))); }

  void checkValue(const json& schema, const json& value, const std::string& place) {
    if (schema.contains("type")) {
      const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
      if (std::none_of(types.begin(), types.end(), [&](const json& type) { return hasType(value, type); }))
        fault(place, "is " + value.dump() + ", not of type " + types.dump());
    }
    if (schema.contains("const") && schema["const"] != value) fault(place, "is not " + schema["const"].dump());
    if (schema.contains("enum") && std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      fault(place, value.dump() + " is none of " + schema["enum"].dump());
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) fault(place, "is too small");
    if (schema.contains("maximum") && value.is_number() && value > schema["maximum"]) fault(place, "is too large");
  }

  void checkObject(const json& schema, const json& value, const std::string& place) {
    for (const json& key : schema.value("required", json::array()))
      if (!value.contains(key)) fault(place, "lacks " + key.dump());
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, item] : value.items()) {
      if (properties.contains(key))
        check(properties[key], item, place + "/" + key);
      else if (schema.contains("additionalProperties"))
        fault(place, "has the unknown key '" + key + "'");
    }
  }

  void checkAnyOf(const json& choices, const json& value, const std::string& place) {
    std::vector<std::string> all;
    for (const json& choice : choices) {
      Validator attempt(m_root);
      attempt.check(choice, value, place);
      if (attempt.faults.empty()) return;
      all.insert(all.end(), attempt.faults.begin(), attempt.faults.end());
    }
    faults.insert(faults.end(), all.begin(), all.end());
  }

  const json& m_root;
};

}  // namespace

std::vector<std::string> schemaFaults(const json& schema, const json& document) {
  Validator validator(schema);
  validator.check(schema, document, "");
  return validator.faults;
}

}  // namespace ulpscope::test
