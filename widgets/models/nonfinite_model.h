// The ops where NaN or inf first arise, each with the box that keeps its module in FP32; and the values that FP32 itself has.
#pragma once

#include "widgets/models/fp32_regions.h"
#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"

namespace ulpscope::models {

// In execution order. Key of a row: index into RunRecord::nonfiniteOrigins.
class NonfiniteModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kStage, kOp, kCause, kModule, kRootCause, kSamples, kElements, kSource, kFp32, kColumnCount };
  // kRegionRole: a RegionState as int. kPathRole: the module's path. kRootPathRole: that of the root cause; not set: there is none.
  enum Role { kRegionRole = kKeyRole + 1, kPathRole, kRootPathRole };

  explicit NonfiniteModel(QObject* parent = nullptr);
  void setRun(const RunPointer& run);
  void setRegions(const Fp32Regions& regions);

  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  // A change of the box changes nothing here: it asks by toggleRequested, so that undo sees it.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 signals:
  void toggleRequested(const QString& modulePath);

 private:
  const session::NonfiniteFinding& findingOf(const QModelIndex& index) const;
  QVariant fp32Data(const session::NonfiniteFinding& finding, int role) const;

  RunPointer m_run;
  Fp32Regions m_regions;
};

// FP32's own. Key of a row: index into RunRecord::referenceNonfinite.
class ReferenceNonfiniteModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit ReferenceNonfiniteModel(QObject* parent = nullptr);
  void setRun(const RunPointer& run);
};

QString countsText(const session::NonfiniteCounts& counts);  // "3 NaN, 1 +inf"; "none"
QString samplesText(const session::NonfiniteFinding& finding);
// "First NaN: head: aten::log in sample c (carried on from before)"; both, where there are both; empty: neither.
QString firstValuesText(const session::RunRecord& run);
// What a run that found nothing looked at: "every element of 4 op sites, of inputs and of parameters, in 4 samples".
QString lookedAtText(const session::RunRecord& run);

}  // namespace ulpscope::models
