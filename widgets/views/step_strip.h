// Model, inputs, criteria, run, finding: where the user stands, in one line. Criteria, run and finding are links to their tabs.
#pragma once

#include "widgets/views/workbench.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace ulpscope::views {

class StepStrip : public QWidget {
  Q_OBJECT

 public:
  explicit StepStrip(Workbench& workbench, QWidget* parent = nullptr);
  QString staleText() const;  // empty: results belong to the policy shown
  QString findingText() const { return m_findingText; }

 signals:
  void criteriaClicked();
  void runClicked();
  void findingClicked();
  void rerunClicked();

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum class State { done, bad, busy, none };
  struct Step {
    QLabel* sign;
    QPushButton* link;  // nullptr: plain
    QLabel* name;
    QLabel* detail;
  };
  Step addStep(QHBoxLayout* layout, const QString& name, void (StepStrip::*clicked)());
  void setStep(const Step& step, State state, const QString& detail);
  void refresh();
  void fit();

  Workbench& m_workbench;
  Step m_model, m_inputs, m_criteria, m_run, m_finding;
  QPushButton* m_stale;
  QLabel* m_verdict;
  QString m_findingText;
};

}  // namespace ulpscope::views
