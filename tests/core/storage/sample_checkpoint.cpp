#include "tests/core/storage/sample_checkpoint.h"

#include "core/base/hashing.h"

#include <fmt/format.h>

#include <bit>
#include <functional>
#include <limits>
#include <numeric>

namespace ulpscope::tests {
namespace {

using base::DType;
using storage::RawTensor;

// Of many bytes their SHA-256.
std::string hex(const std::vector<std::byte>& bytes) {
  if (bytes.size() > 10000) return base::sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

std::string textOf(const std::vector<RawTensor>& tensors) {
  std::string text;
  for (const RawTensor& t : tensors) {
    text += fmt::format("\n    '{}' {} [", t.name, base::name(t.dtype));
    for (const std::int64_t size : t.shape) text += std::to_string(size) + ",";
    text += "] " + hex(t.bytes);
  }
  return text;
}

}  // namespace

RawTensor tensorOf(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape, int first) {
  const std::int64_t elements = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  RawTensor tensor{name, dtype, shape, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements) * base::sizeBytes(dtype); ++i)
    tensor.bytes.push_back(static_cast<std::byte>((first + static_cast<int>(i)) % (dtype == DType::boolean ? 2 : 256)));
  return tensor;
}

storage::TrainingCheckpoint sampleCheckpoint() {
  storage::TrainingCheckpoint c;
  c.createdUtc = "2026-01-02T03:04:05Z";
  c.creatorVersion = "0.9.1";
  c.libtorchVersion = "1.13.1";
  c.policyTable = "cuda@2.6";
  c.recipe = R"({"model":"m.ts","note":"größer"})";
  c.modelFingerprint = "fingerprint";
  c.inputsSha256 = "inputs";
  c.step = 40;
  c.microBatches = 81;
  c.seed = std::numeric_limits<std::uint64_t>::max() - 2;
  c.generator = tensorOf("", DType::uint8, {5056}, 7).bytes;
  c.schedulerSteps = 39;
  c.appliedUpdates = 38;
  c.scalersMade = 2;
  c.scaler = {{"scale", 65536.0}, {"growth_factor", 2.0}, {"_growth_tracker", 12.0}};
  c.parameters = {tensorOf("fc2.weight", DType::float32, {3, 4}), tensorOf("fc1.weight", DType::float16, {2, 2}, 9)};
  c.buffers = {tensorOf("bn.running_mean", DType::float32, {4}), tensorOf("bn.num_batches_tracked", DType::int64, {})};
  c.gradients = {tensorOf("fc2.weight", DType::float32, {3, 4}, 77)};
  c.tensorAttributes = {tensorOf("head.mask", DType::boolean, {5})};
  c.attributes = R"({"head.calls":3})";
  c.optimizers = {{"adam", "Adam", {{"fc2.weight", 38, {tensorOf("exp_avg", DType::float32, {3, 4}, 5), tensorOf("exp_avg_sq", DType::float32, {3, 4}, 6)}}, {"fc1.weight", 0, {}}}},
                  {"sgd", "SGD", {{"bias", 0, {}}, {"scale", 0, {tensorOf("momentum_buffer", DType::float64, {1}, 3)}}}}};
  c.trajectory = R"({"name":"recipe"})";
  c.events = "{\"call\":\"step\"}\n{\"call\":\"update\"}\n";
  c.resumes = "[]";
  return c;
}

std::string allOf(const storage::TrainingCheckpoint& c) {
  std::string text = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|\n", c.createdUtc, c.creatorVersion, c.libtorchVersion, c.policyTable, c.recipe, c.modelFingerprint, c.inputsSha256,
                                 c.attributes, c.trajectory, c.events, c.resumes);
  text += fmt::format("{} {} {} {} {} {}\n{}\n", c.step, c.microBatches, c.seed, c.schedulerSteps, c.appliedUpdates, c.scalersMade, hex(c.generator));
  text += c.scaler ? "scaler\n" : "no scaler\n";
  if (c.scaler)
    for (const auto& [key, value] : *c.scaler) text += fmt::format("  '{}' {:016x}\n", key, std::bit_cast<std::uint64_t>(value));
  text += "parameters" + textOf(c.parameters) + "\nbuffers" + textOf(c.buffers) + "\ngradients" + textOf(c.gradients) + "\nattributes" + textOf(c.tensorAttributes);
  for (const storage::OptimizerState& optimizer : c.optimizers) {
    text += fmt::format("\noptimizer '{}' {}", optimizer.name, optimizer.type);
    for (const storage::ParameterState& p : optimizer.parameters) text += fmt::format("\n  '{}' {}", p.name, p.step) + textOf(p.tensors);
  }
  return text;
}

}  // namespace ulpscope::tests
