#include "widgets/jobs/input_source.h"

#include "core/base/hashing.h"
#include "widgets/models/text.h"

#include <QDir>
#include <QFileInfo>
#include <QObject>

namespace ulpscope::jobs {

using models::core;
using models::qt;

int InputSource::axisOf(const std::string& input) const {
  const auto found = batchAxis.find(input);
  return found == batchAxis.end() ? 0 : found->second;
}

InputSource inputSource(const session::Session& session, const session::RunSettings& settings, const QString& sessionPath) {
  if (settings.mode == session::Mode::recorded) return {};
  const QString path = qt(session.samples.path);
  return {path, QFileInfo(sessionPath).dir().filePath(QFileInfo(path).fileName()), session.samples.sha256, settings.batchAxis};
}

base::Result<std::string> FileDigests::of(const QString& path, const std::stop_token& stop) {
  const QFileInfo file(path);
  const auto state = std::pair(file.size(), file.lastModified());
  const auto known = m_known.constFind(path);
  if (known != m_known.constEnd() && known->first == state) return known->second;
  base::Result<std::string> digest = base::sha256OfFile(core(path), stop);
  if (digest.ok()) m_known.insert(path, {state, digest.value()});
  return digest;
}

FoundInputs findInputs(const InputSource& source, FileDigests& digests, const std::stop_token& stop) {
  if (source.path.isEmpty()) return {{}, QObject::tr("a recording does not hold its inputs.")};
  const QString path = QFileInfo::exists(source.path) ? source.path : source.besideSession;
  if (!QFileInfo::exists(path)) return {path, QObject::tr("%1 is not there; put it back, or beside the session.").arg(source.path)};
  const base::Result<std::string> digest = digests.of(path, stop);
  if (!digest.ok()) return {path, qt(digest.error().message())};
  return {path, digest.value() == source.sha256 ? QString() : QObject::tr("%1 is another file than the run's (its SHA-256 differs).").arg(path)};
}

}  // namespace ulpscope::jobs
