// What went wrong, in one line above the views: stays until closed or replaced, never a dialog.
#pragma once

#include <QFrame>

class QLabel;
class QToolButton;

namespace ulpscope::views {

class MessageBar : public QFrame {
  Q_OBJECT

 public:
  explicit MessageBar(QWidget* parent = nullptr);
  void showProblem(const QString& message);
  QString message() const;  // empty: hidden
  void refreshIcons();

 private:
  QLabel* m_text;
  QToolButton* m_copy;
  QToolButton* m_close;
};

}  // namespace ulpscope::views
