// One benchmark from order to times. Private to core/engine.
#pragma once

#include "core/engine/benchmark.h"
#include "core/engine/inputs.h"
#include "core/engine/plain_forward.h"
#include "core/engine/policy_table.h"

#include <stop_token>

namespace ulpscope::engine {

// Error kind usage: fewer pairs than a claim takes, more threads than any machine has.
base::Status checkNumbers(int pairs, int threads);
// Policy and machine; the rest is not filled.
session::BenchmarkConditions conditionsOf(const session::RunSettings& settings, const PolicyTable& table, int threads);
// What in them speaks against the times: a load above 0.5 beforehand, more threads than processors.
std::vector<std::string> machineNotes(const session::BenchmarkConditions& conditions);
std::vector<session::TimedInput> timedInputs(const ReferenceSet& set, Batch batch);

class BenchmarkRun {
 public:
  // order.threads is at least 1. Borrows everything.
  BenchmarkRun(const LoadedModel& model, const BenchmarkOrder& order, const PolicyTable& table, const base::ProgressSink& progress)
      : m_model(model), m_order(order), m_table(table), m_progress(progress) {}

  // Warm-up, alternating pairs on full batches, then the run again under interception and every batch's outputs held against it. Errors: of the
  // files and the order; run where a side fails; cancelled.
  base::Result<TimedRun> time(std::stop_token stop);
  base::Result<session::PeakMemory> peak(TimedSide side, std::stop_token stop);

 private:
  // A side with a copy of the model that is its own.
  struct Runner {
    PlainSide side;
    torch::jit::Module module;
  };

  const LoadedModel& m_model;
  const BenchmarkOrder& m_order;
  const PolicyTable& m_table;
  const base::ProgressSink& m_progress;
  RegionSet m_regions, m_noRegions;
  bool m_markers = false;
  ReferenceSet m_set;
  std::vector<Batch> m_batches;  // the full ones; where there is none, the only one

  base::Status prepare();
  Runner runner(TimedSide side) const;
  void tell(const std::string& stage, int done, int total) const;
  base::Status forward(Runner& who, std::int64_t batch, Times& times) const;
  base::Status recheck(TimedRun& timed, std::stop_token stop) const;
  session::BenchmarkConditions conditions() const;
  void warn(TimedRun& timed) const;
};

}  // namespace ulpscope::engine
