#include "core/model/model_info.h"

#include <nlohmann/json.hpp>

namespace ulpscope::model {

std::string leafName(const std::string& modulePath) {
  const auto dot = modulePath.rfind('.');
  return dot == std::string::npos ? modulePath : modulePath.substr(dot + 1);
}

std::string parentPath(const std::string& modulePath) {
  const auto dot = modulePath.rfind('.');
  return dot == std::string::npos ? std::string() : modulePath.substr(0, dot);
}

bool isWithin(const std::string& modulePath, const std::string& ancestor) {
  return ancestor.empty() || modulePath == ancestor || modulePath.rfind(ancestor + ".", 0) == 0;
}

nlohmann::json toJson(const ModelInfo& info) {
  nlohmann::json modules = nlohmann::json::array();
  for (const ModuleNode& m : info.modules)
    modules.push_back({{"path", m.path}, {"type", m.typeName}, {"aliases", m.aliases}, {"parameters", m.parameterCount}});
  nlohmann::json arguments = nlohmann::json::array();
  for (const Argument& a : info.arguments)
    arguments.push_back({{"name", a.name}, {"type", a.type}, {"has_default", a.hasDefault}});
  return {{"path", info.path},
          {"code_sha256", info.fingerprint.codeSha256},
          {"weights_sha256", info.fingerprint.weightsSha256},
          {"modules", modules},
          {"arguments", arguments},
          {"warnings", info.warnings}};
}

base::Result<ModelInfo> modelInfoFromJson(const nlohmann::json& json) try {
  ModelInfo info;
  info.path = json.at("path");
  info.fingerprint = {json.at("code_sha256"), json.at("weights_sha256")};
  for (const auto& m : json.at("modules"))
    info.modules.push_back({m.at("path"), m.at("type"), m.at("aliases"), m.at("parameters")});
  for (const auto& a : json.at("arguments")) info.arguments.push_back({a.at("name"), a.at("type"), a.at("has_default")});
  info.warnings = json.at("warnings").get<std::vector<std::string>>();
  return info;
} catch (const nlohmann::json::exception& e) {
  return base::Error{base::ErrorKind::input, std::string("model description is damaged: ") + e.what(), "", ""};
}

}  // namespace ulpscope::model
