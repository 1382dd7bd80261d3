#include "widgets/jobs/scan_loader.h"

#include "core/storage/scan_store.h"
#include "widgets/models/text.h"

#include <QtConcurrent>

namespace ulpscope::jobs {

using Outcome = std::shared_ptr<base::Result<models::ScanPointer>>;

ScanLoader::ScanLoader(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

ScanLoader::~ScanLoader() { m_pool.waitForDone(); }

void ScanLoader::load(const QString& sessionPath, const std::shared_ptr<const session::Session>& session, int number) {
  const auto read = [path = models::core(sessionPath), session, number]() -> base::Result<models::ScanPointer> {
    auto scan = storage::readScan(path, *session, number);
    if (!scan.ok()) return scan.error();
    return models::makeLoadedScan(session, std::move(scan).value());
  };
  QtConcurrent::run(&m_pool, [read] { return std::make_shared<base::Result<models::ScanPointer>>(read()); }).then(this, [this, request = ++m_newest](const Outcome& outcome) {
    if (request != m_newest) return;
    outcome->ok() ? emit loaded(outcome->value()) : emit failed(outcome->error());
  });
}

}  // namespace ulpscope::jobs
