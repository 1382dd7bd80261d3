// The cheat sheet of keys (Ctrl+?), made from the actions themselves.
#pragma once

#include <QAction>
#include <QDialog>
#include <QList>

namespace ulpscope::views {

class ShortcutsDialog : public QDialog {
  Q_OBJECT

 public:
  ShortcutsDialog(const QList<QAction*>& actions, QWidget* parent);
};

}  // namespace ulpscope::views
