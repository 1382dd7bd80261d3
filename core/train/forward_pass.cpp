#include "core/train/forward_pass.h"

#include "core/engine/native_executor.h"
#include "core/engine/plain_forward.h"
#include "core/engine/run_frame.h"
#include "core/engine/stoppable_executor.h"
#include "core/train/step_failure.h"

#include <ATen/ATen.h>
#include <torch/version.h>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::uint64_t kLossSeed = 0x4C4F5353;  // another sequence than the forward's

// Rows in their order are a view, which forward copies once; others are gathered.
engine::Arguments argumentsOf(const engine::ReferenceSet& set, const std::vector<std::int64_t>& rows) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i] != rows[i - 1] + 1) return engine::argumentsFor(set, rows);
  return engine::argumentsFor(set, engine::Batch{rows.front(), static_cast<std::int64_t>(rows.size())});
}

}  // namespace

engine::RegionSet regionsOf(const TrainingFrame& frame, const session::AutocastRecipe& autocast) {
  model::ModelInfo info = frame.model.info;
  info.modules.push_back({kLossModule, "Loss", {}, 0});
  auto regions = engine::RegionSet::make(autocast.fp32, autocast.disable, info, frame.model.ops);
  if (!regions) throw StepFailure(regions.error());
  return std::move(regions).value();
}

ForwardPass::ForwardPass(const TrainingFrame& frame, TrainingModel& model, const std::optional<session::AutocastRecipe>& autocast)
    : m_frame(frame), m_model(model), m_plain(std::make_unique<engine::StoppableExecutor>(std::make_unique<engine::ReferenceExecutor>(), frame.stop)) {
  ULPSCOPE_CHECK(frame.manner.intercepts || !autocast || autocast->mode == session::Mode::native);  // nobody emulates without the hook
  m_markers = !frame.manner.intercepts && frame.recipe.autocast && engine::needsMarkers(frame.model, regionsOf(frame, *frame.recipe.autocast));
  if (!autocast) return;
  m_regions = regionsOf(frame, *autocast);
  m_castCache = autocast->castCache;
  std::unique_ptr<engine::OpExecutor> lowering;
  if (autocast->mode == session::Mode::native) {
    lowering = std::make_unique<engine::NativeExecutor>(engine::NativeExecutor::Options{&m_regions, autocast->castCache});
  } else {
    auto emulated = std::make_unique<engine::EmulatedExecutor>(engine::EmulatedExecutor::Options{&frame.table, engine::scalarTypeOf(autocast->dtype), &m_regions, autocast->castCache});
    m_emulated = emulated.get();
    lowering = std::move(emulated);
  }
  m_lowering = std::make_unique<engine::StoppableExecutor>(std::move(lowering), frame.stop);
}

void ForwardPass::endAutocast() {
  if (m_emulated) m_emulated->forgetCasts();
}

engine::ForwardSetup ForwardPass::setup(Autocast autocast, std::uint64_t seed) {
  const bool lowers = autocast == Autocast::on && m_lowering;
  engine::ForwardSetup s;
  s.module = &m_model.module();
  s.aliases = &m_frame.model.aliases;
  s.regions = lowers ? &m_regions : &m_noRegions;
  s.executor = lowers ? m_lowering.get() : m_plain.get();
  s.seed = seed;
  s.device = m_frame.table.device();
  s.gradients = engine::Gradients::on;
  s.threads = m_frame.manner.threads;
  return s;
}

// Whoever looks at the ops has them intercepted.
engine::SideResult ForwardPass::run(const engine::ForwardSetup& s, const engine::Body& body, const engine::EventSink& sink) {
  if (sink || m_frame.manner.intercepts) return engine::runUnder(s, body, sink);
  at::manual_seed(s.seed);
  return engine::runPlainly({&m_frame.model, s.regions, s.executor != m_plain.get(), m_castCache, s.threads, s.gradients}, m_markers, body);
}

c10::IValue ForwardPass::checked(const engine::SideResult& result) const {
  if (!result.failed) return result.value;
  if (m_frame.stop.stop_requested()) throw engine::Cancelled{};
  throw StepFailure(Error{ErrorKind::run, result.error, engine::whereText(result), ""});
}

c10::IValue ForwardPass::forward(const engine::ForwardSetup& s, const engine::EventSink& sink) {
  if (sink || m_frame.manner.intercepts) return checked(engine::runForward(s, sink));
  const engine::Arguments arguments = engine::ownCopies(s.arguments);
  return checked(run(s, [&](engine::ExecutionPlace&) { return s.module->get_method("forward")({}, arguments); }, sink));
}

c10::IValue ForwardPass::forward(const MicroBatch& batch, Autocast autocast, const engine::EventSink& sink) {
  engine::ForwardSetup s = setup(autocast, batch.seed);
  s.descriptions = &m_descriptions;
  s.arguments = argumentsOf(m_frame.set, batch.rows);
  return forward(s, sink);
}

c10::IValue ForwardPass::inference(const std::vector<std::int64_t>& rows, Autocast autocast) {
  engine::ForwardSetup s = setup(autocast, m_frame.recipe.seed);
  s.gradients = engine::Gradients::off;
  s.arguments = argumentsOf(m_frame.set, rows);
  c10::IValue output = forward(s, {});
  endAutocast();
  return output;
}

Losses ForwardPass::loss(const c10::IValue& output, const MicroBatch& batch, Autocast autocast, const engine::EventSink& sink) {
  engine::ForwardSetup s = setup(autocast, batch.seed ^ kLossSeed);
  s.descriptions = &m_lossDescriptions;
  const session::Recipe& recipe = m_frame.recipe;
  const bool divides = recipe.divideLoss && recipe.accumulationSteps > 1;
  const at::Tensor target = m_frame.loss.targetOf(batch.rows);
  Losses losses;
  std::exception_ptr refused;  // what the recipe asks for is not there: no failure of an op
  const engine::Body body = [&](engine::ExecutionPlace& place) {
    try {
      losses.whole = m_frame.loss.losses(place, output, target);
    } catch (const StepFailure&) {
      refused = std::current_exception();
      return c10::IValue();
    }
    for (const at::Tensor& loss : losses.whole) losses.backward.push_back(divides ? loss / static_cast<double>(recipe.accumulationSteps) : loss);
    return c10::IValue();
  };
  checked(run(s, body, sink));
  if (refused) std::rethrow_exception(refused);
  return losses;
}

}  // namespace ulpscope::train
