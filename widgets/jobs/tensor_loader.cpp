#include "widgets/jobs/tensor_loader.h"

#include "core/storage/site_look.h"
#include "widgets/models/text.h"

#include <QtConcurrent>

namespace ulpscope::jobs {

using Outcome = std::shared_ptr<base::Result<models::TensorPicturePointer>>;  // nullptr: replaced before it began

base::Result<models::TensorPicturePointer> loadTensor(const TensorRequest& request, const models::TensorLookPointer& last) {
  const render::SliceChoice* choice = request.slice ? &*request.slice : nullptr;
  if (last && last->run == request.run && last->site == request.site && last->sample == request.sample) return models::makeTensorPicture(last, choice);
  const storage::LookRequest wanted{models::core(request.sessionPath), request.run->run->id(), request.site, request.sample};
  base::Result<storage::SiteLook> parts = storage::lookAt(*request.run->session, wanted);
  if (!parts.ok()) return parts.error();
  return models::makeTensorPicture(models::makeTensorLook(request.run, wanted, std::move(parts).value()), choice);
}

TensorLoader::TensorLoader(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

TensorLoader::~TensorLoader() {
  ++m_newest;
  m_pool.waitForDone();
}

void TensorLoader::load(const TensorRequest& request) {
  const int number = ++m_newest;
  m_isLoading = true;
  QtConcurrent::run(&m_pool, [this, request, number, last = m_last] {
    return number == m_newest ? std::make_shared<base::Result<models::TensorPicturePointer>>(loadTensor(request, last)) : Outcome();
  }).then(this, [this, number](const Outcome& outcome) {
    if (number != m_newest || !outcome) return;
    m_isLoading = false;
    if (!outcome->ok()) return emit failed(outcome->error());
    m_last = outcome->value()->look;
    emit loaded(outcome->value());
  });
}

void TensorLoader::cancel() {
  ++m_newest;
  m_isLoading = false;
  m_last = nullptr;
}

}  // namespace ulpscope::jobs
