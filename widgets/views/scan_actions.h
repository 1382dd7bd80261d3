// "Boundary from / to this sample" in the context menus of every list of samples. They speak of the selected sample.
#pragma once

#include "widgets/views/workbench.h"

#include <QAction>
#include <QList>
#include <QObject>

namespace ulpscope::views {

class ScanActions : public QObject {
  Q_OBJECT

 public:
  ScanActions(Workbench& workbench, QObject* parent);
  const QList<QAction*>& all() const { return m_all; }  // from, to, third, nearest flip

 private:
  void refresh();
  void use(models::ScanChoice::Slot slot);
  void useForNear();
  QString selectedId() const;  // empty: none

  Workbench& m_workbench;
  QList<QAction*> m_all;
};

}  // namespace ulpscope::views
