#include "widgets/jobs/engine_process.h"

#include "widgets/models/text.h"

#include <csignal>
#include <utility>

namespace ulpscope::jobs {
namespace {

using base::Error;
using base::ErrorKind;
using models::core;
using models::qt;
using Kind = protocol::Message::Kind;

constexpr int kTrainingGraceMs = 10000;  // a training ends its step and stores what it did
constexpr int kShutdownMs = 1000;
// The kernel ends what takes too much memory with SIGKILL, and nobody else does so unasked.
QString howItCrashed(int signal) {
  return signal == SIGKILL ? QStringLiteral("was killed (signal 9; the system does that when memory runs out: try a smaller batch size)") : QStringLiteral("crashed (signal %1)").arg(signal);
}

constexpr const char* kRunAgain = "earlier results are kept, the next run starts a new engine";

}  // namespace

EngineProcess::EngineProcess(QObject* parent) : QObject(parent) {
  m_cancelTimer.setSingleShot(true);
  connect(&m_cancelTimer, &QTimer::timeout, this, [this] {
    if (m_process) m_process->kill();
  });
  connect(&m_silenceTimer, &QTimer::timeout, this, &EngineProcess::noticeSilence);
}

EngineProcess::~EngineProcess() {
  if (!m_process) return;
  m_process->disconnect(this);
  if (m_process->state() == QProcess::NotRunning) return;
  if (!m_run) send(protocol::encodeShutdown(++m_lastId));
  m_process->closeWriteChannel();
  if (!m_run && m_process->waitForFinished(kShutdownMs)) return;
  killNow();
}

void EngineProcess::killNow() {
  m_process->kill();
  m_process->waitForFinished(kShutdownMs);
}

// False: it cannot, which was told.
bool EngineProcess::begin(const std::string& sessionPath, const std::string& modelPath) {
  if (m_run) {
    emit failed({ErrorKind::usage, "a run is going on already", sessionPath, "wait for it or cancel it (Shift+F5)"});
    return false;
  }
  m_run = Run{};
  if (!ensureProcess()) return false;
  m_run->id = ++m_lastId;
  m_modelPath = modelPath;
  m_lastWord.start();
  m_silenceTimer.start(std::max(1, m_silenceMs / 4));
  return true;
}

void EngineProcess::run(const session::RunRequest& request) {
  if (begin(request.sessionPath, request.modelPath)) send(protocol::encodeRun(m_run->id, request, protocol::Live::yes));
}

void EngineProcess::train(const protocol::TrainRequest& request) {
  if (!begin(request.sessionPath, request.recipePath)) return;
  m_run->isTraining = request.compare.empty();
  send(protocol::encodeTrain(m_run->id, request));
}

void EngineProcess::scan(const session::ScanRequest& request) {
  if (!begin(request.sessionPath, request.modelPath)) return;
  m_run->isScan = true;
  send(protocol::encodeScan(m_run->id, request));
}

void EngineProcess::benchmark(const protocol::BenchmarkRequest& request) {
  if (!begin(request.sessionPath, request.sessionPath)) return;
  m_run->isBenchmark = true;
  send(protocol::encodeBenchmark(m_run->id, request));
}

void EngineProcess::endRun() {
  m_cancelTimer.stop();
  m_silenceTimer.stop();
  m_run.reset();
}

void EngineProcess::open(const session::RunRequest& request) {
  if (m_openId != 0) send(protocol::encodeCancel(++m_lastId, m_openId));
  m_openId = -1;
  if (!ensureProcess()) return;
  m_openId = ++m_lastId;
  if (!m_run) m_modelPath = request.modelPath;
  send(protocol::encodeOpen(m_openId, request));
}

void EngineProcess::inspect(const std::string& modelPath, const std::string& target) {
  m_inspectId = -1;
  if (!ensureProcess()) return;
  m_inspectId = ++m_lastId;
  if (!m_run) m_modelPath = modelPath;
  send(protocol::encodeInspect(m_inspectId, modelPath, target));
}

void EngineProcess::warmUp() {
  if (!m_process && protocol::findEngine().ok()) static_cast<void>(ensureProcess());
}

// False: there is no engine, which was told to whoever waits for one.
bool EngineProcess::ensureProcess() {
  if (m_process) return true;
  const base::Result<std::string> program = protocol::findEngine();
  if (program.ok())
    startProcess(program.value());
  else
    fail(program.error());
  return m_process != nullptr;
}

void EngineProcess::noticeSilence() {
  if (!m_run || m_run->cancelId != 0 || m_lastWord.elapsed() < m_silenceMs) return;
  emit silent(static_cast<int>(m_lastWord.elapsed() / 1000));
}

void EngineProcess::cancel() {
  if (!m_run || m_run->cancelId != 0) return;
  m_run->cancelId = ++m_lastId;
  send(protocol::encodeCancel(m_run->cancelId, m_run->id));
  m_cancelTimer.start(m_run->isTraining ? kTrainingGraceMs : m_graceMs);
}

void EngineProcess::startProcess(const std::string& program) {
  m_process = std::make_unique<QProcess>();
  m_reader = protocol::LineReader();
  connect(m_process.get(), &QProcess::readyReadStandardOutput, this, &EngineProcess::readAnswers);
  connect(m_process.get(), &QProcess::readyReadStandardError, this, &EngineProcess::readLog);
  connect(m_process.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) onProcessEnd(QStringLiteral("could not be started (%1)").arg(m_process->errorString()));
  });
  connect(m_process.get(), &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    onProcessEnd(status == QProcess::CrashExit ? howItCrashed(code) : QStringLiteral("ended (exit code %1)").arg(code));
  });
  m_process->start(qt(program), {QStringLiteral("worker")});
  if (!m_process) return;
  m_helloId = ++m_lastId;
  send(protocol::encodeHello(m_helloId));
}

