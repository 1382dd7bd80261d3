// Python lines that export a model and its inputs: what `ulpscope snippet` prints.
#pragma once

#include <QDialog>

class QPlainTextEdit;
class QRadioButton;

namespace ulpscope::views {

class SnippetDialog : public QDialog {
  Q_OBJECT

 public:
  explicit SnippetDialog(QWidget* parent = nullptr);
  QString text() const;

 private:
  void refresh();
  void save();

  QRadioButton* m_script;
  QRadioButton* m_trace;
  QPlainTextEdit* m_text;
};

}  // namespace ulpscope::views
