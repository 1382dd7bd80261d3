#include "widgets/jobs/decided_loader.h"

#include "core/storage/run_decided.h"
#include "widgets/models/text.h"

#include <QtConcurrent>

namespace ulpscope::jobs {

DecidedLoader::DecidedLoader(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

DecidedLoader::~DecidedLoader() {
  ++m_newest;
  m_pool.waitForDone();
}

void DecidedLoader::load(const QString& sessionPath, const models::RunPointer& run) {
  const int number = ++m_newest;
  QtConcurrent::run(&m_pool, [this, number, path = models::core(sessionPath), run]() -> models::DecidedPointer {
    if (number != m_newest) return nullptr;
    auto decided = storage::decidedSamples(path, *run->session, *run->run);
    return decided.ok() ? std::make_shared<const models::Decided>(std::move(decided).value()) : nullptr;
  }).then(this, [this, number, run](const models::DecidedPointer& decided) {
    if (number == m_newest && decided) emit loaded(run, decided);
  });
}

}  // namespace ulpscope::jobs
