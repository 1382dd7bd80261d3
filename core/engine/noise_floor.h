// How far FP32 is from itself: the same samples in reverse order within each batch, and another number of threads. Private to
// core/engine.
#pragma once

#include "core/engine/output_collector.h"
#include "core/engine/run_frame.h"
#include "core/engine/run_progress.h"
#include "core/engine/site_errors.h"

#include <map>
#include <string>
#include <vector>

namespace ulpscope::engine {

inline constexpr int kFloorThreads = 2;

class NoiseFloorRun {
 public:
  NoiseFloorRun(const RunFrame& frame, const OutputCollector& reference);
  // Op sites on the first batch, model outputs on all. Errors: cancelled, or the forward failed though the reference did not.
  base::Status measure(RunProgress& progress, std::stop_token stop);

  std::optional<double> at(const SiteKey& site) const { return m_sites.at(site); }
  // Per output, worst over samples.
  session::NoiseFloor summary() const;
  // An output of the other FP32 run, samples in their own order and joined over batches; undefined where samples lie on no axis.
  at::Tensor output(const std::string& name) const;

 private:
  const RunFrame& m_frame;
  const OutputCollector& m_reference;
  SiteErrors m_sites;
  std::map<std::string, std::vector<at::Tensor>> m_outputs;  // by name, one a batch, in the reference's order

  base::Status measureSites(std::stop_token stop);
  void keep(const SideResult& result, Batch batch);
};

}  // namespace ulpscope::engine
