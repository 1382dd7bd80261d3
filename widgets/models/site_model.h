// The op sites of one module, or of all below it where it has none of its own. Key of a row: index into RunRecord::sites.
#pragma once

#include "widgets/models/loaded_run.h"
#include "widgets/models/row_table_model.h"
#include "widgets/models/selection.h"

namespace ulpscope::models {

class SiteModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit SiteModel(QObject* parent = nullptr);
  void setModule(const RunPointer& run, const QString& modulePath);
};

QString shapeText(const std::vector<std::int64_t>& shape);  // "[32, 16, 64]"
// What the inspector says of a site: pairs of words and value, in the order to show. sample -1: over all samples.
struct Fact {
  QString name;
  QString value;
  bool alarming = false;  // non-finite, or over the site tolerance
};
std::vector<Fact> siteFacts(const LoadedRun& run, std::int64_t site, std::int64_t sample);
// The selected site, or the worst of the selected module; -1: none.
std::int64_t siteToShow(const LoadedRun& run, const Selection& selection);
// What a non-finite finding of the candidate at this site says; empty: none here.
QString diagnosisText(const LoadedRun& run, std::int64_t site);
// Operands where they were recorded (a finding of the candidate, or of FP32): "input: float16, -812 to 640, max |x| 812".
QString operandsText(const LoadedRun& run, std::int64_t site);

}  // namespace ulpscope::models
