// Module tree with filter, order, badges, FP32 checkboxes and context menu.
#pragma once

#include "widgets/models/module_filter_model.h"
#include "widgets/models/module_tree_model.h"
#include "widgets/views/workbench.h"

#include <QLineEdit>
#include <QMap>
#include <QTreeView>
#include <QWidget>

class QComboBox;
class QLabel;
class QMenu;
class QToolButton;

namespace ulpscope::views {

class ModulesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ModulesPanel(Workbench& workbench, QWidget* parent = nullptr);
  QLineEdit* filterField() const { return m_filter; }
  QTreeView* tree() const { return m_tree; }
  QModelIndex viewIndexOf(const QString& modulePath, int column) const;
  QString message() const;     // under the tree: what the filter cannot do; empty: nothing
  QString policyText() const;  // the policy chosen, and what is stale by it
  // To the first op in which NaN or inf arises, else to the module with the largest introduced error; from one of these to the one after it.
  void selectNextStart();
  // What the context menu offers for a module.
  void fillMenu(QMenu& menu, const QString& modulePath);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void makeTree();
  QWidget* makeOrderLine();
  void connectViews();
  void applyFilter(const QString& text);
  void rememberExpanded(const QModelIndex& parent);
  void refreshRun();
  void refreshRegions();
  void refreshSelection();
  void refreshMessage();
  void refreshColors();
  void fitColumns();
  void showMenu(const QPoint& position);
  void toggleCurrent(Qt::KeyboardModifiers modifiers);

  Workbench& m_workbench;
  models::ModuleTreeModel m_model;
  models::ModuleFilterModel m_filterModel;
  QLineEdit* m_filter;
  QWidget* m_orderLine = nullptr;
  QComboBox* m_order = nullptr;
  QToolButton* m_next = nullptr;
  QTreeView* m_tree;
  QLabel* m_message;
  QLabel* m_policy;
  bool m_isSelecting = false;
  bool m_isFiltered = false;
  QStringList m_expanded;  // paths, as they were before the filter unfolded all
  QString m_sessionId;
  QMap<int, int> m_widths;  // of columns that may be hidden
};

}  // namespace ulpscope::views
