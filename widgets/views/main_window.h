// The window: menus, toolbar, step strip, docks, and what they do. All work is the Workbench's.
#pragma once

#include "widgets/models/run_form.h"
#include "widgets/views/dock_layout.h"
#include "widgets/views/parts.h"
#include "widgets/views/window_options.h"
#include "widgets/views/workbench.h"

#include <QMainWindow>

#include <functional>
#include <map>

class QActionGroup;
class QLabel;
class QMenu;
class QStackedWidget;
class QToolBar;

namespace ulpscope::views {

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(const WindowOptions& options, QWidget* parent = nullptr);
  ~MainWindow() override;

  void openSession(const QString& path) { m_workbench.openSession(path); }
  void runDemo(const QString& name) { mayLeave() ? m_workbench.runDemo(name) : void(); }
  void newRun(bool validates);       // an empty run sheet
  void train(const QString& recipe);  // asks for the rest; empty: for the recipe too
  void runWithOtherSettings();       // one more run of the session shown
  void validateThis();               // the session's experiment, judged, in a session of its own
  void reviseCriteria();             // another revision of the session's criteria
  void useFiles(const QStringList& paths);  // as dropped: a session, or what a run is made of
  void toggleFp32(const QString& modulePath) { m_workbench.toggle(modulePath, models::RegionKind::inputsToFp32); }
  void rerun() { m_workbench.rerun(); }
  void selectSite(const QString& modulePath, std::int64_t sample);

  Workbench& workbench() { return m_workbench; }
  ModulesPanel* modules() const { return m_modules; }
  HeatmapPanel* heatmap() const { return m_heatmap; }
  InspectorPanel* inspector() const { return m_inspector; }
  FindingsPanel* findings() const { return m_findings; }
  StepStrip* steps() const { return m_steps; }
  RunSheet* runSheet() const { return m_runSheet; }
  CriteriaSheet* criteriaSheet() const { return m_criteria; }
  QWidget* page() const;  // the start page, a sheet or the heatmap
  bool isCovered() const;  // results are not to be seen now: criteria are being written
  QStringList unsaved() const;  // what closing would lose, a line each; asked before, in tests otherwise:
  void setConfirmClose(std::function<bool(const QStringList& lost)> confirm) { m_confirmClose = std::move(confirm); }
  RunBar* runBar() const { return m_runBar; }
  SessionBar* sessionBar() const { return m_sessionBar; }
  QString problem() const;  // the message bar's line; empty: none
  QString statusText() const;
  QStringList recentSessions() const { return m_recentSessions; }
  static constexpr int kStateVersion = DockLayout::kStateVersion;
  void resetLayout() { m_docks->reset(m_workbench.session() != nullptr); }
  void setDockState(const QByteArray& state) { m_dockState = state; }
  QByteArray dockState() const;  // while results are shown; one of another version, or none, leaves the usual layout
  void showStart();  // the session stays open
  void showSession();

 signals:
  void themeChosen(ulpscope::plots::ThemeChoice choice);
  void recentSessionsChanged(const QStringList& paths);

 protected:
  void changeEvent(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QAction* addAction(const QString& name, const QString& text, const QKeySequence& keys, std::function<void()> triggered);
  void makeActions();
  void makeMenus(plots::ThemeChoice theme);
  void makeToolBars();
  void makeCentral();
  void makeDocks();
  void connectWorkbench();
  void connectPages();
  void showPage(QWidget* page);
  void showResults();
  void onForm(const models::RunForm& form);
  void onLocked(const std::string& canonical);
  void writeRevision(const std::string& canonical);
  void onRunningChanged();
  void leaveSheet();
  bool keepsCancelled() const;
  void showCancelled(QWidget* from);
  bool mayLeave();
  void onRunEnded(bool isGood);
  void locate(const QString& path);
  void refreshActions();
  QUndoStack& undoStack();  // of the page shown
  void refreshIcons();
  void onSessionChanged();
  void showFirstTab(bool isOther);
  void fitToContent();
  void showStanding();
  void showTab(int tab);
  void chooseSession();
  void open(const QString& path);
  void keepSelection();
  void fitToolBar();
  void focusPane(int step);
  void closeSession();
  void showKeys();
  void showAbout();
  void rememberSession(const QString& path);
  void refreshRecentMenu();

  Workbench m_workbench;
  QStringList m_recentSessions;
  std::map<QString, QAction*> m_actions;
  QList<QAction*> m_actionOrder;
  QMenu* m_recentMenu = nullptr;
  QActionGroup* m_viewGroup = nullptr;
  QStackedWidget* m_stack = nullptr;
  StartPage* m_start = nullptr;
  RunSheet* m_runSheet = nullptr;
  CriteriaSheet* m_criteria = nullptr;
  QWidget* m_cameFrom = nullptr;  // the sheet that asked for the run that goes on
  QString m_sessionId;            // shown last
  models::RunForm m_pending;      // of the run whose criteria are being written
  bool m_wasShown = false, m_wantsTraining = false, m_showsResults = false, m_isRevising = false;  // m_isRevising: the criteria sheet is for a revision, not for a run
  std::function<bool(const QStringList&)> m_confirmClose;
  MessageBar* m_message = nullptr;
  RunBar* m_runBar = nullptr;
  SessionBar* m_sessionBar = nullptr;
  StepStrip* m_steps = nullptr;
  QToolBar *m_tools = nullptr, *m_stepBar = nullptr;
  int m_toolsWidth = 0;  // with words
  ModulesPanel* m_modules = nullptr;
  HeatmapPanel* m_heatmap = nullptr;
  InspectorPanel* m_inspector = nullptr;
  FindingsPanel* m_findings = nullptr;
  DockLayout* m_docks = nullptr;
  QLabel *m_device = nullptr, *m_status = nullptr;
  QByteArray m_dockState;
};

}  // namespace ulpscope::views
