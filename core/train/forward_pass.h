// Forward and loss of one trajectory under the engine's hook, gradients on. Private to core/train.
#pragma once

#include "core/engine/executors.h"
#include "core/engine/forward.h"
#include "core/train/training_frame.h"
#include "core/train/training_model.h"

#include <memory>

namespace ulpscope::train {

// A micro-batch: which rows, and the seed of its random ops.
struct MicroBatch {
  std::vector<std::int64_t> rows;
  std::uint64_t seed = 0;
};

struct Losses {
  std::vector<at::Tensor> whole;     // as the recipe's loss gives them
  std::vector<at::Tensor> backward;  // divided by the accumulation where the recipe says so
};

// Those of the model and of the loss. Throws StepFailure (usage) for what is not there.
engine::RegionSet regionsOf(const TrainingFrame& frame, const session::AutocastRecipe& autocast);

class ForwardPass {
 public:
  enum class Autocast { off, on };
  // autocast empty: FP32. Throws StepFailure (usage) for regions and settings that are not there.
  ForwardPass(const TrainingFrame& frame, TrainingModel& model, const std::optional<session::AutocastRecipe>& autocast);

  // As torch.autocast's end: cast weights are forgotten.
  void endAutocast();
  // Both throw StepFailure (run) with what PyTorch said and where, or engine::Cancelled. The sink may be empty: nobody looks.
  c10::IValue forward(const MicroBatch& batch, Autocast autocast, const engine::EventSink& sink = {});
  Losses loss(const c10::IValue& output, const MicroBatch& batch, Autocast autocast, const engine::EventSink& sink = {});
  // Without gradients, in the module's mode as it is.
  c10::IValue inference(const std::vector<std::int64_t>& rows, Autocast autocast);
  // Without interception nobody counts: true wherever autocast was on.
  bool loweredAny() const { return m_lowering && (!m_frame.manner.intercepts || m_lowering->loweredOps() > 0); }

 private:
  const TrainingFrame& m_frame;
  TrainingModel& m_model;
  engine::RegionSet m_regions, m_noRegions;
  std::unique_ptr<engine::OpExecutor> m_lowering, m_plain;
  bool m_castCache = true, m_markers = false;     // of forwards without interception
  engine::EmulatedExecutor* m_emulated = nullptr;  // m_lowering, where it is one
  engine::DescriptionCache m_descriptions, m_lossDescriptions;

  engine::ForwardSetup setup(Autocast autocast, std::uint64_t seed);
  c10::IValue forward(const engine::ForwardSetup& setup, const engine::EventSink& sink);
  engine::SideResult run(const engine::ForwardSetup& setup, const engine::Body& body, const engine::EventSink& sink);
  c10::IValue checked(const engine::SideResult& result) const;
};

}  // namespace ulpscope::train
