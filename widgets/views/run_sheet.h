// Everything a run is made of, each field with its meaning and what is wrong with it, checked while it is typed.
#pragma once

#include "widgets/models/run_form.h"
#include "widgets/views/workbench.h"

#include <QTimer>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace ulpscope::views {

class RunSheet : public QWidget {
  Q_OBJECT

 public:
  // explore: find what breaks, no verdict; validate: criteria are locked first, on the next sheet.
  enum class Intent { explore, validate };

  explicit RunSheet(Workbench& workbench, QWidget* parent = nullptr);
  // A new experiment.
  void begin(Intent intent, const models::RunForm& form);
  // One more run of the session shown: what makes the experiment is fixed.
  void beginInSession(const models::RunForm& form);
  // The sheet's defaults: FP16, everything captured within a budget, the probe checked.
  static models::RunForm defaults();

  void refreshTheme() { showProblems(std::map(m_problems)); }
  Intent intent() const { return m_intent; }
  models::RunForm form() const;
  QString problem(models::RunField field) const;  // shown beside the field; empty: none
  QString note(models::RunField field) const;     // what stands below the field: its meaning or problem
  QString facts() const;                          // what the engine found in model and inputs
  bool canGoOn() const;
  QPushButton* goOnButton() const { return m_goOn; }
  QWidget* editor(models::RunField field) const { return m_editors.at(field); }
  void setPath(models::RunField field, const QString& path);  // model, inputs, labels, classNames, session

 signals:
  // With a form that has no problems.
  void goOn(const ulpscope::models::RunForm& form);
  void cancelled();

 private:
  void addSection(QGridLayout* grid, const QString& title, std::initializer_list<models::RunField> fields);
  QWidget* makeEditor(models::RunField field);
  QWidget* makePathEditor(models::RunField field);
  QWidget* makeDecisionEditor();
  QWidget* makeButtons();
  QWidget* makeHead();
  QComboBox* makeCombo(models::RunField field, const QStringList& items);
  QLineEdit* lineEdit(models::RunField field) const;
  QComboBox* combo(models::RunField field) const;
  QCheckBox* box(models::RunField field) const;
  QSpinBox* number(models::RunField field) const;
  void show(const models::RunForm& form);
  void setFixed(bool isFixed);
  bool letMovedFilesBeFound();  // of a session; whether there is one
  void changed();
  void refresh();
  QString meaningOf(models::RunField field) const;
  void showProblems(const std::map<models::RunField, QString>& problems);
  void look();
  void showFacts(const protocol::OpenedExperiment& experiment);
  void showLookError(const base::Error& error);
  void choosePath(models::RunField field);
  void fillPolicies();

  Workbench& m_workbench;
  Intent m_intent = Intent::explore;
  models::RunForm m_base;  // what no editor shows
  bool m_isShowing = false, m_hasClasses = false;  // m_hasClasses: labels or class names stand beside the inputs
  bool m_sessionIsProposed = true;
  std::map<models::RunField, QWidget*> m_editors;
  std::map<models::RunField, QLabel*> m_notes;  // meaning, or what is wrong
  std::map<models::RunField, QString> m_problems;
  std::map<models::RunField, QString> m_lookProblems;  // found by the engine
  QLineEdit* m_decisionArgument = nullptr;
  QLabel* m_title = nullptr;
  QLabel* m_subtitle = nullptr;
  QLabel* m_facts = nullptr;
  QLabel* m_summary = nullptr;
  QToolButton* m_more = nullptr;
  QWidget* m_moreArea = nullptr;
  QPushButton* m_goOn = nullptr;
  QTimer m_lookTimer;
};

}  // namespace ulpscope::views
