// The model fixtures that tests/support/make_models.py writes, and requests on them.
#pragma once

#include "core/session/settings.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace ulpscope::tests {

inline std::string modelFolder(const std::string& name) { return std::string(ULPSCOPE_TEST_BUILD) + "/testdata/models/" + name; }
inline std::string modelPath(const std::string& name) { return modelFolder(name) + "/model.ts"; }

inline nlohmann::json expectedOf(const std::string& name) {
  std::ifstream file(modelFolder(name) + "/expected.json");
  return nlohmann::json::parse(file);
}

inline session::RunRequest requestFor(const std::string& name) {
  session::RunRequest request;
  request.modelPath = modelPath(name);
  request.inputsPath = modelFolder(name) + "/inputs.pt";
  return request;
}

}  // namespace ulpscope::tests
