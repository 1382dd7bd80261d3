// A trajectory's ledger: a line a step and optimizer, and below it the whole of what the current line found, with the way to its module.
#pragma once

#include "widgets/models/training_models.h"

#include <QWidget>

#include <optional>

class QLabel;
class QPushButton;
class QTableView;

namespace ulpscope::views {

class LedgerPage : public QWidget {
  Q_OBJECT

 public:
  explicit LedgerPage(QWidget* parent = nullptr);
  void setLedger(const std::vector<session::LedgerLine>& ledger);
  // Of several optimizers the row that is current stays, where it is of this step.
  void selectStep(std::int64_t step);
  std::optional<std::int64_t> currentStep() const;
  QTableView* table() const { return m_table; }
  QString lineText() const;  // of the current line; empty: none
  QPushButton* moduleButton() const { return m_module; }

 signals:
  void stepSelected(std::optional<std::int64_t> step);
  // Of a line whose first non-finite value belongs to a module; text: the finding.
  void moduleRequested(const QString& modulePath, const QString& text);

 private:
  void showLine();
  void requestModule();

  models::LedgerModel m_ledger;
  QTableView* m_table;
  QLabel* m_line;
  QPushButton* m_module;
};

}  // namespace ulpscope::views
