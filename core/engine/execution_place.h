// Where a running forward stands: module path, execution index, and whether autocast is on there.
#pragma once

#include "core/engine/regions.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ulpscope::engine {

// The stack of (call, branch, iteration) markers with the op count since the last one. Lexicographic order is the order of
// execution, so two runs of one model are aligned by it without a buffer.
using ExecutionIndex = std::vector<std::int64_t>;

// Aliases of shared modules to the path that named_modules() gives.
using PathAliases = std::unordered_map<std::string, std::string>;

// Told what a module returns, before the module is left.
using ReturnSink = std::function<void(const std::string& modulePath, const c10::IValue& value)>;

// Told of each tensor that an FP32 region's border casts, and of what it makes of it.
using BorderCastSink = std::function<void(const at::Tensor& from, const at::Tensor& cast)>;

// One a thread and forward; the path markers of the instrumented graphs call it.
class ExecutionPlace {
 public:
  // device: of the policy, "cuda" or "cpu"; borrowed aliases and regions.
  ExecutionPlace(const RegionSet& regions, const PathAliases& aliases, std::string device = "cuda");
  void tellReturns(const ReturnSink& sink) { m_returns = sink ? &sink : nullptr; }  // borrowed
  void tellBorderCasts(BorderCastSink sink) { m_borderCasts = std::move(sink); }
  // Told whether autocast is on here, at once and wherever that changes.
  void followAutocast(std::function<void(bool isOn)> told);

  // Markers.
  void enterModule(const std::string& relativePath);
  void leaveModule();
  void moduleReturned(const c10::IValue& value) const;
  void enterBranch(std::int64_t branch);
  void leaveBranch();
  void enterLoop();
  void nextIteration();
  void leaveLoop();
  // A model's own autocast region. One for another device than the policy's changes nothing, as in PyTorch.
  void enterOwnAutocast(const std::string& device, bool enabled, at::ScalarType low);
  void leaveOwnAutocast();
  // 0-dim tensors that lie on the CPU in a model that runs on a GPU: kernels read them as Python scalars, unrounded.
  void markOnHost(const at::Tensor& tensor);
  bool onHost(const at::Tensor& tensor) const { return m_onHost.count(tensor.unsafeGetTensorImpl()) > 0; }
  void enterQuiet() { ++m_quiet; }  // what runs until leaveQuiet is no op of the model's
  void leaveQuiet() { --m_quiet; }
  bool quiet() const { return m_quiet > 0; }
  // A call's argument at the module border: floating tensors to float32 where an FP32 region begins.
  c10::IValue crossBorder(c10::IValue value);

  void countOp() { ++m_index.back(); }
  const ExecutionIndex& index() const { return m_index; }
  const std::string& modulePath() const { return m_frames.back().path; }
  bool autocastOn() const { return m_frames.back().autocastOn; }
  // The low dtype that a model's own region asks for; none: the run's.
  std::optional<at::ScalarType> ownLow() const { return m_frames.back().ownLow; }
  const std::vector<std::string>& brokenAliases() const { return m_brokenAliases; }

 private:
  struct BorderCast {
    at::Tensor cast;
    std::uint32_t version = 0;
  };
  struct Frame {
    std::string path;
    bool autocastOn = true;
    bool castInputs = false;  // an fp32 region begins at this call
    std::optional<at::ScalarType> ownLow;
    std::vector<BorderCast> casts;
  };
  const RegionSet& m_regions;
  const PathAliases& m_aliases;
  std::string m_device;
  const ReturnSink* m_returns = nullptr;
  BorderCastSink m_borderCasts;
  std::function<void(bool)> m_autocastTold;
  std::vector<Frame> m_frames;
  ExecutionIndex m_index{0};
  int m_quiet = 0;
  std::vector<std::string> m_brokenAliases;
  std::unordered_map<const void*, at::Tensor> m_onHost;  // kept alive, so that an address means one tensor

  at::Tensor castAtBorder(const at::Tensor& tensor);
  void push(Frame frame);
  void pop();
};

// The place that markers on this thread speak to; none: markers do nothing (a plain run).
class PlaceGuard {
 public:
  explicit PlaceGuard(ExecutionPlace& place);
  ~PlaceGuard();
  PlaceGuard(const PlaceGuard&) = delete;
  PlaceGuard& operator=(const PlaceGuard&) = delete;
};
ExecutionPlace* currentPlace();

}  // namespace ulpscope::engine
