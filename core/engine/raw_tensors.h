// Tensors as files hold them, and back. Private to core/engine and core/train.
#pragma once

#include "core/storage/input_file.h"

#include <ATen/core/Tensor.h>

#include <string>

namespace ulpscope::engine {

at::Tensor toTensor(const storage::RawTensor& raw);
// Precondition: isReadable(tensor). Any strides.
storage::RawTensor toRaw(const std::string& name, const at::Tensor& tensor);

}  // namespace ulpscope::engine
