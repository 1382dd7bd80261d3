// Watches one step that is run again: what forward ops made, and which gradient reaches each of their outputs. Private to core/train.
#pragma once

#include "core/engine/op_event.h"
#include "core/engine/op_observer.h"
#include "core/train/training_model.h"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ulpscope::train {

// An output of a forward op.
struct ProbedSite {
  bool inLoss = false;
  engine::ExecutionIndex index;
  int output = 0;
  std::string op, modulePath, source;
  int occurrence = 1;
};

class GradientProbe {
 public:
  // Called within backward(), in its order; site and parameter are numbers.
  std::function<void(std::size_t site, const at::Tensor& gradient)> onSite;
  std::function<void(std::size_t parameter, const at::Tensor& gradient)> onParameter;
  // Called in forward, once an op, before its outputs are watched; the numbers of its sites start at firstSite.
  std::function<void(const engine::OpEvent& event, std::size_t firstSite)> onForward;

  explicit GradientProbe(const TrainingModel& model);
  // Hooks that outlive the probe do nothing.
  ~GradientProbe();
  GradientProbe(const GradientProbe&) = delete;
  GradientProbe& operator=(const GradientProbe&) = delete;

  engine::EventSink forwardSink() { return [this](engine::OpEvent& event) { watch(event, false); }; }
  engine::EventSink lossSink() { return [this](engine::OpEvent& event) { watch(event, true); }; }
  const std::vector<ProbedSite>& sites() const { return m_sites; }
  // The last op of forward, which is the first of backward, that was given the site's output, also through views; nullptr: none.
  const ProbedSite* consumerOf(std::size_t site) const;
  // The last op of forward, which is the first of backward, that was given the parameter; nullptr: none.
  const ProbedSite* readerOf(std::size_t parameter) const;

 private:
  struct Link {
    GradientProbe* probe;  // null once it is gone
  };
  class Hook;

  std::shared_ptr<Link> m_link;
  std::vector<ProbedSite> m_sites;
  std::unordered_map<const void*, std::size_t> m_parameters;    // by TensorImpl
  std::unordered_map<std::size_t, ProbedSite> m_readers;        // by parameter
  struct Output {
    std::size_t site;
    at::Tensor kept;  // so that its address stays its own
  };
  std::unordered_map<const void*, Output> m_outputs;            // by TensorImpl of a site's output, or of a view of it
  std::unordered_map<std::size_t, ProbedSite> m_consumers;      // by site
  std::vector<std::shared_ptr<void>> m_accumulators;            // nodes that only we and the graph keep alive

  void watch(engine::OpEvent& event, bool inLoss);
};

}  // namespace ulpscope::train
