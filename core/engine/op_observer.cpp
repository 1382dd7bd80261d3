#include "core/engine/op_observer.h"

#include "core/engine/static_ops.h"
#include "core/engine/values.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>

namespace ulpscope::engine {
namespace {

// CPU random numbers come from one generator of the process: from seeding to the end of the op nobody else may draw.
std::mutex& randomLock() {
  static std::mutex mutex;
  return mutex;
}

std::uint64_t seedAt(std::uint64_t seed, const ExecutionIndex& index) {
  // FNV-1a over the seed and the execution index: fixed, so that both runs draw alike at the same place.
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) hash = (hash ^ (word & 0xFF)) * 1099511628211ULL;
  };
  mix(seed);
  for (const std::int64_t i : index) mix(static_cast<std::uint64_t>(i));
  return hash;
}

// Seeds the process's generator for one op and puts its state back.
class SeededScope {
 public:
  explicit SeededScope(std::uint64_t seed) : m_lock(randomLock()), m_generator(at::detail::getDefaultCPUGenerator()), m_state(m_generator.get_state()) {
    m_generator.set_current_seed(seed);
  }
  ~SeededScope() { m_generator.set_state(m_state); }

 private:
  std::lock_guard<std::mutex> m_lock;
  at::Generator m_generator;
  at::Tensor m_state;
};

bool writes(const c10::Argument& argument) { return argument.alias_info() && argument.alias_info()->isWrite(); }

const void* storageOf(const at::Tensor& t) { return t.layout() == at::kStrided && t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr; }

std::vector<const void*> writtenStorages(const OpCall& call) {
  std::vector<const void*> written;
  const auto& arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (writes(arguments[i])) forEachTensor(call.argument(i), [&](const at::Tensor& t) { written.push_back(storageOf(t)); });
  return written;
}

// Dropout between the layers of a recurrent network, or inside a fused attention: no tag says that such an op draws.
bool dropsInside(const OpCall& call) {
  bool drops = false, training = true;
  const auto& arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i].name();
    const c10::IValue& value = call.argument(i);
    drops = drops || ((name == "dropout" || name == "dropout_p") && value.isDouble() && value.toDouble() > 0);
    training = training && !((name == "train" || name == "training") && value.isBool() && !value.toBool());
  }
  return drops && training;
}

bool drawsRandomNumbers(const OpCall& call) { return call.op.hasTag(at::Tag::nondeterministic_seeded) || dropsInside(call); }

void collectArguments(const OpCall& call, const ExecutionPlace& place, OpEvent& event) {
  const OwnCalls own;
  const auto& arguments = call.op.schema().arguments();
  const std::vector<const void*> written = writtenStorages(call);
  // Also an operand that is only read may lie where the op writes: h.mul_(h), out= of an operand.
  const auto kept = [&](const at::Tensor& t) {
    const bool overwritten = std::find(written.begin(), written.end(), storageOf(t)) != written.end();
    return overwritten ? t.clone() : t;
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue value = call.argument(i);
    const bool onHost = value.isTensor() && value.toTensor().defined() && place.onHost(value.toTensor());
    if (!written.empty()) value = mapTensors(value, kept);
    std::size_t at = 0;
    forEachTensor(value, [&](const at::Tensor& t) {
      event.operands.push_back({value.isTensor() ? arguments[i].name() : arguments[i].name() + "[" + std::to_string(at++) + "]", t, onHost});
    });
    event.arguments.push_back(std::move(value));
  }
}

struct InputStorage {
  const void* storage;
  bool written;
  std::string name;
};

std::vector<InputStorage> inputStorages(const OpCall& call) {
  std::vector<InputStorage> storages;
  const auto& arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    forEachTensor(call.argument(i), [&](const at::Tensor& t) {
      if (const void* storage = storageOf(t)) storages.push_back({storage, writes(arguments[i]), arguments[i].name()});
    });
  return storages;
}

void collectOutputs(const OpCall& call, const std::vector<InputStorage>& inputs, std::vector<OpOutput>& outputs) {
  for (std::size_t r = 0; r < call.resultCount(); ++r)
    forEachTensor(call.result(r), [&](const at::Tensor& t) {
      OpOutput output{t, false, ""};
      bool written = false;
      for (const InputStorage& input : inputs) {
        if (input.storage != storageOf(t)) continue;
        written = written || input.written;
        if (output.viewOf.empty()) output.viewOf = input.name;
      }
      if (written) output.viewOf.clear();
      output.isView = !output.viewOf.empty();
      outputs.push_back(std::move(output));
    });
}

bool leavesUninitialised(const std::string& op) {
  return op.rfind("aten::empty", 0) == 0 || op.rfind("aten::new_empty", 0) == 0 || op.rfind("aten::resize", 0) == 0;
}

}  // namespace

std::string currentSource() {
  const auto stack = torch::jit::currentCallstack();
  return stack.empty() ? std::string() : sourceText(stack.front().range);
}

ObservingHook::ObservingHook(ExecutionPlace& place, OpExecutor& executor, EventSink sink, std::uint64_t seed)
    : m_place(place), m_executor(executor), m_sink(std::move(sink)), m_seed(seed) {}

OpEvent ObservingHook::describe(const OpCall& call) {
  OpEvent event;
  event.index = m_place.index();
  event.modulePath = m_place.modulePath();
  event.op = call.name();
  event.overload = call.overload();
  event.source = currentSource();
  event.occurrence = ++m_occurrences[event.modulePath + '\n' + event.op + '\n' + event.overload + '\n' + event.source];
  event.judged = !leavesUninitialised(event.op);
  event.random = drawsRandomNumbers(call);
  event.handle = call.op;
  return event;
}

void ObservingHook::run(const OpCall& call, OpEvent* event) {
  ++m_depth;
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{m_depth};
  try {
    seedAndExecute(call, event);
  } catch (const UnsupportedOp&) {
    m_unsupported = true;
    throw;
  }
}

void ObservingHook::seedAndExecute(const OpCall& call, OpEvent* event) {
  if (m_depth == 1 && drawsRandomNumbers(call)) {
    m_drewRandomNumbers = true;
    const SeededScope seeded(seedAt(m_seed, m_place.index()));
    m_executor.execute(call, m_place, event);
  } else {
    m_executor.execute(call, m_place, event);
  }
}

void ObservingHook::call(const OpCall& call) {
  if (m_depth > 0 || m_place.quiet()) {
    run(call, nullptr);
    return;
  }
  m_place.countOp();
  m_lastOp = call.name();
  OpEvent event = describe(call);
  if (!m_sink) {
    run(call, &event);
    return;
  }
  collectArguments(call, m_place, event);
  const auto inputs = inputStorages(call);
  run(call, &event);
  collectOutputs(call, inputs, event.outputs);
  m_sink(event);
}

}  // namespace ulpscope::engine
