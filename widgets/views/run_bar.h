// Where a run stands, with Cancel: in the window, so that all else stays usable.
#pragma once

#include "widgets/views/workbench.h"

#include <QFrame>

class QLabel;
class QProgressBar;
class QPushButton;

namespace ulpscope::views {

class RunBar : public QFrame {
  Q_OBJECT

 public:
  explicit RunBar(Workbench& workbench, QWidget* parent = nullptr);
  QString text() const;

 private:
  void refresh();
  void showProgress(const base::Progress& progress);

  Workbench& m_workbench;
  QLabel* m_text;
  QProgressBar* m_bar;
  QPushButton* m_cancel;
  QString m_last;  // what the engine told last
};

}  // namespace ulpscope::views
