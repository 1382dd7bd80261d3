// Model, inputs, criteria, run, finding: where the user stands, in one line. Criteria, run and finding are links to their tabs. While a training
// is looked at they are the training's.
#pragma once

#include "widgets/models/training_summary.h"
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
  // What the steps speak of instead of the run; empty: of the run.
  void setTraining(const std::optional<models::TrainingStanding>& training);
  bool speaksOfTraining() const { return m_training.has_value(); }
  QString text() const;  // names and details of all steps, with the verdict

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
  void setName(const Step& step, const QString& name);
  void refresh();
  void showRun();
  void showTraining();
  void setVerdict(const QString& text, session::JudgedAs judged);
  void fit();

  Workbench& m_workbench;
  Step m_model, m_inputs, m_criteria, m_run, m_finding;
  QPushButton* m_stale;
  QLabel* m_verdict;
  std::optional<models::TrainingStanding> m_training;
  QString m_findingText;
};

}  // namespace ulpscope::views
