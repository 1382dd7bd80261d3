#include "widgets/jobs/training_loader.h"

#include "core/storage/training_store.h"
#include "widgets/models/text.h"

#include <QtConcurrent>

namespace ulpscope::jobs {

TrainingLoader::TrainingLoader(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

TrainingLoader::~TrainingLoader() { m_pool.waitForDone(); }

void TrainingLoader::load(const QString& sessionPath, const std::shared_ptr<const session::Session>& session, int number) {
  const int request = ++m_newest;
  QtConcurrent::run(&m_pool, [path = models::core(sessionPath), session, number] {
    return std::make_shared<base::Result<session::Training>>(storage::readTraining(path, *session, number));
  }).then(this, [this, request](const std::shared_ptr<base::Result<session::Training>>& result) {
    if (request != m_newest) return;
    if (result->ok())
      emit loaded(std::make_shared<const session::Training>(std::move(*result).value()));
    else
      emit failed(result->error());
  });
}

}  // namespace ulpscope::jobs
