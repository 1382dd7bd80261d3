// What the window works on: the session shown, its two runs A and B, the pending FP32 choice, the engine.
// Knows no widget; every view listens to it.
#pragma once

#include "core/session/demo.h"
#include "widgets/jobs/engine_process.h"
#include "widgets/jobs/revision_writer.h"
#include "widgets/jobs/session_loader.h"
#include "widgets/models/fp32_regions.h"
#include "widgets/models/live_run.h"
#include "widgets/models/loaded_run.h"
#include "widgets/models/scan_choice.h"
#include "widgets/models/selection.h"

#include <QObject>
#include <QUndoStack>

#include <memory>
#include <optional>

namespace ulpscope::views {

class RunDesk;

enum class RunView { a, b, difference };

// One thing that F8 goes to.
struct FindingPlace {
  QString modulePath;
  std::int64_t site = -1;
  std::int64_t sample = -1;
  QString text;
};

class Workbench : public QObject {
  Q_OBJECT

 public:
  // demoSessionFolder: where the sessions of demos are written; made when needed.
  explicit Workbench(QString demoSessionFolder, QObject* parent = nullptr);
  ~Workbench() override;

  void openSession(const QString& path);
  void closeSession();
  void runDemo(const QString& name);
  void rerun();
  // The same, and what the module's ops return is stored, all below it included; the globs of run B stay.
  void captureAndRerun(const QString& modulePath);
  void runNew(const session::RunRequest& request);  // any experiment; its session is shown when it is done
  void reviseCriteria(const std::string& canonical, const QString& reason);
  void train(const protocol::TrainRequest& request);  // its session is shown when it is done
  void scan(const session::ScanRequest& request);   // of the session shown; told by scanned() when it is stored
  void runAgain();                                  // the last one asked for, after it failed
  void cancel();
  void toggle(const QString& modulePath, models::RegionKind kind);
  void showRuns(const QString& idA, const QString& idB);
  void setView(RunView view);
  void selectFirstNonfinite();
  void selectFinding(int step);  // +1 next, -1 previous; around the ends

  const QString& sessionPath() const { return m_loaded.path; }
  const std::shared_ptr<const session::Session>& session() const { return m_loaded.session; }
  const models::RunPointer& runA() const { return m_loaded.a; }
  const models::RunPointer& runB() const { return m_loaded.b; }
  const models::RunPointer& shownRun() const { return m_view == RunView::a ? m_loaded.a : m_loaded.b; }
  RunView view() const { return m_view; }
  const models::Fp32Regions& regions() const { return m_regions; }
  bool isStale() const;  // the pending choice is not what run B was made with
  QString whyNoRerun() const;  // why no engine can run B's experiment again; empty: one can, or there is no run
  // What F5 would run: the shown session's experiment with the pending policy. Precondition: runB().
  session::RunRequest nextRequest() const;
  bool isLoading() const { return m_loader.isLoading(); }
  bool isRunning() const { return m_engine.isRunning(); }
  bool isTraining() const { return m_engine.isTraining(); }
  bool isScanning() const { return m_engine.isScanning(); }
  models::ScanChoice& scanChoice() { return m_scanChoice; }
  const std::optional<protocol::TrainRequest>& lastTraining() const { return m_lastTraining; }  // that goes on, or was asked for last; empty: it was a run
  const models::LiveRun& live() const { return m_live; }  // of the run that goes on
  bool wasCancelled() const { return m_wasCancelled; }   // the last run
  bool isCancelling() const { return m_engine.isCancelling(); }
  std::vector<FindingPlace> findings() const;
  models::Selection& selection() { return m_selection; }
  QUndoStack& undoStack() { return m_undoStack; }
  jobs::EngineProcess& engine() { return m_engine; }

  // --- the session's file (run_desk.h) ---
  RunDesk& desk() { return *m_desk; }
  // The same session as its file has it now: other names, runs added or deleted. What is shown stays.
  void replaceSession(const std::shared_ptr<const session::Session>& session);
  // What `idB` is compared with unless told otherwise: the baseline, else the run before it; empty: there is none.
  QString defaultA(const QString& idB) const;
  const QString& readOnlyReason() const { return m_loaded.readOnlyReason; }

 signals:
  void sessionChanged();  // another session, other runs
  void viewChanged();
  void regionsChanged();
  void runsChanged();  // the same runs shown; names, baseline, runs that came or went
  void runningChanged();
  void demoLoaded(const QString& text, const QStringList& cure);  // what it shows; modules whose FP32 cures it
  void replayed(const QString& text);  // of a case, with its session: whether it was reproduced
  void liveChanged();                    // more of the running run is known
  void trained(int number);                // before its session is read
  void scanned(int number);                // likewise
  void runEnded(bool isGood);              // before its results are read
  void runFailed(const QString& message);  // as problem(), and the run may be tried again
  void progressed(const ulpscope::base::Progress& progress);
  void problem(const QString& message);  // one line: what, which, what to do
  void notice(const QString& message);
  void logged(const QString& line);

 private:
  void start(const session::RunRequest& request);
  bool isRefused(const session::RunRequest& request);
  void connectEngine();
  void showWhatIsLeft();
  void onLoaded(const models::LoadedSession& loaded);
  void onFinished(const QString& path, const QString& runId);
  void onTrained(const QString& path, int number);
  void reload(const QString& path);
  void onFailed(const base::Error& error);
  void setRegions(const models::Fp32Regions& regions);
  int currentFinding(const std::vector<FindingPlace>& places) const;
  void selectPlace(const FindingPlace& place);
  void selectFirst();

  QString m_demoSessionFolder;
  models::LoadedSession m_loaded;
  RunView m_view = RunView::b;
  models::Fp32Regions m_regions;
  models::Selection m_selection;
  models::ScanChoice m_scanChoice;
  models::LiveRun m_live;
  session::RunRequest m_lastRequest;
  QString m_replayText;  // to be told when its session is shown
  std::optional<protocol::TrainRequest> m_lastTraining;  // empty: the last was a run,
  std::optional<session::ScanRequest> m_lastScan;        // or a scan
  bool m_wasCancelled = false;
  QUndoStack m_undoStack;
  jobs::EngineProcess m_engine;
  jobs::SessionLoader m_loader;
  jobs::RevisionWriter m_revisionWriter;
  std::optional<session::Demo> m_demo;  // that runs, or ran last
  std::unique_ptr<RunDesk> m_desk;  // last: it listens to all the others
};

}  // namespace ulpscope::views
