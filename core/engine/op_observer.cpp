#include "core/engine/op_observer.h"

#include "core/engine/fused_layers.h"
#include "core/engine/tensor_visit.h"
#include "core/engine/values.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

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
    m_seeded = m_generator.get_state();
  }
  // Whether anything was drawn: dropout in eval mode draws nothing.
  bool drew() const {
    const at::Tensor now = m_generator.get_state();
    return std::memcmp(now.data_ptr(), m_seeded.data_ptr(), now.nbytes()) != 0;
  }
  ~SeededScope() { m_generator.set_state(m_state); }

 private:
  std::lock_guard<std::mutex> m_lock;
  at::Generator m_generator;
  at::Tensor m_state, m_seeded;
};

bool writes(const c10::Argument& argument) { return argument.alias_info() && argument.alias_info()->isWrite(); }

// Dropout between the layers of a recurrent network, or inside a fused attention: no tag says that such an op draws.
bool mayDropInside(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& a) { return a.name() == "dropout" || a.name() == "dropout_p"; });
}

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

// Done again it changes nothing, and it makes nothing non-finite: what it leaves stands for what it read, and needs no copy.
bool leavesWhatItReads(const std::string& op) { return op == "aten::relu_"; }

const void* storageOf(const at::Tensor& t) { return t.layout() == at::kStrided && t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr; }

// Tensors made in inference mode count no versions.
std::int64_t versionOf(const at::Tensor& t) { return t.is_inference() ? 0 : t._version(); }

void keepCopy(Operand& operand, const at::Tensor& copy) {
  if (!copy.is_same(operand.tensor)) operand.original = std::exchange(operand.tensor, copy);
}

// What an observer calls is not the model's: neither seen by the hook nor autocast.
class ObserversCalls {
 public:
  ObserversCalls() : m_exclude(c10::DispatchKey::AutocastCPU) {}

 private:
  OwnCalls m_own;
  c10::impl::ExcludeDispatchKeyGuard m_exclude;
};

// Lets an event's tensors go when the op is over, and keeps the memory of its lists.
class EventScope {
 public:
  explicit EventScope(OpEvent& event) : m_event(event) {}
  ~EventScope() {
    m_event.arguments.clear();
    m_event.operands.clear();
    m_event.outputs.clear();
  }
  EventScope(const EventScope&) = delete;
  EventScope& operator=(const EventScope&) = delete;

 private:
  OpEvent& m_event;
};

}  // namespace

ObservingHook::ObservingHook(ExecutionPlace& place, OpExecutor& executor, EventSink sink, std::uint64_t seed, DescriptionCache& descriptions)
    : m_place(place), m_executor(executor), m_sink(std::move(sink)), m_seed(seed), m_descriptions(descriptions) {}

// Assigned, not made anew: the strings keep their memory from op to op.
void ObservingHook::describe(const OpCall& call) {
  const OpDescription& d = m_descriptions.at(call, m_place);
  if (m_occurrences.size() <= d.number) m_occurrences.resize(d.number + 1);
  OpEvent& e = m_event;
  e.index = m_place.index();
  e.modulePath = d.modulePath;
  e.op = d.op;
  e.overload = d.overload;
  e.source = d.source;
  e.occurrence = ++m_occurrences[d.number];
  e.policyClass.clear();
  e.castTo = at::kFloat;
  e.castsDown = e.autocastOn = false;
  e.low = at::kHalf;
  e.judged = d.judged;
  e.random = drawsRandomNumbers(call);
  e.handle = call.op;
}

void ObservingHook::collectInputs(const OpCall& call) {
  m_inputs.clear();
  const auto& arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    visitTensors(call.argument(i), [&](const at::Tensor& t) { m_inputs.push_back({storageOf(t), writes(arguments[i]), &arguments[i].name()}); });
}

void ObservingHook::collectArguments(const OpCall& call) {
  const OwnCalls own;
  const auto& arguments = call.op.schema().arguments();
  const bool writesAny = std::any_of(m_inputs.begin(), m_inputs.end(), [](const InputStorage& input) { return input.written; });
  // Also an operand that is only read may lie where the op writes: h.mul_(h), out= of an operand.
  const auto kept = [&](const at::Tensor& t) {
    const void* storage = storageOf(t);
    const bool overwritten = std::any_of(m_inputs.begin(), m_inputs.end(), [&](const InputStorage& input) { return input.written && input.storage == storage; });
    return overwritten ? t.clone() : t;
  };
  const bool copies = writesAny && !leavesWhatItReads(call.name());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue value = call.argument(i);
    const std::string& name = arguments[i].name();
    const bool isTensor = value.isTensor();
    const bool onHost = isTensor && value.toTensor().defined() && m_place.onHost(value.toTensor());
    const std::size_t first = m_event.operands.size();
    std::size_t at = 0;
    visitTensors(value, [&](const at::Tensor& t) {
      m_event.operands.push_back({isTensor ? name : name + "[" + std::to_string(at++) + "]", t, onHost, {}, versionOf(t), {}});
    });
    if (copies) {
      value = mapTensors(value, kept);
      auto operand = m_event.operands.begin() + static_cast<std::ptrdiff_t>(first);
      visitTensors(value, [&](const at::Tensor& t) { keepCopy(*operand++, t); });
    }
    m_event.arguments.push_back(std::move(value));
  }
}

void ObservingHook::collectOutputs(const OpCall& call) {
  for (std::size_t r = 0; r < call.resultCount(); ++r)
    visitTensors(call.result(r), [&](const at::Tensor& t) {
      if (t.is_nested()) refuseNested(call.name());
      const void* storage = storageOf(t);
      bool written = false;
      const std::string* viewOf = nullptr;
      for (const InputStorage& input : m_inputs) {
        if (!storage || input.storage != storage) continue;
        written = written || input.written;
        if (!viewOf) viewOf = input.name;
      }
      const bool isView = viewOf && !written;
      m_event.outputs.push_back({t, isView, isView ? *viewOf : ""});
    });
}

bool ObservingHook::drawsRandomNumbers(const OpCall& call) {
  const auto [found, isNew] = m_draws.try_emplace(&call.op.schema(), Draws::never);
  if (isNew) {
    if (call.op.hasTag(at::Tag::nondeterministic_seeded))
      found->second = Draws::always;
    else if (mayDropInside(call.op.schema()))
      found->second = Draws::asArgumentsSay;
  }
  return found->second == Draws::always || (found->second == Draws::asArgumentsSay && dropsInside(call));
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
    const SeededScope seeded(seedAt(m_seed, m_place.index()));
    m_executor.execute(call, m_place, event);
    const bool drew = seeded.drew();
    m_drewRandomNumbers = m_drewRandomNumbers || drew;
    if (event) event->random = drew;
  } else {
    m_executor.execute(call, m_place, event);
  }
}

void ObservingHook::observe(const OpCall& call) {
  const EventScope scope(m_event);
  describe(call);
  if (!m_sink) return run(call, &m_event);
  collectInputs(call);
  collectArguments(call);
  run(call, &m_event);
  collectOutputs(call);
  const ObserversCalls observers;
  m_sink(m_event);
}

void ObservingHook::call(const OpCall& call) {
  if (m_depth > 0 || m_place.quiet()) return run(call, nullptr);
  m_place.countOp();
  m_running = &call.op.schema();
  if (m_sink || m_executor.namesOps())
    observe(call);
  else
    run(call, nullptr);
}

}  // namespace ulpscope::engine
