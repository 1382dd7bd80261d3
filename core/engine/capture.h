// Which op outputs are stored in full, within a budget, and their way to the run's writer. Private to core/engine.
#pragma once

#include "core/engine/comparison.h"
#include "core/engine/loaded_model.h"
#include "core/engine/regions.h"
#include "core/engine/values.h"
#include "core/session/settings.h"
#include "core/storage/run_writer.h"

#include <map>
#include <vector>

namespace ulpscope::engine {

// The writer could not take a tensor: the run ends with its error.
struct CaptureFailed {
  base::Error error;
};

class Capture {
 public:
  // Patterns as FP32 regions have them: a module pattern takes in all below it. Error kind usage for one that matches nothing.
  static base::Result<Capture> make(const session::RunSettings& settings, const LoadedModel& model, storage::RunWriter& writer, std::int64_t samples);

  void beginBatch(Batch batch);
  // One output of both runs; at its first meeting it is decided whether there is room for the whole set. Throws CaptureFailed.
  void take(const SiteKey& key, const OpEvent& event, const session::SampleAxis& axis, const HeldView& reference, const HeldView& candidate);
  // numbers: of the sites in RunRecord::sites.
  session::Capture summary(const std::map<SiteKey, std::int64_t>& numbers) const;

 private:
  enum class State { notWanted, leftOut, taken };
  struct Site {
    State state = State::notWanted;
    std::size_t capture = 0;
    bool onAxis0 = false;
    std::int64_t expected = 0;  // bytes, over all samples
    std::int64_t bytes = 0;     // so far
  };

  RegionSet m_patterns;
  storage::RunWriter* m_writer = nullptr;
  std::int64_t m_samples = 0;
  std::int64_t m_budget = 0;
  std::int64_t m_promised = 0;
  Batch m_batch;
  std::int64_t m_batchNumber = -1;
  std::map<SiteKey, Site> m_sites;
  std::vector<SiteKey> m_order;  // by capture number

  bool wanted(const OpEvent& event) const;
  Site decide(const SiteKey& key, const OpEvent& event, const session::SampleAxis& axis, const HeldView& reference, const HeldView& candidate);
  void write(Site& site, storage::RunSide side, const HeldView& view);
};

}  // namespace ulpscope::engine