void EngineProcess::send(const std::string& line) {
  if (!m_process) return;
  QByteArray bytes(line.data(), static_cast<qsizetype>(line.size()));
  if (!bytes.endsWith('\n')) bytes.append('\n');
  m_process->write(bytes);
}

void EngineProcess::readAnswers() {
  const QByteArray bytes = m_process->readAllStandardOutput();
  for (const std::string& line : m_reader.feed({bytes.data(), static_cast<std::size_t>(bytes.size())})) {
    const base::Result<protocol::Message> message = protocol::parseMessage(line);
    if (!message.ok()) {
      // Whatever wrote this line cannot be trusted with numbers.
      emit logged(QStringLiteral("not a message: ") + qt(line).left(200));
      onProcessEnd(QStringLiteral("said something that is no message and was stopped"));
      return;
    }
    try {
      handle(message.value());
    } catch (const nlohmann::json::exception& e) {
      emit logged(QStringLiteral("not an answer: ") + qt(e.what()));
      onProcessEnd(QStringLiteral("answered something else than was asked and was stopped"));
    }
    if (!m_process) return;
  }
}

void EngineProcess::readLog() {
  const QString text = QString::fromUtf8(m_process->readAllStandardError());
  for (const QString& line : text.split(u'\n', Qt::SkipEmptyParts)) emit logged(line);
}

void EngineProcess::handle(const protocol::Message& message) {
  m_lastWord.start();
  if (message.id == m_helloId)
    handleHello(message);
  else if (message.id == m_openId)
    handleOpened(message);
  else if (message.id == m_inspectId)
    handleInspected(message);
  else if (m_run && message.id == m_run->id)
    handleRun(message);
}

void EngineProcess::handleHello(const protocol::Message& message) {
  if (message.kind == Kind::error) {
    fail(message.error);
    dropProcess();
  } else if (message.kind == Kind::result && message.body.value("protocol", 0) == protocol::kVersion) {
    m_policyTables.clear();
    for (const std::string& table : message.body.value("policy_tables", std::vector<std::string>())) m_policyTables << qt(table);
    emit greeted();
  } else if (message.kind == Kind::result) {
    onProcessEnd(QStringLiteral("speaks protocol %1, this window %2; install both from one build").arg(message.body.value("protocol", 0)).arg(protocol::kVersion));
  }
}

