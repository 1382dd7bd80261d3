#include "core/engine/execution_place.h"

#include "core/engine/interception.h"
#include "core/engine/values.h"

namespace ulpscope::engine {
namespace {

thread_local ExecutionPlace* placeOfThread = nullptr;

}  // namespace

PlaceGuard::PlaceGuard(ExecutionPlace& place) { placeOfThread = &place; }
PlaceGuard::~PlaceGuard() { placeOfThread = nullptr; }
ExecutionPlace* currentPlace() { return placeOfThread; }

ExecutionPlace::ExecutionPlace(const RegionSet& regions, const PathAliases& aliases, std::string device)
    : m_regions(regions), m_aliases(aliases), m_device(std::move(device)) {
  Frame root;
  root.autocastOn = !m_regions.matchesModule("");
  m_frames.push_back(std::move(root));
}

void ExecutionPlace::followAutocast(std::function<void(bool isOn)> told) {
  m_autocastTold = std::move(told);
  m_autocastTold(autocastOn());
}

void ExecutionPlace::push(Frame frame) {
  const bool was = autocastOn();
  m_frames.push_back(std::move(frame));
  if (m_autocastTold && autocastOn() != was) m_autocastTold(autocastOn());
}

void ExecutionPlace::pop() {
  const bool was = autocastOn();
  m_frames.pop_back();
  if (m_autocastTold && autocastOn() != was) m_autocastTold(autocastOn());
}

void ExecutionPlace::enterModule(const std::string& relativePath) {
  const Frame& parent = m_frames.back();
  Frame frame;
  frame.path = parent.path.empty() ? relativePath : parent.path + "." + relativePath;
  if (const auto alias = m_aliases.find(frame.path); alias != m_aliases.end()) frame.path = alias->second;
  const auto region = m_regions.matchesModule(frame.path);
  frame.autocastOn = parent.autocastOn && !region;
  frame.castInputs = region == RegionKind::fp32;
  frame.ownLow = parent.ownLow;
  push(std::move(frame));
  ++m_index.back();
  m_index.push_back(0);
}

void ExecutionPlace::leaveModule() {
  for (const BorderCast& border : m_frames.back().casts)
    if (border.cast._version() != border.version) {
      m_brokenAliases.push_back(modulePath());
      break;
    }
  pop();
  m_index.pop_back();
}

void ExecutionPlace::moduleReturned(const c10::IValue& value) const {
  if (m_returns) (*m_returns)(modulePath(), value);
}

void ExecutionPlace::enterBranch(std::int64_t branch) {
  ++m_index.back();
  m_index.push_back(branch);
  m_index.push_back(0);
}

void ExecutionPlace::leaveBranch() {
  m_index.pop_back();
  m_index.pop_back();
}

void ExecutionPlace::enterLoop() {
  ++m_index.back();
  m_index.push_back(-1);
  m_index.push_back(0);
}

void ExecutionPlace::nextIteration() {
  m_index.pop_back();
  ++m_index.back();
  m_index.push_back(0);
}

void ExecutionPlace::leaveLoop() {
  m_index.pop_back();
  m_index.pop_back();
}

void ExecutionPlace::enterOwnAutocast(const std::string& device, bool enabled, at::ScalarType low) {
  Frame frame;
  frame.path = m_frames.back().path;
  frame.autocastOn = m_frames.back().autocastOn;
  frame.ownLow = m_frames.back().ownLow;
  if (device == m_device) {
    // As in PyTorch the inner region wins, also inside an FP32 region.
    frame.autocastOn = enabled;
    if (enabled && isLow(low)) frame.ownLow = low;
  }
  push(std::move(frame));
}

void ExecutionPlace::markOnHost(const at::Tensor& tensor) {
  if (tensor.defined() && tensor.dim() == 0) m_onHost.emplace(tensor.unsafeGetTensorImpl(), tensor);
}

void ExecutionPlace::leaveOwnAutocast() { pop(); }

at::Tensor ExecutionPlace::castAtBorder(const at::Tensor& tensor) {
  if (!tensor.defined() || !isLow(tensor.scalar_type())) return tensor;
  at::Tensor cast = tensor.to(at::kFloat);
  m_frames.back().casts.push_back({cast, static_cast<std::uint32_t>(cast._version())});
  if (m_borderCasts) m_borderCasts(tensor, cast);
  return cast;
}

c10::IValue ExecutionPlace::crossBorder(c10::IValue value) {
  if (!m_frames.back().castInputs) return value;
  const OwnCalls own;
  return mapTensors(std::move(value), [this](const at::Tensor& t) { return castAtBorder(t); });
}

}  // namespace ulpscope::engine
