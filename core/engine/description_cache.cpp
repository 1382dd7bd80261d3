#include "core/engine/description_cache.h"

#include "core/engine/static_ops.h"

#include <torch/csrc/jit/runtime/interpreter.h>

namespace ulpscope::engine {
namespace {

bool leavesUninitialised(const std::string& op) {
  return op.rfind("aten::empty", 0) == 0 || op.rfind("aten::new_empty", 0) == 0 || op.rfind("aten::resize", 0) == 0;
}

}  // namespace

// The innermost line of the model's own: what TorchScript adds for `1 - x` or `1 / x` stands in no file.
std::string currentSource() {
  std::string first;
  for (const auto& frame : torch::jit::currentCallstack()) {
    std::string text = sourceText(frame.range);
    if (isOfTheModel(text)) return text;
    if (first.empty()) first = std::move(text);
  }
  return first;
}

std::size_t DescriptionCache::IndexHash::operator()(const ExecutionIndex& index) const {
  std::uint64_t hash = index.size();
  for (const std::int64_t i : index) hash = (hash ^ static_cast<std::uint64_t>(i)) * 0x9E3779B97F4A7C15ULL, hash ^= hash >> 29;
  return hash;
}

const OpDescription& DescriptionCache::describe(const OpCall& call, const ExecutionPlace& place) {
  OpDescription d{place.modulePath(), call.name(), call.overload(), currentSource()};
  d.judged = !leavesUninitialised(d.op);
  d.number = m_descriptions.size();
  return m_descriptions.try_emplace(d.modulePath + '\n' + d.op + '\n' + d.overload + '\n' + d.source, std::move(d)).first->second;
}

const OpDescription& DescriptionCache::at(const OpCall& call, const ExecutionPlace& place) {
  Known& known = m_known[place.index()];
  const bool same = known.schema == &call.op.schema() && known.description->modulePath == place.modulePath();
  if (!same) known = {&call.op.schema(), &describe(call, place)};
  return *known.description;
}

}  // namespace ulpscope::engine
