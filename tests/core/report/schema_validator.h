// A small JSON Schema (2020-12) check for our own schemas: type, const, enum, required, properties,
// additionalProperties: false, items, minimum, maximum, anyOf and local $ref. Any other keyword is itself a fault, so that a
// schema cannot promise what no test looks at.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ulpscope::test {

// The faults found, each with its place ("/flips/0/kind: ..."); empty: valid.
std::vector<std::string> schemaFaults(const nlohmann::json& schema, const nlohmann::json& document);

}  // namespace ulpscope::test
