// The ops of a model and what autocast does to each: a row an op and class. Key of a row: index into operators().
#pragma once

#include "core/model/operators.h"
#include "core/protocol/inspection.h"
#include "widgets/models/row_table_model.h"

#include <vector>

namespace ulpscope::models {

class OperatorsModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kOp, kClass, kSites, kKernel, kAutocastKernel, kElsewhere, kModules };

  explicit OperatorsModel(QObject* parent = nullptr);
  void setInspection(const protocol::Inspection& inspection);
  void clear();
  const std::vector<model::Operator>& operators() const { return m_operators; }

 private:
  std::vector<model::Operator> m_operators;
};

// "14 ops at 62 sites under cuda@2.12  ·  lower_precision_fp: 3  ·  refused: 1"; what raises comes first.
QString operatorsSummary(const std::vector<model::Operator>& operators, const QString& policyTable);

}  // namespace ulpscope::models
