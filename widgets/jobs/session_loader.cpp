#include "widgets/jobs/session_loader.h"

#include "core/storage/run_edit.h"
#include "core/storage/session_care.h"
#include "widgets/models/text.h"

#include <QtConcurrent>

namespace ulpscope::jobs {
namespace {

using models::core;
using models::qt;

models::RunPointer loadRun(const std::string& path, const std::shared_ptr<const session::Session>& session, const session::RunRecord* run) {
  if (run == nullptr) return nullptr;
  base::Result<storage::RunMetrics> metrics = storage::readMetrics(path, *session, run->id());
  if (!metrics.ok()) return models::makeLoadedRun(session, *run, nullptr, qt(metrics.error().message()));
  return models::makeLoadedRun(session, *run, std::make_shared<const storage::RunMetrics>(std::move(metrics).value()), {});
}

// Of the latest run.
const session::RunRecord* defaultA(const session::Session& session, const session::RunRecord* latest) {
  if (const session::RunRecord* baseline = session.baseline(); baseline && baseline != latest) return baseline;
  return session.runs.size() > 1 ? &session.runs[session.runs.size() - 2] : nullptr;
}

}  // namespace

base::Result<models::LoadedSession> loadSession(const LoadRequest& request) {
  const std::string path = core(request.path);
  base::Result<session::Session> opened = storage::openSession(path);
  if (!opened.ok()) return opened.error();
  const auto session = std::make_shared<const session::Session>(std::move(opened).value());
  const session::RunRecord* b = request.runB.isEmpty() ? session->latest() : session->run(core(request.runB));
  const session::RunRecord* a = !request.runA.isEmpty() ? session->run(core(request.runA)) : request.runB.isEmpty() ? defaultA(*session, b) : nullptr;
  return models::LoadedSession{request.path, session, a == b ? nullptr : loadRun(path, session, a), loadRun(path, session, b), qt(storage::whyReadOnly(path))};
}

SessionLoader::SessionLoader(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

SessionLoader::~SessionLoader() { m_pool.waitForDone(); }

void SessionLoader::load(const LoadRequest& request) { start(request, false); }

void SessionLoader::clearAndLoad(const LoadRequest& request) { start(request, true); }

void SessionLoader::start(const LoadRequest& request, bool afterDeath) {
  const int number = ++m_newest;
  m_isLoading = true;
  QtConcurrent::run(&m_pool, [request, afterDeath] {
    if (afterDeath) static_cast<void>(storage::removeDeadParts(core(request.path)));  // what stays, `repair` names
    return std::make_shared<base::Result<models::LoadedSession>>(loadSession(request));
  }).then(this, [this, number, afterDeath](const std::shared_ptr<base::Result<models::LoadedSession>>& result) {
    if (number != m_newest) return;
    m_isLoading = false;
    if (result->ok())
      emit loaded(result->value());
    else if (!afterDeath)
      emit failed(result->error());
  });
}

}  // namespace ulpscope::jobs
