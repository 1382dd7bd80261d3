// What Ulpscope knows of a model without running it.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::model {

// One module. path as PyTorch's named_modules() writes it ("encoder.layers.0.fc2"), root = empty string; a module
// registered under several names stands once, under the first.
struct ModuleNode {
  std::string path;
  std::string typeName;             // "Linear"
  std::vector<std::string> aliases;  // further paths of the same object
  std::int64_t parameterCount = 0;  // elements of its own parameters, children not counted
};

// One argument of forward, self not counted.
struct Argument {
  std::string name;
  std::string type;  // "Tensor", "Optional[Tensor]", "int" ...
  bool hasDefault = false;
};

// An op as it stands in the model's code: what `inspect` lists before anything ran.
struct StaticOp {
  std::string modulePath;
  std::string op;        // "aten::linear"
  std::string overload;  // "" or "Tensor"
  std::string source;    // "model.py:12", may be empty
  std::string policyClass;  // "lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote", "refused", "none", "opened" (a fused layer: its own ops run)
  std::map<std::string, std::string> otherTables = {};  // the device's other policy tables by name, and the class there
};

struct Fingerprint {
  std::string codeSha256;
  std::string weightsSha256;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct ModelInfo {
  std::string path;  // as the engine opened it; reports show the file name only
  Fingerprint fingerprint;
  std::vector<ModuleNode> modules;  // in named_modules() order, root first
  std::vector<Argument> arguments;
  std::vector<std::string> warnings;  // "stored in float16: not pure FP32", ...
};

// Last component of a path: "encoder.0.fc2" -> "fc2", "" -> "".
std::string leafName(const std::string& modulePath);
// "encoder.0.fc2" -> "encoder.0"; "fc2" -> "".
std::string parentPath(const std::string& modulePath);
// True for equal paths and for module paths below `ancestor`; the root ("") is above everything.
bool isWithin(const std::string& modulePath, const std::string& ancestor);

nlohmann::json toJson(const ModelInfo& info);
// Error kind input when a key is missing or of the wrong type.
base::Result<ModelInfo> modelInfoFromJson(const nlohmann::json& json);

}  // namespace ulpscope::model
