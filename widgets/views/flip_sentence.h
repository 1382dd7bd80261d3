// The sentence on flips that a release manager can sign, with a button that copies it and its conditions.
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
  void refreshIcons();

 signals:
  void copied();

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void keepHeight();

  report::FlipStatement m_statement;
  QLabel* m_sentence = nullptr;
  QToolButton* m_copy = nullptr;
};

}  // namespace ulpscope::views
