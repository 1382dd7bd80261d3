#include "widgets/models/scan_choice.h"

#include "widgets/models/text.h"

#include <algorithm>
#include <utility>

namespace ulpscope::models {

using session::ScanKind;

QString ScanChoice::slotName(Slot slot) {
  switch (slot) {
    case kFrom: return tr("From");
    case kTo: return tr("To");
    default: return tr("Third");
  }
}

int ScanChoice::slotsOf(ScanKind kind) { return kind == ScanKind::plane ? 3 : kind == ScanKind::segment ? 2 : 1; }

void ScanChoice::setKind(ScanKind kind) {
  if (std::exchange(m_request.kind, kind) != kind) emit changed();
}

void ScanChoice::setSample(Slot slot, const QString& id) {
  if (std::exchange(m_samples[slot], id) != id) emit changed();
}

void ScanChoice::swapEnds() {
  std::swap(m_samples[kFrom], m_samples[kTo]);
  if (m_samples[kFrom] != m_samples[kTo]) emit changed();
}

void ScanChoice::setNumbers(std::int64_t steps, std::int64_t grid, double limit) {
  if (m_request.steps == steps && m_request.grid == grid && m_request.limit == limit) return;
  m_request.steps = steps;
  m_request.grid = grid;
  m_request.limit = limit;
  emit changed();
}

void ScanChoice::setWithRegions(bool isOn) {
  if (std::exchange(m_withRegions, isOn) != isOn) emit changed();
}

void ScanChoice::clear() {
  m_samples = {};
  emit changed();
}

QString whyNoScan(const RunPointer& run, const QString& readOnlyReason) {
  if (!run) return ScanChoice::tr("There is no run yet: a scan takes its model, samples and settings from one.");
  const session::RunSettings& settings = run->run->settings;
  if (settings.mode == session::Mode::recorded) return ScanChoice::tr("%1 was recorded in Python on %2: no engine can evaluate that model between samples.").arg(run->shortName(), qt(settings.device));
  if (!settings.decision.decides()) return ScanChoice::tr("%1 decides nothing, so there is no boundary: run again with a decision (Ctrl+R), for instance argmax.").arg(run->shortName());
  return readOnlyReason.isEmpty() ? QString() : ScanChoice::tr("This session is read-only (%1): a scan could not be stored.").arg(readOnlyReason);
}

QString scanProblem(const ScanChoice& choice, const session::Session& session) {
  QStringList chosen;
  for (int i = 0; i < ScanChoice::slotsOf(choice.kind()); ++i) {
    const auto slot = static_cast<ScanChoice::Slot>(i);
    const QString id = choice.sample(slot);
    if (id.isEmpty() && choice.kind() == ScanKind::near) continue;
    if (id.isEmpty()) return ScanChoice::tr("%1: choose a sample").arg(ScanChoice::slotName(slot));
    const auto& ids = session.samples.ids;
    if (std::find(ids.begin(), ids.end(), core(id)) == ids.end()) return ScanChoice::tr("%1: there is no sample '%2' in this session").arg(ScanChoice::slotName(slot), id);
    if (chosen.contains(id)) return ScanChoice::tr("%1: sample '%2' is chosen already, and there is nothing between a sample and itself").arg(ScanChoice::slotName(slot), id);
    chosen << id;
  }
  return {};
}

std::optional<Fp32Regions> addedRegions(const session::RunSettings& settings, const Fp32Regions& pending) {
  session::RunSettings added;
  const auto add = [](const std::vector<std::string>& had, const std::vector<std::string>& has, std::vector<std::string>& more) {
    for (const std::string& each : has)
      if (std::find(had.begin(), had.end(), each) == had.end()) more.push_back(each);
    return std::all_of(had.begin(), had.end(), [&](const std::string& each) { return std::find(has.begin(), has.end(), each) != has.end(); });
  };
  const bool keepsFp32 = add(settings.fp32, pending.fp32(), added.fp32);
  const bool keepsDisabled = add(settings.disable, pending.disable(), added.disable);
  if (!keepsFp32 || !keepsDisabled) return std::nullopt;
  return Fp32Regions(added);
}

session::ScanRequest scanRequest(const ScanChoice& choice, const RunPointer& run, const Fp32Regions& pending) {
  session::ScanRequest request = choice.request();
  for (int i = 0; i < ScanChoice::slotsOf(choice.kind()); ++i)
    if (const QString id = choice.sample(static_cast<ScanChoice::Slot>(i)); !id.isEmpty()) request.samples.push_back(core(id));
  request.runId = core(run->id());
  if (const auto added = addedRegions(run->run->settings, pending); choice.withRegions() && added) {
    request.fp32 = added->fp32();
    request.disable = added->disable();
  }
  return request;
}

}  // namespace ulpscope::models
