// A thin band that says that what stands below belongs to another policy than the one chosen now, what changed, and offers the run.
#pragma once

#include "widgets/views/workbench.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace ulpscope::views {

class StaleBand : public QWidget {
  Q_OBJECT

 public:
  explicit StaleBand(Workbench& workbench, QWidget* parent = nullptr);
  QString text() const;  // empty: hidden
  QPushButton* rerunButton() const { return m_rerun; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void refreshColors();
  void copyAsPython();

  Workbench& m_workbench;
  QLabel* m_text;
  QPushButton* m_rerun;
};

}  // namespace ulpscope::views
