#include "widgets/models/selection.h"

namespace ulpscope::models {

void Selection::select(const QString& modulePath, std::int64_t site, std::int64_t sample) {
  const std::int64_t newSample = sample < 0 ? m_sample : sample;
  if (m_modulePath == modulePath && m_site == site && m_sample == newSample) return;
  m_modulePath = modulePath;
  m_site = site;
  m_sample = newSample;
  emit changed();
}

void Selection::selectSample(std::int64_t sample) {
  if (m_sample == sample) return;
  m_sample = sample;
  emit changed();
}

void Selection::setRun(const QString& runId) {
  if (m_runId == runId) return;
  m_runId = runId;
  m_site = -1;
  emit changed();
}

void Selection::clear() {
  m_modulePath.reset();
  m_site = -1;
  m_sample = -1;
  m_runId.clear();
  emit changed();
}

}  // namespace ulpscope::models
