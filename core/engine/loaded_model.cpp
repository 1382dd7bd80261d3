#include "core/engine/loaded_model.h"

#include "core/engine/attention_op.h"
#include "core/engine/interception.h"
#include "core/engine/path_markers.h"
#include "core/engine/static_ops.h"
#include "core/engine/values.h"
#include "core/model/archive.h"

#include <ATen/Parallel.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;

// What makes two modules of a saved file one: scripting doubles a module that is registered under two names, but its tensors stay the
// same. A module without tensors is known by its object.
std::string identityOf(const torch::jit::Module& module) {
  std::string identity = module.type()->name() ? module.type()->name()->name() : "Module";
  std::size_t tensors = 0;
  const auto add = [&](const auto& named) {
    for (const auto& t : named) {
      if (!t.value.defined() || !t.value.has_storage()) continue;
      ++tensors;
      identity += fmt::format("|{}:{}+{}{}", t.name, fmt::ptr(t.value.storage().unsafeGetStorageImpl()->data()), t.value.storage_offset(),
                              fmt::join(t.value.sizes(), "x"));
    }
  };
  add(module.named_parameters());
  add(module.named_buffers());
  return tensors > 0 ? identity : fmt::format("{}", fmt::ptr(module._ivalue().get()));
}

// Walks modules as named_modules() does: depth first, in order of registration, a module once.
class Describer {
 public:
  explicit Describer(LoadedModel& loaded) : m_loaded(loaded) {}

  void describe(const torch::jit::Module& module, const std::string& path) {
    const auto [known, isNew] = m_first.emplace(identityOf(module), path);
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
  std::unordered_map<std::string, std::string> m_first;

  template <typename F>
  static void forChildren(const torch::jit::Module& module, const std::string& path, F visit) {
    for (const auto& child : module.named_children()) visit(child.value, path.empty() ? child.name : path + "." + child.name);
  }

  void noteAlias(const torch::jit::Module& module, const std::string& path, const std::string& first) {
    m_loaded.aliases.emplace(path, first);
    for (auto& node : m_loaded.info.modules)
      if (node.path == first) node.aliases.push_back(path);
    forChildren(module, path, [&](const torch::jit::Module& child, const std::string& childPath) {
      noteAlias(child, childPath, m_first.try_emplace(identityOf(child), childPath).first->second);
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

// Compiles the methods now, without a hook: compiling folds constants by running ops, which are not the model's, under a lock that
// the two runs would wait for each other with.
void compile(const torch::jit::Module& module) {
  const ModelThreadGuard thread(at::get_num_threads());
  std::unordered_set<const void*> seen;
  for (const auto& sub : module.modules())
    for (torch::jit::Function* method : sub.type()->methods())
      if (auto* function = torch::jit::tryToGraphFunction(*method); function && seen.insert(function).second) {
        torch::jit::Stack none;
        function->get_executor().getPlanFor(none, c10::nullopt);
      }
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
  // TorchScript wraps the cause: its last line says what went wrong, after the kind of exception.
  if (const auto runtime = text.rfind("RuntimeError: "); runtime != std::string::npos) {
    text = text.substr(runtime + 14);
  } else if (text.find("Traceback of TorchScript") != std::string::npos) {
    if (const auto other = text.rfind("Error: "); other != std::string::npos) text = text.substr(other + 7);
  }
  text.erase(0, std::min(text.find_first_not_of(" \n\t"), text.size()));
  text.resize(std::min(text.find('\n'), text.size()));
  return text.empty() ? "unknown error" : text;
}

base::Result<LoadedModel> loadModel(const std::string& path) {
  auto fingerprint = model::checkArchive(path);
  if (!fingerprint) return fingerprint.error();
  LoadedModel loaded;
  try {
    provideAttentionOp();
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
  MarkingReport report;
  try {
    report = markPaths(loaded.module);
  } catch (const std::exception&) {
    report.refused = {"a torch.jit.fork that cannot be inlined"};
  }
  if (!report.refused.empty())
    return Error{ErrorKind::input, "cannot be followed op by op: it has " + report.refused.front(), path, "trace the model, or take that part out"};
  loaded.unresolvedCalls = std::move(report.unresolvedCalls);
  loaded.ownAutocast = report.ownAutocast;
  try {
    compile(loaded.module);
  } catch (const std::exception& e) {
    return Error{ErrorKind::input, "LibTorch cannot compile it: " + plainMessage(e), path, remedyFor(plainMessage(e))};
  }
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
