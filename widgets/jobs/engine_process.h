// The engine as the window drives it: a process that speaks JSON lines, started when needed, started anew after a crash.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/protocol/inspection.h"
#include "core/protocol/message.h"
#include "core/protocol/opened_experiment.h"
#include "core/session/settings.h"

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTimer>

#include <memory>
#include <optional>

namespace ulpscope::jobs {

class EngineProcess : public QObject {
  Q_OBJECT

 public:
  explicit EngineProcess(QObject* parent = nullptr);
  ~EngineProcess() override;

  bool isRunning() const { return m_run.has_value(); }
  bool isCancelling() const { return m_run && m_run->cancelId != 0; }
  // Of the engine that speaks now, or spoke last; empty: none did yet. warmUp() starts one.
  const QStringList& policyTables() const { return m_policyTables; }
  void warmUp();
  // One run at a time: a call while one runs is refused with failed(). Ends with exactly one finished() or failed().
  void run(const session::RunRequest& request);
  // The same for a training: ends with exactly one trained() or failed(). A cancelled one that did a step is stored, and is no failure.
  // A comparison at a checkpoint and a replay end as a run does, with finished(); a replay tells before whether it reproduced its case.
  void train(const protocol::TrainRequest& request);
  // One part of a benchmark: ends with exactly one benchmarked() or failed().
  void benchmark(const protocol::BenchmarkRequest& request);
  bool isTraining() const { return m_run && m_run->isTraining; }
  // The same for a scan: ends with exactly one scanned() or failed(). A cancelled one stores nothing.
  void scan(const session::ScanRequest& request);
  bool isScanning() const { return m_run && m_run->isScan; }
  // What a run of this would work on. A newer question replaces an older one: only the newest is answered, by opened() or openFailed(),
  // after the run that goes on.
  void open(const session::RunRequest& request);
  // A model's ops, and what the engine's LibTorch has for them; target as `ulpscope inspect --target`. As open(): the newest question is
  // answered, by inspected() or inspectFailed().
  void inspect(const std::string& modelPath, const std::string& target);
  // Asks the engine to end the run; an engine that does not within the grace time is killed.
  void cancel();
  void setCancelGraceMs(int graceMs) { m_graceMs = graceMs; }
  // After how long without a word silent() is told, again after each such while.
  void setSilenceMs(int silenceMs) { m_silenceMs = silenceMs; }

 signals:
  void progressed(const ulpscope::base::Progress& progress);
  void greeted();  // policyTables() are known
  void experimentTold(const ulpscope::protocol::LiveExperiment& experiment);
  void cellsTold(const ulpscope::protocol::CellBlock& block);
  void opened(const ulpscope::protocol::OpenedExperiment& experiment);
  void openFailed(const ulpscope::base::Error& error);
  void inspected(const ulpscope::protocol::Inspection& inspection);
  void inspectFailed(const ulpscope::base::Error& error);
  void silent(int seconds);  // no word from the engine for so long, during a run
  void finished(const QString& sessionPath, const QString& runId);
  void ledgerTold(const ulpscope::protocol::LedgerUpdate& update);
  void trained(const QString& sessionPath, int number);
  void scanned(const QString& sessionPath, int number);
  void benchmarked(const nlohmann::json& answer);  // as it came
  void replayed(bool isReproduced, const QString& difference);
  void failed(const ulpscope::base::Error& error);
  void logged(const QString& line);  // what engine and model print

 private:
  struct Run {
    int id = 0;
    int cancelId = 0;
    bool isTraining = false, isScan = false, isBenchmark = false;
    base::Progress last;
  };

  bool begin(const std::string& sessionPath, const std::string& modelPath);
  void endRun();
  void startProcess(const std::string& program);
  void send(const std::string& line);
  void readAnswers();
  void readLog();
  void handle(const protocol::Message& message);
  void handleHello(const protocol::Message& message);
  void handleOpened(const protocol::Message& message);
  void handleInspected(const protocol::Message& message);
  void handleRun(const protocol::Message& message);
  void handleResult(const nlohmann::json& result);
  bool ensureProcess();
  void noticeSilence();
  void onProcessEnd(const QString& how);
  void dropProcess();
  void killNow();
  void fail(const base::Error& error);
  void failRun(const base::Error& error);
  base::Error engineLost(const QString& how) const;

  std::unique_ptr<QProcess> m_process;
  QStringList m_policyTables;
  protocol::LineReader m_reader;
  std::optional<Run> m_run;
  int m_openId = 0, m_inspectId = 0;  // 0: no question stands open
  std::string m_modelPath;  // of the run, or of the question
  QTimer m_cancelTimer, m_silenceTimer;
  QElapsedTimer m_lastWord;
  int m_silenceMs = 20000;
  int m_graceMs = 100;  // after cancel, of a run; then it is killed: what it has written is whole, whenever that is
  int m_lastId = 0;
  int m_helloId = 0;
};

}  // namespace ulpscope::jobs
