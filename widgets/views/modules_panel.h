// Module tree with filter, badges, FP32 checkboxes and context menu.
#pragma once

#include "widgets/models/module_filter_model.h"
#include "widgets/models/module_tree_model.h"
#include "widgets/views/workbench.h"

#include <QLineEdit>
#include <QTreeView>
#include <QWidget>

class QLabel;

namespace ulpscope::views {

class ModulesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ModulesPanel(Workbench& workbench, QWidget* parent = nullptr);
  QLineEdit* filterField() const { return m_filter; }
  QTreeView* tree() const { return m_tree; }
  QModelIndex viewIndexOf(const QString& modulePath, int column) const;

 private:
  void refreshRun();
  void refreshRegions();
  void refreshSelection();
  void showMenu(const QPoint& position);

  Workbench& m_workbench;
  models::ModuleTreeModel m_model;
  models::ModuleFilterModel m_filterModel;
  QLineEdit* m_filter;
  QTreeView* m_tree;
  QLabel* m_policy;
  bool m_isSelecting = false;
  QString m_sessionId;
};

}  // namespace ulpscope::views
