// What a training is made of: the recipe, the session it goes into, and whether the 2x2 is trained too.
#pragma once

#include "core/protocol/message.h"

#include <QDialog>

class QCheckBox;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace ulpscope::views {

class TrainDialog : public QDialog {
  Q_OBJECT

 public:
  // openSession: path of the session shown that can be written to; empty: none.
  TrainDialog(const QString& recipe, const QString& openSession, QWidget* parent);
  protocol::TrainRequest request() const;
  QLineEdit* recipeField() const { return m_recipe; }
  QLineEdit* sessionField() const { return m_session; }
  QCheckBox* isolateBox() const { return m_isolate; }
  QPushButton* trainButton() const { return m_train; }

 private:
  void chooseRecipe();
  void chooseSession();
  void proposeSession();
  void refresh();

  QString m_openPath;
  QLineEdit *m_recipe, *m_session;
  QRadioButton *m_into, *m_new;
  QCheckBox* m_isolate;
  QPushButton* m_train = nullptr;
};

}  // namespace ulpscope::views
