#include "core/engine/module_returns.h"

#include "core/engine/values.h"

#include <ATen/ATen.h>

#include <functional>
#include <numeric>

namespace ulpscope::engine {

namespace {

// Whether the view goes through its base's elements in their order: as they lie, or both in memory's order.
template <typename Base>
bool sameElementsInOrder(const Base& base, const at::Tensor& view) {
  if (view.sizes().equals(base.sizes)) return view.strides().equals(base.strides);
  const auto elements = std::accumulate(base.sizes.begin(), base.sizes.end(), std::int64_t{1}, std::multiplies<>());
  return view.numel() == elements && view.is_contiguous() && at::geometry_is_contiguous(base.sizes, base.strides);
}

}  // namespace

void Producers::made(const at::Tensor& tensor, const SiteKey& site) {
  const std::int64_t version = tensor._version();
  m_tensors.insert_or_assign(tensor.unsafeGetTensorImpl(), Tensor{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), site, version});
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  if (static_cast<std::size_t>(tensor.numel()) * tensor.element_size() != storage->nbytes()) {
    m_storages.erase(storage);  // an op that wrote a part of it
    return;
  }
  m_storages.insert_or_assign(storage, Storage{c10::weak_intrusive_ptr<c10::StorageImpl>(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage)), site, tensor.sizes().vec(), tensor.strides().vec(), version});
}

void Producers::clear() {
  m_tensors.clear();
  m_storages.clear();
}

std::optional<Producers::Source> Producers::find(const at::Tensor& tensor) const {
  if (!tensor.defined() || tensor.layout() != at::kStrided || !tensor.has_storage()) return std::nullopt;
  if (const auto own = m_tensors.find(tensor.unsafeGetTensorImpl()); own != m_tensors.end() && !own->second.alive.expired())
    return own->second.version == tensor._version() ? std::optional<Source>(Source{own->second.site, false}) : std::nullopt;
  const auto base = m_storages.find(tensor.storage().unsafeGetStorageImpl());
  if (base == m_storages.end() || base->second.alive.expired() || base->second.version != tensor._version()) return std::nullopt;
  return Source{base->second.site, !sameElementsInOrder(base->second, tensor)};
}

void ModuleReturns::returned(const std::string& modulePath, const c10::IValue& value, const Producers& producers) {
  const int call = ++m_calls[modulePath];
  int& seen = m_seenCalls[modulePath];
  if (call <= seen) return;
  seen = call;
  for (const NamedTensor& output : flattenOutputs(value))
    if (auto source = producers.find(output.tensor)) m_returns.push_back({modulePath, call, output.name, *source});
}

std::vector<session::ModuleOutput> ModuleReturns::describe(const std::map<SiteKey, std::int64_t>& numbers) const {
  std::vector<session::ModuleOutput> outputs;
  for (const Return& r : m_returns)
    if (const auto number = numbers.find(r.source.site); number != numbers.end())
      outputs.push_back({r.modulePath, r.call, r.name, number->second, r.source.part});
  return outputs;
}

}  // namespace ulpscope::engine
