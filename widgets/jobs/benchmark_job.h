// A benchmark, part by part, each in an engine of its own: no part's memory is in another's peak, and nothing that ran before slows it.
#pragma once

#include "widgets/jobs/engine_process.h"

#include <QObject>

#include <memory>

namespace ulpscope::jobs {

class BenchmarkJob : public QObject {
  Q_OBJECT

 public:
  explicit BenchmarkJob(QObject* parent = nullptr) : QObject(parent) {}
  ~BenchmarkJob() override;

  bool isRunning() const { return m_engine != nullptr; }
  // Of request.part nothing counts. Ends with exactly one measured(), withheld() or failed(). While one runs, nothing happens.
  void start(const protocol::BenchmarkRequest& request);
  void cancel();

 signals:
  void progressed(const ulpscope::base::Progress& progress);
  void measured(const ulpscope::session::Benchmark& benchmark, const QString& whyNotStored);
  void withheld(const QString& why);  // it was timed, and did not pass again
  void failed(const ulpscope::base::Error& error);
  void logged(const QString& line);

 private:
  void ask(protocol::BenchmarkRequest::Part part);
  void onAnswer(const nlohmann::json& answer);
  void dropEngine();

  protocol::BenchmarkRequest m_request;  // with what was measured so far
  std::unique_ptr<EngineProcess> m_engine;
};

}  // namespace ulpscope::jobs
