// Names and source of ops, looked up once per execution index. Private to core/engine.
#pragma once

#include "core/engine/execution_place.h"
#include "core/engine/interception.h"

#include <string>
#include <unordered_map>

namespace ulpscope::engine {

// An op site, as people name it: the same in every forward.
struct OpDescription {
  std::string modulePath;
  std::string op;
  std::string overload;
  std::string source;   // "model.py:12", empty when unknown
  bool judged = true;   // false: uninitialised memory (empty*)
  std::size_t number = 0;  // from 0 on, one a description: for counting occurrences
};

// Kept by whoever runs several batches of one model, one a side: used by one thread at a time. A forward without one makes its own.
class DescriptionCache {
 public:
  // The op that runs at the place; looked up anew where the index holds another op than in the forward before.
  const OpDescription& at(const OpCall& call, const ExecutionPlace& place);

 private:
  struct IndexHash {
    std::size_t operator()(const ExecutionIndex& index) const;
  };
  struct Known {
    const void* schema = nullptr;
    const OpDescription* description = nullptr;
  };
  std::unordered_map<ExecutionIndex, Known, IndexHash> m_known;
  std::unordered_map<std::string, OpDescription> m_descriptions;  // by all names together

  const OpDescription& describe(const OpCall& call, const ExecutionPlace& place);
};

// Where the running op stands in the model's code: "model.py:12", empty when unknown.
std::string currentSource();

}  // namespace ulpscope::engine
