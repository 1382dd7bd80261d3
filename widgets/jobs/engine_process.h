// The engine as the window drives it: a process that speaks JSON lines, started when needed, started anew after a crash.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/protocol/message.h"
#include "core/session/settings.h"

#include <QObject>
#include <QProcess>
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
  // One run at a time: a call while one runs is refused with failed(). Ends with exactly one finished() or failed().
  void run(const session::RunRequest& request);
  // Asks the engine to end the run; an engine that does not within the grace time is killed.
  void cancel();
  void setCancelGraceMs(int graceMs) { m_cancelTimer.setInterval(graceMs); }

 signals:
  void progressed(const ulpscope::base::Progress& progress);
  void finished(const QString& sessionPath, const QString& runId);
  void failed(const ulpscope::base::Error& error);
  void logged(const QString& line);  // what engine and model print

 private:
  struct Run {
    int id = 0;
    int cancelId = 0;
    base::Progress last;
  };

  void startProcess(const std::string& program);
  void send(const std::string& line);
  void readAnswers();
  void readLog();
  void handle(const protocol::Message& message);
  void onProcessEnd(const QString& how);
  void dropProcess();
  void killNow();
  void fail(const base::Error& error);
  base::Error engineLost(const QString& how) const;

  std::unique_ptr<QProcess> m_process;
  protocol::LineReader m_reader;
  std::optional<Run> m_run;
  QTimer m_cancelTimer;
  int m_lastId = 0;
  int m_helloId = 0;
};

}  // namespace ulpscope::jobs
