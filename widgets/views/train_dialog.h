// What a training is made of: the recipe, the session it goes into, how often a checkpoint is taken, and whether the 2x2 is trained too; of one
// that goes on from a checkpoint, the name of what changes.
#pragma once

#include "core/protocol/message.h"

#include <QDialog>

class QCheckBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;
class QSpinBox;

namespace ulpscope::views {

class TrainDialog : public QDialog {
  Q_OBJECT

 public:
  struct Start {
    QString recipe;
    QString openSession;     // path of the session shown that can be written to; empty: none
    QString checkpoint = {};  // to go on from; empty: from the beginning
    std::int64_t stepsDone = 0;
  };
  TrainDialog(const Start& start, QWidget* parent);
  protocol::TrainRequest request() const;
  QLineEdit* recipeField() const { return m_recipe; }
  QLineEdit* sessionField() const { return m_session; }
  QCheckBox* isolateBox() const { return m_isolate; }
  QSpinBox* everyBox() const { return m_every; }
  QLineEdit* changeField() const { return m_change; }
  QString stepsText() const;  // what the recipe asks for, and what is done of it
  QPushButton* trainButton() const { return m_train; }

 private:
  void makeFields();
  void makeLayout();
  QPushButton* makeChoice(const QString& name, void (TrainDialog::*choose)());
  void chooseRecipe();
  void chooseSession();
  void proposeSession();
  void refresh();

  Start m_start;
  QLineEdit *m_recipe, *m_session, *m_change;
  QRadioButton *m_into, *m_new;
  QCheckBox* m_isolate;
  QSpinBox* m_every;
  QLabel* m_steps;
  QPushButton* m_train = nullptr;
};

}  // namespace ulpscope::views
