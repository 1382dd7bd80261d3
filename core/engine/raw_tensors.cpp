#include "core/engine/raw_tensors.h"

#include "core/engine/values.h"

#include <cstring>

namespace ulpscope::engine {

at::Tensor toTensor(const storage::RawTensor& raw) {
  at::Tensor tensor = at::empty(raw.shape, at::TensorOptions().dtype(scalarTypeOf(raw.dtype)));
  if (!raw.bytes.empty()) std::memcpy(tensor.data_ptr(), raw.bytes.data(), raw.bytes.size());
  return tensor;
}

storage::RawTensor toRaw(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().contiguous();
  storage::RawTensor raw{name, dtypeOf(plain.scalar_type()), plain.sizes().vec(), std::vector<std::byte>(plain.nbytes())};
  if (!raw.bytes.empty()) std::memcpy(raw.bytes.data(), plain.data_ptr(), raw.bytes.size());
  return raw;
}

}  // namespace ulpscope::engine
