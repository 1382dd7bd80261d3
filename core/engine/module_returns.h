// Which op made what a module returned. Private to core/engine.
#pragma once

#include "core/engine/op_event.h"
#include "core/session/observation.h"

#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ulpscope::engine {

// One output of one op.
struct SiteKey {
  ExecutionIndex index;
  int output = 0;
  auto operator<=>(const SiteKey&) const = default;
};

// Remembers who made each living tensor of one run. A dead tensor's address may come again: entries die with theirs; and an entry
// counts only while the tensor's version counter, which all views share, stands where that op left it.
class Producers {
 public:
  void made(const at::Tensor& tensor, const SiteKey& site);
  void clear();
  struct Source {
    SiteKey site;
    bool part = false;  // the tensor is a part of what the site made, or has its elements in another order
  };
  // Of the tensor itself, else of the one that it is a view of; empty: an input, a parameter, what no compared op made, or what
  // was written in part since it was made, so that no one op made it.
  std::optional<Source> find(const at::Tensor& tensor) const;

 private:
  struct Tensor {
    c10::weak_intrusive_ptr<c10::TensorImpl> alive;
    SiteKey site;
    std::int64_t version = 0;
  };
  struct Storage {
    c10::weak_intrusive_ptr<c10::StorageImpl> alive;
    SiteKey site;
    std::vector<std::int64_t> sizes, strides;
    std::int64_t version = 0;
  };
  std::unordered_map<const void*, Tensor> m_tensors;
  std::unordered_map<const void*, Storage> m_storages;
};

// The reference's module outputs of one forward after another; each call is recorded the first time it is seen.
class ModuleReturns {
 public:
  void beginForward() { m_calls.clear(); }
  void returned(const std::string& modulePath, const c10::IValue& value, const Producers& producers);
  // Sites without a number (nothing was compared there) are left out.
  std::vector<session::ModuleOutput> describe(const std::map<SiteKey, std::int64_t>& numbers) const;

 private:
  struct Return {
    std::string modulePath;
    int call;
    std::string name;
    Producers::Source source;
  };
  std::unordered_map<std::string, int> m_calls;      // in this forward, by path
  std::unordered_map<std::string, int> m_seenCalls;  // in any forward
  std::vector<Return> m_returns;
};

}  // namespace ulpscope::engine
