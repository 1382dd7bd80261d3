#include "widgets/jobs/revision_writer.h"

#include "core/session/criteria.h"
#include "core/storage/run_verdict.h"
#include "widgets/models/text.h"

#include <QtConcurrent>

namespace ulpscope::jobs {
namespace {

using models::core;

std::shared_ptr<base::Result<session::Session>> lock(const QString& path, const std::string& canonical, const QString& reason) {
  const auto criteria = session::criteriaFromText(canonical);
  if (!criteria.ok()) return std::make_shared<base::Result<session::Session>>(criteria.error());
  return std::make_shared<base::Result<session::Session>>(storage::lockCriteria(core(path), criteria.value(), core(reason)));
}

}  // namespace

RevisionWriter::RevisionWriter(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

RevisionWriter::~RevisionWriter() { m_pool.waitForDone(); }

void RevisionWriter::write(const QString& sessionPath, const std::string& canonical, const QString& reason) {
  QtConcurrent::run(&m_pool, [sessionPath, canonical, reason] { return lock(sessionPath, canonical, reason); })
      .then(this, [this, sessionPath](const std::shared_ptr<base::Result<session::Session>>& result) {
        if (result->ok())
          emit written(sessionPath);
        else
          emit failed(result->error());
      });
}

}  // namespace ulpscope::jobs
