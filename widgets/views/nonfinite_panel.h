// Where NaN and inf arise: the origins in the order they ran, each with the box that keeps its module in FP32, the diagnosis of the one
// selected, where the first NaN and the first inf are, and, folded away, what FP32 itself has.
#pragma once

#include "widgets/models/nonfinite_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QAction;
class QLabel;
class QTableView;
class QToolButton;

namespace ulpscope::views {

class NonfinitePanel : public QWidget {
  Q_OBJECT

 public:
  explicit NonfinitePanel(Workbench& workbench, QWidget* parent = nullptr);
  QString diagnosis() const;  // the one shown and copied
  QString firstValues() const;  // where the first NaN and the first inf stand; or, with none, what was looked at
  QTableView* table() const { return m_table; }
  QTableView* referenceTable() const { return m_referenceTable; }
  QToolButton* referenceButton() const { return m_showReference; }
  QAction* toggleAction() const { return m_toggle; }
  QAction* insteadAction() const { return m_instead; }
  void refreshIcons();

 private:
  QToolButton* makeCopyButton();
  void makeTables();
  void makeActions();
  void refreshRun();
  void refreshReference();
  void refreshSelection();
  void refreshDiagnosis();
  void refreshActions();
  void selectRow(const QModelIndex& current);
  int selectedOrigin() const;  // -1: what is selected is none
  void copyDiagnosis();
  void keepRootCause();

  Workbench& m_workbench;
  models::NonfiniteModel m_model;
  models::ReferenceNonfiniteModel m_reference;
  QTableView* m_table = nullptr;
  QTableView* m_referenceTable = nullptr;
  QToolButton* m_showReference = nullptr;
  QLabel* m_diagnosis = nullptr;
  QLabel* m_firstValues = nullptr;
  QToolButton* m_copy = nullptr;
  QAction* m_toggle = nullptr;
  QAction* m_instead = nullptr;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