void EngineProcess::handleOpened(const protocol::Message& message) {
  if (message.kind != Kind::error && message.kind != Kind::result) return;
  m_openId = 0;
  if (message.kind == Kind::error) return emit openFailed(message.error);
  const auto experiment = protocol::openedFromJson(message.body);
  if (experiment.ok())
    emit opened(experiment.value());
  else
    emit openFailed(experiment.error());
}

void EngineProcess::handleInspected(const protocol::Message& message) {
  if (message.kind != Kind::error && message.kind != Kind::result) return;
  m_inspectId = 0;
  if (message.kind == Kind::error) return emit inspectFailed(message.error);
  const auto inspection = protocol::inspectionFromJson(message.body);
  if (inspection.ok())
    emit inspected(inspection.value());
  else
    emit inspectFailed(inspection.error());
}

void EngineProcess::handleRun(const protocol::Message& message) {
  switch (message.kind) {
    case Kind::progress:
      m_run->last = message.progress;
      emit progressed(message.progress);
      break;
    case Kind::experiment: emit experimentTold(message.experiment); break;
    case Kind::cells: emit cellsTold(message.cells); break;
    case Kind::ledger: emit ledgerTold(message.ledger); break;
    case Kind::error: failRun(message.error); break;
    case Kind::result: handleResult(message.body); break;
    default: break;
  }
}

void EngineProcess::handleResult(const nlohmann::json& result) {
  if (m_run->isBenchmark) {
    endRun();
    return emit benchmarked(result);
  }
  const bool hasRun = result.contains("run_id");
  const QString path = qt(result.value("session", std::string()));
  const bool wasTraining = m_run->isTraining, wasScan = m_run->isScan;
  endRun();
  if (result.contains("not_stored")) return emit failed(base::errorFromJson(result.at("not_stored")));
  if (wasScan) return emit scanned(path, result.at("scan").get<int>());
  if (wasTraining && !hasRun) return emit trained(path, result.value("training", 0));
  if (result.contains("reproduced")) emit replayed(result.at("reproduced").get<bool>(), qt(result.value("difference", std::string())));
  emit finished(path, qt(result.value("run_id", std::string())));
}

void EngineProcess::onProcessEnd(const QString& how) {
  const Error error = engineLost(how);
  dropProcess();
  fail(error);
}

void EngineProcess::dropProcess() {
  if (!m_process) return;
  readLog();
  m_process->disconnect(this);
  if (m_process->state() != QProcess::NotRunning) killNow();
  // May stand in one of its own signals: deleted later.
  m_process.release()->deleteLater();
}

// Nobody gets an answer any more.
void EngineProcess::fail(const Error& error) {
  const bool wasOpening = std::exchange(m_openId, 0) != 0, wasInspecting = std::exchange(m_inspectId, 0) != 0;
  failRun(error);
  if (wasOpening) emit openFailed(error);
  if (wasInspecting) emit inspectFailed(error);
}

void EngineProcess::failRun(const Error& error) {
  const bool wasRunning = m_run.has_value();
  endRun();
  if (wasRunning) emit failed(error);
}

Error EngineProcess::engineLost(const QString& how) const {
  if (m_run && m_run->cancelId != 0) return {ErrorKind::cancelled, "the run was cancelled, its engine stopped", "run", kRunAgain};
  const bool isLoading = m_run ? m_run->last.stage == "loading" : m_openId != 0 || m_inspectId != 0;
  QString what = QStringLiteral("the engine ") + how;
  if (m_run && !m_run->last.op.empty())
    what += QStringLiteral(" while it ran %1 in %2").arg(qt(m_run->last.op), models::modulePathText(qt(m_run->last.modulePath)));
  else if (m_run && !m_run->last.stage.empty() && !isLoading)
    what += QStringLiteral(" at stage \"%1\"").arg(qt(m_run->last.stage));
  if (!isLoading) return {ErrorKind::run, core(what), "ulpscope-engine", kRunAgain};
  // LibTorch reads a model's file without many checks: most likely it is the file.
  return {ErrorKind::run, core(what + QStringLiteral(" while it loaded the model: the file may be damaged")), m_modelPath, std::string("export the model again; ") + kRunAgain};
}

}  // namespace ulpscope::jobs
