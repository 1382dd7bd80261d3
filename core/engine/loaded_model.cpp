#include "core/engine/loaded_model.h"

#include "core/engine/path_markers.h"
#include "core/engine/static_ops.h"
#include "core/engine/values.h"
#include "core/model/archive.h"

#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

#include <algorithm>
#include <unordered_map>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;

// Walks modules as named_modules() does: depth first, in order of registration, an object once.
class Describer {
 public:
  explicit Describer(LoadedModel& loaded) : m_loaded(loaded) {}

  void describe(const torch::jit::Module& module, const std::string& path) {
    const auto [known, isNew] = m_first.emplace(module._ivalue().get(), path);
    if (!isNew) {
      noteAlias(module, path, known->second);
      return;
    }
    model::ModuleNode node;
    node.path = path;
    node.typeName = module.type()->name() ? module.type()->name()->name() : "Module";
    for (const auto& parameter : module.parameters(/*recurse=*/false)) node.parameterCount += parameter.numel();
    m_loaded.info.modules.push_back(std::move(node));
    forChildren(module, path, [&](const torch::jit::Module& child, const std::string& childPath) { describe(child, childPath); });
  }

 private:
  LoadedModel& m_loaded;
  std::unordered_map<const void*, std::string> m_first;

  template <typename F>
  static void forChildren(const torch::jit::Module& module, const std::string& path, F visit) {
    for (const auto& child : module.named_children()) visit(child.value, path.empty() ? child.name : path + "." + child.name);
  }

  void noteAlias(const torch::jit::Module& module, const std::string& path, const std::string& first) {
    m_loaded.aliases.emplace(path, first);
    for (auto& node : m_loaded.info.modules)
      if (node.path == first) node.aliases.push_back(path);
    forChildren(module, path, [&](const torch::jit::Module& child, const std::string& childPath) {
      noteAlias(child, childPath, m_first.at(child._ivalue().get()));
    });
  }
};

void describeArguments(LoadedModel& loaded) {
  const auto& schema = loaded.module.get_method("forward").function().getSchema();
  for (std::size_t i = 1; i < schema.arguments().size(); ++i) {
    const auto& argument = schema.arguments()[i];
    loaded.info.arguments.push_back({argument.name(), argument.type()->annotation_str(), argument.default_value().has_value()});
  }
}

void warnOfLowTensors(LoadedModel& loaded) {
  std::size_t low = 0;
  for (const auto& p : loaded.module.named_parameters()) low += isLow(p.value.scalar_type());
  for (const auto& b : loaded.module.named_buffers()) low += isLow(b.value.scalar_type());
  if (low > 0)
    loaded.info.warnings.push_back("not pure FP32: the model stores " + std::to_string(low) + " 16-bit tensor" + (low == 1 ? "" : "s"));
}

std::string remedyFor(const std::string& message) {
  if (message.find("Unknown builtin op") != std::string::npos)
    return "this LibTorch is " TORCH_VERSION " and does not have it; export with torch.jit.trace or torch.jit.freeze, or with an older PyTorch";
  return "export it again with torch.jit.script or torch.jit.trace (see: ulpscope snippet)";
}

}  // namespace

std::string plainMessage(const std::exception& error) {
  std::string text = error.what();
  if (const auto backtrace = text.find("\nException raised from"); backtrace != std::string::npos) text.resize(backtrace);
  // TorchScript wraps the cause: its last line says what went wrong.
  if (const auto runtime = text.rfind("RuntimeError: "); runtime != std::string::npos) text = text.substr(runtime + 14);
  const auto line = std::min(text.find('\n'), text.size());
  text.resize(line);
  return text.empty() ? "unknown error" : text;
}

base::Result<LoadedModel> loadModel(const std::string& path) {
  auto fingerprint = model::checkArchive(path);
  if (!fingerprint) return fingerprint.error();
  LoadedModel loaded;
  try {
    loaded.module = torch::jit::load(path, at::kCPU);
  } catch (const std::exception& e) {
    const std::string message = plainMessage(e);
    return Error{ErrorKind::input, "LibTorch cannot load it: " + message, path, remedyFor(message)};
  }
  if (!loaded.module.find_method("forward"))
    return Error{ErrorKind::input, "has no forward method: it holds tensors, not a model", path, "give it as --inputs, and the model as MODEL"};
  loaded.info.path = path;
  loaded.info.fingerprint = fingerprint.value();
  Describer(loaded).describe(loaded.module, "");
  describeArguments(loaded);
  warnOfLowTensors(loaded);
  loaded.ops = staticOps(loaded.module, loaded.aliases);
  MarkingReport report = markPaths(loaded.module);
  if (!report.refused.empty())
    return Error{ErrorKind::input, "cannot be followed op by op: it has " + report.refused.front(), path, "trace the model, or take that part out"};
  loaded.unresolvedCalls = std::move(report.unresolvedCalls);
  return loaded;
}

torch::jit::Module copyForRun(const torch::jit::Module& module, bool trainMode) {
  c10::IValue::HashAliasedIValueMap memo;
  for (const auto& parameter : module.parameters()) memo[c10::IValue(parameter)] = c10::IValue(parameter);
  const at::NoGradGuard noGrad;
  torch::jit::Module copy(module._ivalue()->deepcopy(memo));
  copy.train(trainMode);
  return copy;
}

}  // namespace ulpscope::engine
