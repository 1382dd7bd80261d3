// What is to be said of the session's file, in one line above the views: read-only, moved, written by another program, waited for.
#pragma once

#include <QFrame>

class QLabel;
class QPushButton;
class QToolButton;

namespace ulpscope::views {

class RunDesk;

class SessionBar : public QFrame {
  Q_OBJECT

 public:
  explicit SessionBar(RunDesk& desk, QWidget* parent = nullptr);
  QString text() const;  // empty: hidden
  QPushButton* showButton() const { return m_show; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void refreshColors();

  RunDesk& m_desk;
  QLabel* m_text;
  QPushButton* m_show;
  QToolButton* m_close;
};

}  // namespace ulpscope::views
