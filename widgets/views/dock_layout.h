// How the window's docks lie and what gets the room: modules left, inspector right (behind the modules in a narrow window), findings below the
// middle, which gives way to what needs no heatmap.
#pragma once

#include <QByteArray>
#include <QList>
#include <QObject>

class QDockWidget;
class QMainWindow;

namespace ulpscope::views {

class DockLayout : public QObject {
  Q_OBJECT

 public:
  enum Dock { kModules, kInspector, kFindings };
  static constexpr int kStateVersion = 2;  // raised with every change of docks or toolbars: an older state is refused

  // middle: in the window's central widget, above the findings.
  DockLayout(QMainWindow* window, QWidget* middle);
  // In the order of Dock.
  void add(const QString& name, const QString& title, QWidget* widget);
  QDockWidget* at(Dock dock) const { return m_docks[dock]; }
  const QList<QDockWidget*>& all() const { return m_docks; }
  void reset(bool isShown);
  void hideAll();
  void fitToWidth();
  // Modules only where there are some, the inspector only where a run has tensors. What has content stays as the user has it.
  void fitToContent(bool hasModules, bool hasRuns);
  // Without the middle, and the inspector of what is selected there, the findings have their room; with it all is as before.
  void showMiddle(bool isShown);
  bool isMiddleShown() const;
  QByteArray state() const;  // as it was while everything had its place
  bool restore(const QByteArray& state);

 private:
  bool isUsual() const { return isMiddleShown() && m_hasModules && m_hasRuns; }
  void remember();

  QMainWindow* m_window;
  QWidget* m_middle;
  QList<QDockWidget*> m_docks;
  bool m_isNarrow = false, m_hasModules = true, m_hasRuns = true, m_hadInspector = false;
  int m_findingsHeight = 0;
  QByteArray m_usualState;
};

}  // namespace ulpscope::views
