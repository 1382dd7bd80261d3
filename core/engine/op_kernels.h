// What this build's dispatcher has for an op on a device. Private to core/engine.
#pragma once

#include "core/protocol/inspection.h"

#include <string>

namespace ulpscope::engine {

// device: "cuda" or "cpu".
model::OpKernel kernelOf(const model::StaticOp& op, const std::string& device);
protocol::TargetDevice targetDevice(const std::string& device);

}  // namespace ulpscope::engine
