// The candidate under LibTorch's own CPU autocast (bfloat16): its kernels, its lists, its cache of cast weights. Private to core/engine.
#pragma once

#include "core/engine/cpu_autocast.h"
#include "core/engine/op_observer.h"
#include "core/engine/policy_table.h"
#include "core/engine/regions.h"

#include <optional>
#include <string>
#include <unordered_map>

namespace ulpscope::engine {

// Outputs are those of a plain forward under `torch.autocast("cpu", dtype=torch.bfloat16)`, to the bit. FP32 regions are obeyed as in
// the emulated run. What the table says of an op is only told: what is done to it, the dispatcher's own kernel does.
class NativeExecutor : public OpExecutor {
 public:
  struct Options {
    const RegionSet* regions = nullptr;
    bool castCache = true;
  };
  explicit NativeExecutor(Options options) : m_options(options) {}

  void beginForward() override;
  void endForward() override;
  void execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) override;
  bool namesOps() const override { return m_options.regions->hasOpPatterns(); }
  std::int64_t loweredOps() const override { return m_loweredOps; }

 private:
  struct Op {
    PolicyClass policyClass;
    std::string className;
    bool entered;  // a composite op on no list: the ops inside are judged one by one
  };
  Options m_options;
  std::optional<CpuAutocast> m_autocast;  // of the running forward
  int m_suspended = 0;  // inside a composite op whose site is an FP32 region
  std::int64_t m_loweredOps = 0;
  std::unordered_map<const void*, Op> m_ops;  // by schema

  const Op& opOf(const OpCall& call);
  bool autocastOn(const OpCall& call, const ExecutionPlace& place, OpEvent* event) const;
  static void noteCasts(PolicyClass policyClass, OpEvent& event);
  void run(const OpCall& call, bool on, bool entered);
};

}  // namespace ulpscope::engine
