// What a model holds beside its code, into a checkpoint and back. Private to core/train.
#pragma once

#include "core/storage/training_checkpoint.h"
#include "core/train/training_model.h"

#include <map>
#include <string>

namespace ulpscope::train {

// TrainingModel::attributes(): numbers, flags, texts and plain tensors; and values of other kinds, which a checkpoint cannot hold, and which may
// therefore not change.
class ModuleAttributes {
 public:
  explicit ModuleAttributes(const TrainingModel& model) : m_model(model), m_others(others()) {}

  // The name of a value of another kind that has changed, or cannot be compared; empty: none.
  std::string unholdable() const;
  void write(storage::TrainingCheckpoint& checkpoint) const;
  // Throws StepFailure (input) for a name that the model does not have, or a value of another kind.
  void restore(const storage::TrainingCheckpoint& checkpoint) const;

 private:
  using Attribute = TrainingModel::Attribute;
  const TrainingModel& m_model;
  std::map<std::string, std::string> m_others;  // pickled, by name, as the training began; empty text: cannot be pickled

  bool isHeldElsewhere(const at::Tensor& tensor) const;
  std::map<std::string, std::string> others() const;
};

// Parameters and buffers; gradients too where the checkpoint wants them.
enum class Gradients { leftOut, included };
void writeTensors(const TrainingModel& model, Gradients gradients, storage::TrainingCheckpoint& checkpoint);
// Throws StepFailure (input) where names, shapes or dtypes are not the model's.
void restoreTensors(const storage::TrainingCheckpoint& checkpoint, const TrainingModel& model);

}  // namespace ulpscope::train
