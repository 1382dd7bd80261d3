#include "widgets/jobs/engine_process.h"

#include "widgets/models/text.h"

#include <csignal>

namespace ulpscope::jobs {
namespace {

using base::Error;
using base::ErrorKind;
using models::core;
using models::qt;

constexpr int kCancelGraceMs = 150;  // then it is killed: what it has written is whole, whenever that is
constexpr int kShutdownMs = 1000;
constexpr const char* kRunAgain = "earlier results are kept, the next run starts a new engine";

}  // namespace

EngineProcess::EngineProcess(QObject* parent) : QObject(parent) {
  m_cancelTimer.setSingleShot(true);
  m_cancelTimer.setInterval(kCancelGraceMs);
  connect(&m_cancelTimer, &QTimer::timeout, this, [this] {
    if (m_process) m_process->kill();
  });
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

void EngineProcess::run(const session::RunRequest& request) {
  if (m_run) {
    emit failed({ErrorKind::usage, "a run is going on already", request.sessionPath, "wait for it or cancel it (Shift+F5)"});
    return;
  }
  const base::Result<std::string> program = protocol::findEngine();
  if (!program.ok()) {
    emit failed(program.error());
    return;
  }
  m_run = Run{};
  if (!m_process) startProcess(program.value());
  if (!m_run) return;  // the engine could not even start: told already
  m_run->id = ++m_lastId;
  send(protocol::encodeRun(m_run->id, request));
}

void EngineProcess::cancel() {
  if (!m_run || m_run->cancelId != 0) return;
  m_run->cancelId = ++m_lastId;
  send(protocol::encodeCancel(m_run->cancelId, m_run->id));
  m_cancelTimer.start();
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
    onProcessEnd(status == QProcess::CrashExit ? QStringLiteral("crashed (signal %1)").arg(code) : QStringLiteral("ended (exit code %1)").arg(code));
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
    handle(message.value());
    if (!m_process) return;
  }
}

void EngineProcess::readLog() {
  const QString text = QString::fromUtf8(m_process->readAllStandardError());
  for (const QString& line : text.split(u'\n', Qt::SkipEmptyParts)) emit logged(line);
}

void EngineProcess::handle(const protocol::Message& message) {
  using Kind = protocol::Message::Kind;
  const bool isAnswer = message.kind == Kind::result || message.kind == Kind::error;
  if (message.id == m_helloId && isAnswer) {
    if (message.kind == Kind::error) {
      fail(message.error);
      dropProcess();
    } else if (message.body.value("protocol", 0) != protocol::kVersion) {
      onProcessEnd(QStringLiteral("speaks protocol %1, this window %2; install both from one build").arg(message.body.value("protocol", 0)).arg(protocol::kVersion));
    }
    return;
  }
  if (!m_run || message.id != m_run->id) return;
  if (message.kind == Kind::progress) {
    m_run->last = message.progress;
    emit progressed(message.progress);
  } else if (message.kind == Kind::error) {
    fail(message.error);
  } else if (message.kind == Kind::result) {
    m_cancelTimer.stop();
    m_run.reset();
    emit finished(qt(message.body.value("session", std::string())), qt(message.body.value("run_id", std::string())));
  }
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

void EngineProcess::fail(const Error& error) {
  m_cancelTimer.stop();
  if (!m_run) return;
  m_run.reset();
  emit failed(error);
}

Error EngineProcess::engineLost(const QString& how) const {
  if (m_run && m_run->cancelId != 0) return {ErrorKind::cancelled, "the run was cancelled, its engine stopped", "run", kRunAgain};
  QString what = QStringLiteral("the engine ") + how;
  if (m_run && !m_run->last.op.empty())
    what += QStringLiteral(" while it ran %1 in %2").arg(qt(m_run->last.op), models::modulePathText(qt(m_run->last.modulePath)));
  else if (m_run && !m_run->last.stage.empty())
    what += QStringLiteral(" at stage \"%1\"").arg(qt(m_run->last.stage));
  return {ErrorKind::run, core(what), "ulpscope-engine", kRunAgain};
}

}  // namespace ulpscope::jobs
