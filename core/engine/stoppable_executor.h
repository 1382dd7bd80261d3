// An executor that can be stopped between two ops. Private to core/engine and core/train.
#pragma once

#include "core/engine/op_observer.h"

#include <memory>
#include <stdexcept>
#include <stop_token>
#include <utility>

namespace ulpscope::engine {

// Looks at the stop token once an op; a forward that is stopped fails, so its caller looks at the token first.
class StoppableExecutor : public OpExecutor {
 public:
  StoppableExecutor(std::unique_ptr<OpExecutor> inner, std::stop_token stop) : m_inner(std::move(inner)), m_stop(std::move(stop)) {}
  void beginForward() override { m_inner->beginForward(); }
  void endForward() override { m_inner->endForward(); }
  void execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) override {
    if (m_stop.stop_requested()) throw std::runtime_error("cancelled");
    m_inner->execute(call, place, event);
  }
  bool namesOps() const override { return m_inner->namesOps(); }
  std::int64_t loweredOps() const override { return m_inner->loweredOps(); }

 private:
  std::unique_ptr<OpExecutor> m_inner;
  std::stop_token m_stop;
};

}  // namespace ulpscope::engine
