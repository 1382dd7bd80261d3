// What went wrong, in one line above the views: stays until closed or replaced, never a dialog.
#pragma once

#include <QFrame>

#include <functional>

class QLabel;
class QToolButton;

namespace ulpscope::views {

class MessageBar : public QFrame {
  Q_OBJECT

 public:
  explicit MessageBar(QWidget* parent = nullptr);
  void showProblem(const QString& message);
  // With a button for what helps; the message goes when it is pressed.
  void showProblem(const QString& message, const QString& remedy, std::function<void()> act);
  // The same for what is no fault.
  void showHint(const QString& hint, const QString& remedy, std::function<void()> act);
  void dropHint();     // a problem stays
  void dropProblem();  // a hint stays
  QString message() const;  // the problem shown; empty: none, or a hint
  QString hint() const;
  QToolButton* actButton() const { return m_act; }
  void refreshIcons();

 private:
  enum class Kind { problem, hint };
  void drop();
  void showText(Kind kind, const QString& text, const QString& remedy, std::function<void()> act);

  Kind m_kind = Kind::problem;

  QLabel* m_text;
  QToolButton* m_act;
  QToolButton* m_copy;
  QToolButton* m_close;
  std::function<void()> m_remedy;
};

}  // namespace ulpscope::views
