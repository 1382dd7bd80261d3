#include "widgets/jobs/benchmark_job.h"

#include "widgets/models/text.h"

namespace ulpscope::jobs {

using models::qt;
using Part = protocol::BenchmarkRequest::Part;

BenchmarkJob::~BenchmarkJob() {
  if (m_engine) m_engine->disconnect(this);
}

void BenchmarkJob::start(const protocol::BenchmarkRequest& request) {
  if (isRunning()) return;
  m_request = request;
  ask(Part::referenceMemory);
}

void BenchmarkJob::cancel() {
  if (m_engine) m_engine->cancel();
}

// The engine before may stand in one of its own signals: it goes later.
void BenchmarkJob::dropEngine() {
  if (!m_engine) return;
  m_engine->disconnect(this);
  m_engine.release()->deleteLater();
}

void BenchmarkJob::ask(Part part) {
  dropEngine();
  m_request.part = part;
  m_engine = std::make_unique<EngineProcess>();
  connect(m_engine.get(), &EngineProcess::progressed, this, &BenchmarkJob::progressed);
  connect(m_engine.get(), &EngineProcess::logged, this, &BenchmarkJob::logged);
  connect(m_engine.get(), &EngineProcess::benchmarked, this, &BenchmarkJob::onAnswer);
  connect(m_engine.get(), &EngineProcess::failed, this, [this](const base::Error& error) {
    dropEngine();
    emit failed(error);
  });
  m_engine->benchmark(m_request);
}

void BenchmarkJob::onAnswer(const nlohmann::json& answer) try {
  switch (m_request.part) {
    case Part::referenceMemory:
      m_request.reference = session::peakMemoryFromJson(answer.at("memory"));
      return ask(Part::candidateMemory);
    case Part::candidateMemory:
      m_request.candidate = session::peakMemoryFromJson(answer.at("memory"));
      return ask(Part::times);
    case Part::times: break;
  }
  const bool isWithheld = answer.contains("withheld");
  const QString text = qt(answer.at(isWithheld ? "withheld" : "not_stored").get<std::string>());
  const session::Benchmark benchmark = isWithheld ? session::Benchmark() : session::benchmarkFromJson(answer.at("benchmark"));
  dropEngine();
  if (isWithheld)
    emit withheld(text);
  else
    emit measured(benchmark, text);
} catch (const nlohmann::json::exception& e) {
  dropEngine();
  emit failed({base::ErrorKind::internal, std::string("answered something else than was asked: ") + e.what(), "ulpscope-engine", "install window and engine from one build"});
}

}  // namespace ulpscope::jobs
