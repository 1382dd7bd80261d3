// The sentence on flips that a release manager can sign, its conditions, and a button that copies both.
#pragma once

#include "core/report/flip_statement.h"

#include <QWidget>

class QLabel;
class QToolButton;

namespace ulpscope::views {

class FlipSentence : public QWidget {
  Q_OBJECT

 public:
  explicit FlipSentence(QWidget* parent = nullptr);
  void setStatement(const report::FlipStatement& statement);
  QString text() const;        // the sentence
  QString conditions() const;  // lines
  void refreshIcons();

 signals:
  void copied();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  report::FlipStatement m_statement;
  QLabel* m_sentence = nullptr;
  QLabel* m_conditions = nullptr;
  QToolButton* m_copy = nullptr;
  QToolButton* m_more = nullptr;
};

}  // namespace ulpscope::views
