#include "core/train/model_export.h"

#include "core/engine/loaded_model.h"
#include "core/engine/raw_tensors.h"
#include "core/engine/values.h"
#include "core/storage/input_writer.h"
#include "core/train/module_state.h"
#include "core/train/step_failure.h"
#include "core/train/training_model.h"

#include <ATen/Functions.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstring>
#include <filesystem>
#include <set>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using base::Status;

at::Tensor asTensor(const c10::IValue& constant) {
  if (constant.isInt()) return at::scalar_tensor(constant.toInt(), at::kLong);
  if (constant.isBool()) return at::scalar_tensor(constant.toBool(), at::kBool);
  return at::scalar_tensor(constant.toDouble(), at::kDouble);
}

}  // namespace

Status exportModel(const std::string& modelPath, const storage::TrainingCheckpoint& checkpoint, const std::string& path) try {
  TrainingModel model(torch::jit::load(modelPath));
  restoreTensors(checkpoint, model);
  ModuleAttributes(model).restore(checkpoint);
  const std::string part = path + ".part";
  model.module().save(part);
  std::error_code failed;
  std::filesystem::rename(part, path, failed);
  if (failed) return Error{ErrorKind::run, "cannot be written: " + failed.message(), path, "check the folder"};
  return base::success();
} catch (const StepFailure& failure) {
  return failure.error();
} catch (const std::exception& e) {
  return Error{ErrorKind::run, "cannot be written: " + engine::plainMessage(e), path, "check that the folder can be written to, and the space on its disk"};
}

Status exportRows(const engine::ReferenceSet& set, const std::vector<std::int64_t>& rows, const std::string& path) {
  storage::InputFile file;
  const at::Tensor index = at::tensor(rows, at::kLong);
  for (const auto& [name, input] : set.inputs) {
    if (!input.tensor.defined()) file.inputs.push_back(engine::toRaw(name, asTensor(input.constant)));
    else file.inputs.push_back(engine::toRaw(name, input.sampleAxis < 0 ? input.tensor : input.tensor.index_select(input.sampleAxis, index)));
  }
  std::set<std::string> taken;
  for (const std::int64_t row : rows) {
    std::string id = set.samples.ids.at(static_cast<std::size_t>(row));
    while (!taken.insert(id).second) id += " again";
    file.sampleIds.push_back(std::move(id));
    if (!set.samples.labels.empty()) file.labels.push_back(set.samples.labels.at(static_cast<std::size_t>(row)));
  }
  file.preprocessing = set.samples.preprocessing;
  return storage::writeInputFile(path, file);
}

}  // namespace ulpscope::train
