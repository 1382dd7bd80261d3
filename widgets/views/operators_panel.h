// What autocast does to each op of the session's model, and what the engine's LibTorch has for it. Asks the engine when it is looked at.
#pragma once

#include "widgets/models/operators_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QTableView;

namespace ulpscope::models {
class NumberOrder;
}

namespace ulpscope::views {

class OperatorsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit OperatorsPanel(Workbench& workbench, QWidget* parent = nullptr);
  QTableView* table() const { return m_table; }
  QComboBox* target() const { return m_target; }
  QString summary() const;
  QString notes() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void forget();
  void ask();
  void fill(const protocol::Inspection& inspection);
  void say(const QString& text);
  void selectModule();
  void fillTargets();
  QWidget* makeHead();

  Workbench& m_workbench;
  models::OperatorsModel m_model;
  models::NumberOrder* m_order = nullptr;
  QTableView* m_table = nullptr;
  QComboBox* m_target = nullptr;
  QLabel* m_summary = nullptr;
  QLabel* m_notes = nullptr;
  std::string m_asked;  // model and target that the table is of, or was asked for
};

}  // namespace ulpscope::views
