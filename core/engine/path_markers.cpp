#include "core/engine/path_markers.h"

#include "core/engine/execution_place.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inline_fork_wait.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <optional>
#include <unordered_set>

namespace ulpscope::engine {
namespace {

using c10::Symbol;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Operator;
using torch::jit::Stack;
using torch::jit::Value;
namespace prim = c10::prim;

template <typename F>
Operator marker(const char* schema, F action) {
  return Operator(
      schema,
      [action](Stack& stack) { action(stack, currentPlace()); },
      c10::AliasAnalysisKind::CONSERVATIVE);
}

torch::jit::RegisterOperators operators({
    marker("ulpscope::enter(str path) -> ()",
           [](Stack& s, ExecutionPlace* p) {
             const c10::IValue path = torch::jit::pop(s);
             if (p) p->enterModule(path.toStringRef());
           }),
    marker("ulpscope::returned(t value) -> ()",
           [](Stack& s, ExecutionPlace* p) {
             const c10::IValue value = torch::jit::pop(s);
             if (p) p->moduleReturned(value);
           }),
    marker("ulpscope::leave() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->leaveModule(); }),
    marker("ulpscope::branch(int which) -> ()",
           [](Stack& s, ExecutionPlace* p) {
             const auto which = torch::jit::pop(s).toInt();
             if (p) p->enterBranch(which);
           }),
    marker("ulpscope::end_branch() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->leaveBranch(); }),
    marker("ulpscope::loop() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->enterLoop(); }),
    marker("ulpscope::iteration() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->nextIteration(); }),
    marker("ulpscope::end_loop() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->leaveLoop(); }),
    marker("ulpscope::enter_autocast(bool enabled, int? dtype, str device) -> ()",
           [](Stack& s, ExecutionPlace* p) {
             const std::string device = torch::jit::pop(s).toStringRef();
             const c10::IValue given = torch::jit::pop(s);
             const auto dtype = given.isNone() ? at::ScalarType::Undefined : static_cast<at::ScalarType>(given.toInt());
             const bool enabled = torch::jit::pop(s).toBool();
             if (p) p->enterOwnAutocast(device, enabled, dtype);
           }),
    marker("ulpscope::leave_autocast() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->leaveOwnAutocast(); }),
    marker("ulpscope::on_host(t value) -> ()",
           [](Stack& s, ExecutionPlace* p) {
             const c10::IValue value = torch::jit::pop(s);
             if (p && value.isTensor()) p->markOnHost(value.toTensor());
           }),
    marker("ulpscope::quiet() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->enterQuiet(); }),
    marker("ulpscope::end_quiet() -> ()", [](Stack&, ExecutionPlace* p) { if (p) p->leaveQuiet(); }),
    marker("ulpscope::border(t value) -> t",
           [](Stack& s, ExecutionPlace* p) {
             if (p) torch::jit::push(s, p->crossBorder(torch::jit::pop(s)));
           }),
});

// "block.0" for a chain of GetAttr from self; "" for self; nothing for any other value.
std::optional<std::string> attributePath(const Value* object, const Value* self) {
  std::string path;
  while (object != self) {
    const Node* node = object->node();
    if (node->kind() != prim::GetAttr) return std::nullopt;
    const std::string& name = node->s(c10::attr::name);
    path = path.empty() ? name : name + "." + path;
    object = node->input(0);
  }
  return path;
}

bool mayHoldTensors(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::TensorType: return true;
    case c10::TypeKind::OptionalType:
    case c10::TypeKind::ListType:
    case c10::TypeKind::TupleType:
    case c10::TypeKind::DictType: {
      for (const auto& contained : type->containedTypes())
        if (mayHoldTensors(contained)) return true;
      return false;
    }
    default: return false;
  }
}

std::string shortTypeName(const Value* object) {
  if (const auto named = object->type()->cast<c10::NamedType>(); named && named->name()) return named->name()->name();
  return object->type()->str();
}

bool isAutocastContext(const Value* object) {
  const auto type = object->type()->cast<c10::ClassType>();
  return type && !type->is_module() && type->name() && type->name()->name().find("autocast") != std::string::npos;
}

class Marker {
 public:
  explicit Marker(MarkingReport& report) : m_report(report) {}

  void markMethods(const torch::jit::Module& module) {
    const auto type = module.type();
    if (!m_types.insert(type.get()).second) return;
    for (torch::jit::Function* method : type->methods()) markFunction(*method, type->name() ? type->name()->name() : "?");
  }

 private:
  MarkingReport& m_report;
  std::unordered_set<const void*> m_types;
  std::unordered_set<const void*> m_graphs;
  std::string m_where;

  void markFunction(torch::jit::Function& function, const std::string& owner) {
    auto* graphFunction = torch::jit::tryToGraphFunction(function);
    if (!graphFunction) return;
    const auto graph = graphFunction->graph();
    if (!m_graphs.insert(graph.get()).second) return;
    const std::string outer = std::exchange(m_where, owner + "." + function.name());
    if (awaitsEachFork(graph->block()))
      torch::jit::InlineForkWait(graph);
    else
      m_report.refused.push_back("a torch.jit.fork whose future is not waited for directly in " + m_where);
    const Value* self = graph->inputs().empty() ? nullptr : graph->inputs()[0];
    if (self && self->type()->kind() != c10::TypeKind::ClassType) self = nullptr;
    markBlock(graph->block(), self);
    m_where = outer;
  }

  // A future that goes elsewhere (into a list) would leave a graph that inlining breaks.
  static bool awaitsEachFork(Block* block) {
    for (Node* node : block->nodes()) {
      if (node->kind() == prim::fork)
        for (const auto& use : node->output()->uses())
          if (use.user->kind() != Symbol::aten("wait")) return false;
      for (Block* inner : node->blocks())
        if (!awaitsEachFork(inner)) return false;
    }
    return true;
  }

  void markBlock(Block* block, const Value* self) {
    const std::vector<Node*> nodes(block->nodes().begin(), block->nodes().end());
    for (Node* node : nodes) {
      for (Block* inner : node->blocks()) markBlock(inner, self);
      if (node->kind() == prim::If)
        markBranches(node);
      else if (node->kind() == prim::Loop)
        markLoop(node);
      else if (node->kind() == prim::CallMethod)
        markCall(node, self);
      else if (node->kind() == prim::CallFunction)
        markCalledFunction(node);
      else if (makesTensorsItself(node))
        markQuiet(node);
      else if (isHostConstant(node))
        insertOnHost(node->output());
      else if (node->kind() == prim::fork)
        m_report.refused.push_back("torch.jit.fork in " + m_where);
      else if (node->kind() == prim::Enter || node->kind() == prim::Exit)
        markContext(node);
    }
  }

  static void insertBefore(Node* place, const char* op, const std::vector<c10::IValue>& constants = {}) {
    torch::jit::WithInsertPoint at(place);
    Graph* graph = place->owningGraph();
    std::vector<Value*> inputs;
    for (const c10::IValue& constant : constants) inputs.push_back(graph->insertConstant(constant));
    graph->insertNode(graph->create(Symbol::fromQualString(op), inputs, 0));
  }

  // The interpreter's own `tensor(...)` is no ATen op; which ATen ops it calls inside hangs on the dtype asked for.
  static bool makesTensorsItself(const Node* node) {
    static const Symbol tensor = Symbol::aten("tensor"), asTensor = Symbol::aten("as_tensor");
    return node->kind() == tensor || node->kind() == asTensor;
  }

  // A traced `torch.tensor(0.1)` is a constant of the graph; on a GPU it still lies on the CPU.
  static bool isHostConstant(const Node* node) {
    return node->kind() == prim::Constant && node->hasAttribute(c10::attr::value) &&
           node->kindOf(c10::attr::value) == torch::jit::AttributeKind::t && node->t(c10::attr::value).dim() == 0;
  }

  static void markQuiet(Node* node) {
    insertBefore(node->next(), "ulpscope::end_quiet");
    insertBefore(node, "ulpscope::quiet");
    // tensor(data, dtype, device, ...): without a device the tensor is made on the CPU, also in a model that runs on a GPU.
    const auto device = node->schema().argumentIndexWithName("device");
    if (device && node->input(static_cast<std::size_t>(*device))->type()->kind() == c10::TypeKind::NoneType && node->outputs().size() == 1)
      insertOnHost(node->output());
  }

  static void insertOnHost(Value* value) {
    torch::jit::WithInsertPoint at(value->node()->next());
    Graph* graph = value->owningGraph();
    graph->insertNode(graph->create(Symbol::fromQualString("ulpscope::on_host"), {value}, 0));
  }

  static void markBranches(Node* node) {
    std::int64_t which = 0;
    for (Block* branch : node->blocks()) {
      insertBefore(*branch->nodes().begin(), "ulpscope::branch", {c10::IValue(which++)});
      insertBefore(branch->return_node(), "ulpscope::end_branch");
    }
  }

  static void markLoop(Node* node) {
    insertBefore(node->next(), "ulpscope::end_loop");
    insertBefore(node, "ulpscope::loop");
    insertBefore(*node->blocks()[0]->nodes().begin(), "ulpscope::iteration");
  }

  void markCall(Node* node, const Value* self) {
    std::optional<std::string> path;
    if (self) path = attributePath(node->input(0), self);
    if (path && path->empty()) return;  // another method of self: the place stays
    if (!path) {
      const std::string type = shortTypeName(node->input(0));
      if (isAutocastContext(node->input(0))) return;  // its own methods, not a module's
      m_report.unresolvedCalls.push_back("a call of a " + type + " in " + m_where);
      path = "<" + type + ">";
    }
    Node* next = node->next();
    if (node->outputs().size() == 1 && mayHoldTensors(node->output()->type())) insertReturned(node->output(), next);
    insertBefore(next, "ulpscope::leave");
    insertBefore(node, "ulpscope::enter", {c10::IValue(*path)});
    for (std::size_t i = 1; i < node->inputs().size(); ++i)
      if (mayHoldTensors(node->input(i)->type())) insertBorder(node, i);
  }

  static void insertReturned(Value* value, Node* before) {
    torch::jit::WithInsertPoint at(before);
    Graph* graph = before->owningGraph();
    graph->insertNode(graph->create(Symbol::fromQualString("ulpscope::returned"), {value}, 0));
  }

  static void insertBorder(Node* node, std::size_t input) {
    torch::jit::WithInsertPoint at(node);
    Graph* graph = node->owningGraph();
    Value* value = node->input(input);
    Node* border = graph->insertNode(graph->create(Symbol::fromQualString("ulpscope::border"), {value}, 1));
    border->output()->setType(value->type());
    node->replaceInput(input, border->output());
  }

  void markCalledFunction(Node* node) {
    const auto type = node->input(0)->type()->cast<c10::FunctionType>();
    if (type) markFunction(*type->function(), "function");
  }

  // Scripted, PyTorch's autocast demands a dtype that it does not demand in eager mode; without one it is the run's own.
  static void dropAssertions(Block* block) {
    for (auto node = block->nodes().begin(); node != block->nodes().end();) {
      Node* at = *node++;
      for (Block* inner : at->blocks()) dropAssertions(inner);
      if (at->kind() == prim::RaiseException) at->destroy();
    }
  }

  // A model's own autocast region: its object says whether it is enabled; entering it has no other effect here.
  void markContext(Node* node) {
    Value* object = node->input(0);
    if (!isAutocastContext(object)) return;
    m_report.ownAutocast = true;
    const auto type = object->type()->expect<c10::ClassType>();
    for (const char* method : {"__init__", "__enter__"})
      if (auto* found = type->findMethod(method))
        if (auto* function = torch::jit::tryToGraphFunction(*found)) dropAssertions(function->graph()->block());
    if (node->kind() == prim::Exit) {
      insertBefore(node, "ulpscope::leave_autocast");
      return;
    }
    torch::jit::WithInsertPoint at(node);
    Graph* graph = node->owningGraph();
    std::vector<Value*> settings;
    for (const char* attribute : {"_enabled", "fast_dtype", "device"}) {
      if (!type->hasAttribute(attribute)) {
        m_report.refused.push_back("an autocast region of unknown kind in " + m_where);
        return;
      }
      settings.push_back(graph->insertGetAttr(object, attribute));
    }
    graph->insertNode(graph->create(Symbol::fromQualString("ulpscope::enter_autocast"), settings, 0));
  }
};

}  // namespace

MarkingReport markPaths(const torch::jit::Module& module) {
  MarkingReport report;
  Marker marker(report);
  for (const auto& sub : module.modules()) marker.markMethods(sub);
  return report;
}

}  // namespace ulpscope::engine
