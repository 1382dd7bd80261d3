#include "core/engine/static_ops.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <unordered_map>

namespace ulpscope::engine {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = c10::prim;

// Recursion of a model's own functions is not possible in TorchScript; the bound guards against damaged files.
constexpr int kMaxDepth = 200;
constexpr std::size_t kMaxOps = 1000000;

// PyTorch's ops and those of extensions; not the interpreter's own.
bool isOp(c10::Symbol kind) { return !kind.is_prim() && !kind.is_attr() && !kind.is_onnx() && !kind.is_cuda(); }

class Collector {
 public:
  Collector(const PathAliases& aliases, std::vector<model::StaticOp>& ops) : m_aliases(aliases), m_ops(ops) {}

  void method(const torch::jit::Module& module, const std::string& name, const std::string& path, int depth) {
    const auto found = module.find_method(name);
    if (!found) return;
    auto* function = torch::jit::tryToGraphFunction(found->function());
    if (!function) return;
    const auto graph = function->graph();
    const Value* self = graph->inputs().empty() ? nullptr : graph->inputs()[0];
    block(graph->block(), Scope{&module, self, path}, depth);
  }

 private:
  struct Scope {
    const torch::jit::Module* module;
    const Value* self;
    std::string path;
    std::string callerSource = {};  // in a function: the line that calls it
  };
  const PathAliases& m_aliases;
  std::vector<model::StaticOp>& m_ops;

  void block(const Block* block, const Scope& scope, int depth) {
    if (depth > kMaxDepth || m_ops.size() > kMaxOps) return;
    for (const Node* node : block->nodes()) {
      if (isOp(node->kind()))
        add(node, scope);
      else if (node->kind() == prim::CallMethod)
        call(node, scope, depth);
      else if (node->kind() == prim::CallFunction)
        callFunction(node, scope, depth);
      for (const Block* inner : node->blocks()) this->block(inner, scope, depth + 1);
    }
  }

  void add(const Node* node, const Scope& scope) {
    const auto* schema = node->maybeSchema();
    if (!schema) return;
    bool onTensors = false;
    for (const auto& argument : schema->arguments()) onTensors = onTensors || argument.type()->str().find("Tensor") != std::string::npos;
    for (const auto& result : schema->returns()) onTensors = onTensors || result.type()->str().find("Tensor") != std::string::npos;
    const std::string source = sourceText(node->sourceRange());
    if (onTensors) m_ops.push_back({scope.path, schema->name(), schema->overload_name(), isOfTheModel(source) || scope.callerSource.empty() ? source : scope.callerSource, ""});
  }

  void call(const Node* node, const Scope& scope, int depth) {
    std::vector<std::string> names;
    const Value* object = node->input(0);
    while (object != scope.self) {
      if (object->node()->kind() != prim::GetAttr) return;
      names.push_back(object->node()->s(c10::attr::name));
      object = object->node()->input(0);
    }
    torch::jit::Module target = *scope.module;
    std::string path = scope.path;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      target = target.attr(*name).toModule();
      path = path.empty() ? *name : path + "." + *name;
    }
    if (const auto alias = m_aliases.find(path); alias != m_aliases.end()) path = alias->second;
    method(target, node->s(c10::attr::name), path, depth + 1);
  }

  void callFunction(const Node* node, const Scope& scope, int depth) {
    const auto type = node->input(0)->type()->cast<c10::FunctionType>();
    auto* function = type ? torch::jit::tryToGraphFunction(*type->function()) : nullptr;
    const std::string source = sourceText(node->sourceRange());
    if (function) block(function->graph()->block(), Scope{scope.module, nullptr, scope.path, isOfTheModel(source) ? source : scope.callerSource}, depth + 1);
  }
};

}  // namespace

std::string sourceText(const torch::jit::SourceRange& range) {
  if (!range.source()) return "";
  // A saved model's code is regenerated; its debug records lead back to the line that the author wrote.
  const auto written = range.findSourceRangeThatGenerated();
  const auto place = written ? written->file_line_col() : range.file_line_col();
  if (!place) return "";
  const auto& [file, line, column] = *place;
  if (file.empty()) return "";
  const auto slash = file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(line);
}

bool isOfTheModel(const std::string& source) { return !source.empty() && source.front() != '<'; }

std::vector<model::StaticOp> staticOps(const torch::jit::Module& module, const PathAliases& aliases) {
  std::vector<model::StaticOp> ops;
  Collector(aliases, ops).method(module, "forward", "", 0);
  return ops;
}

}  // namespace ulpscope::engine
