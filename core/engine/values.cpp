#include "core/engine/values.h"

#include "core/base/error.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace ulpscope::engine {
namespace {

constexpr std::array<std::pair<at::ScalarType, base::DType>, 12> kTypes{{{at::kDouble, base::DType::float64},
                                                                         {at::kFloat, base::DType::float32},
                                                                         {at::kHalf, base::DType::float16},
                                                                         {at::kBFloat16, base::DType::bfloat16},
                                                                         {at::kLong, base::DType::int64},
                                                                         {at::kInt, base::DType::int32},
                                                                         {at::kShort, base::DType::int16},
                                                                         {at::kChar, base::DType::int8},
                                                                         {at::kByte, base::DType::uint8},
                                                                         {at::kBool, base::DType::boolean},
                                                                         {at::kComplexFloat, base::DType::complex64},
                                                                         {at::kComplexDouble, base::DType::complex128}}};

bool sameTensor(const c10::IValue& a, const at::Tensor& b) { return a.isTensor() && a.toTensor().is_same(b); }

c10::IValue mapList(const c10::IValue& value, const TensorMap& map) {
  const auto list = value.toList();
  auto mapped = c10::impl::GenericList(list.elementType());
  bool changed = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    c10::IValue element = list.get(i);
    c10::IValue result = mapTensors(element, map);
    changed = changed || !result.is(element);
    mapped.push_back(std::move(result));
  }
  return changed ? c10::IValue(mapped) : value;
}

c10::IValue mapTuple(const c10::IValue& value, const TensorMap& map) {
  const auto tuple = value.toTuple();
  std::vector<c10::IValue> mapped;
  bool changed = false;
  for (const c10::IValue& element : tuple->elements()) {
    mapped.push_back(mapTensors(element, map));
    changed = changed || !mapped.back().is(element);
  }
  if (!changed) return value;
  return c10::ivalue::Tuple::createNamed(std::move(mapped), tuple->type());
}

c10::IValue mapDict(const c10::IValue& value, const TensorMap& map) {
  const auto dict = value.toGenericDict();
  auto mapped = c10::impl::GenericDict(dict.keyType(), dict.valueType());
  bool changed = false;
  for (const auto& entry : dict) {
    c10::IValue result = mapTensors(entry.value(), map);
    changed = changed || !result.is(entry.value());
    mapped.insert(entry.key(), std::move(result));
  }
  return changed ? c10::IValue(mapped) : value;
}

}  // namespace

bool isKnown(at::ScalarType type) {
  for (const auto& [scalar, dtype] : kTypes)
    if (scalar == type) return true;
  return false;
}

base::DType dtypeOf(at::ScalarType type) {
  for (const auto& [scalar, dtype] : kTypes)
    if (scalar == type) return dtype;
  return base::DType::float64;
}

at::ScalarType scalarTypeOf(base::DType dtype) {
  for (const auto& [scalar, known] : kTypes)
    if (known == dtype) return scalar;
  return at::kFloat;
}

c10::IValue mapTensors(c10::IValue value, const TensorMap& map) {
  if (value.isTensor()) {
    if (!value.toTensor().defined()) return value;
    at::Tensor mapped = map(value.toTensor());
    return sameTensor(value, mapped) ? value : c10::IValue(std::move(mapped));
  }
  if (value.isList()) return mapList(value, map);
  if (value.isTuple()) return mapTuple(value, map);
  if (value.isGenericDict()) return mapDict(value, map);
  return value;
}

void forEachTensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit) {
  mapTensors(value, [&](const at::Tensor& t) {
    visit(t);
    return t;
  });
}

std::vector<NamedTensor> flattenOutputs(const c10::IValue& value, const std::string& name) {
  std::vector<NamedTensor> flat;
  const auto append = [&](const c10::IValue& element, const std::string& key) {
    for (NamedTensor& t : flattenOutputs(element, name + "." + key)) flat.push_back(std::move(t));
  };
  if (value.isTensor()) {
    if (value.toTensor().defined()) flat.push_back({name, value.toTensor()});
  } else if (value.isList()) {
    const auto list = value.toList();
    for (std::size_t i = 0; i < list.size(); ++i) append(list.get(i), std::to_string(i));
  } else if (value.isTuple()) {
    std::size_t i = 0;
    for (const c10::IValue& element : value.toTuple()->elements()) append(element, std::to_string(i++));
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict())
      append(entry.value(), entry.key().isString() ? entry.key().toStringRef() : entry.key().isInt() ? std::to_string(entry.key().toInt()) : "key");
  }
  return flat;
}

bool bitIdentical(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].tensor.sizes() != b[i].tensor.sizes() || a[i].tensor.scalar_type() != b[i].tensor.scalar_type()) return false;
    const at::Tensor x = a[i].tensor.contiguous();
    const at::Tensor y = b[i].tensor.contiguous();
    if (std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) != 0) return false;
  }
  return true;
}

std::string shapeText(at::IntArrayRef sizes) { return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", ")); }

HeldView viewOf(const at::Tensor& tensor) { return stridedViewOf(tensor.contiguous()); }

HeldView stridedViewOf(const at::Tensor& tensor) {
  HeldView held;
  held.tensor = tensor.detach().resolve_conj().resolve_neg();  // elements as they lie in memory: a lazily negated or conjugated view is written out
  held.view.data = held.tensor.data_ptr();
  held.view.dtype = dtypeOf(tensor.scalar_type());
  held.view.shape = tensor.sizes().vec();
  if (!held.tensor.is_contiguous()) held.view.strides = held.tensor.strides().vec();
  return held;
}

}  // namespace ulpscope::engine
