// What the next scan is to be: its kind and samples, chosen in the Boundary tab or from any list of samples.
#pragma once

#include "core/session/scan_request.h"
#include "widgets/models/fp32_regions.h"
#include "widgets/models/loaded_run.h"

#include <QObject>

#include <array>
#include <optional>

namespace ulpscope::models {

class ScanChoice : public QObject {
  Q_OBJECT

 public:
  enum Slot { kFrom, kTo, kThird, kSlotCount };
  static QString slotName(Slot slot);  // "From", "To", "Third"

  explicit ScanChoice(QObject* parent = nullptr) : QObject(parent) {}

  session::ScanKind kind() const { return m_request.kind; }
  const QString& sample(Slot slot) const { return m_samples[slot]; }  // an id; empty: not chosen
  bool withRegions() const { return m_withRegions; }
  const session::ScanRequest& request() const { return m_request; }  // steps, grid, margin, limit

  // Nothing is emitted when nothing changes.
  void setKind(session::ScanKind kind);
  void setSample(Slot slot, const QString& id);
  void swapEnds();
  void setNumbers(std::int64_t steps, std::int64_t grid, double limit);
  void setWithRegions(bool isOn);
  void clear();  // another session: samples of it
  void finish() { emit finished(); }  // it is whole, chosen in a list

  // How many of the slots a kind needs: near takes the first alone, or all samples where it is empty.
  static int slotsOf(session::ScanKind kind);

 signals:
  void changed();
  void finished();  // whoever can start it is to be seen

 private:
  session::ScanRequest m_request;
  std::array<QString, kSlotCount> m_samples;
  bool m_withRegions = true;
};

// Why a scan of this run is not possible at all: none shown, recorded elsewhere, no decision; empty: it is.
QString whyNoScan(const RunPointer& run, const QString& readOnlyReason);
// What is wrong with the samples chosen, and what to do; empty: nothing.
QString scanProblem(const ScanChoice& choice, const session::Session& session);
// Regions that the pending choice adds to the run's; nullopt: it also takes some away, which a scan cannot.
std::optional<Fp32Regions> addedRegions(const session::RunSettings& settings, const Fp32Regions& pending);
// Precondition: both texts above are empty.
session::ScanRequest scanRequest(const ScanChoice& choice, const RunPointer& run, const Fp32Regions& pending);

}  // namespace ulpscope::models
