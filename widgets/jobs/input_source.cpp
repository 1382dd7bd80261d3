#include "widgets/jobs/input_source.h"

#include "core/model/positional_arguments.h"
#include "core/storage/input_digest.h"
#include "widgets/models/text.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QObject>

#include <algorithm>

namespace ulpscope::jobs {

using models::core;
using models::qt;

namespace {

// Size and time of last change; of a folder, sum and latest of its files.
std::pair<qint64, QDateTime> stateOf(const QString& path) {
  const QFileInfo info(path);
  std::pair<qint64, QDateTime> state(info.isDir() ? 0 : info.size(), info.lastModified());
  if (!info.isDir()) return state;
  for (QDirIterator files(path, QDir::Files, QDirIterator::Subdirectories); files.hasNext();) {
    files.next();
    state.first += files.fileInfo().size();
    state.second = std::max(state.second, files.fileInfo().lastModified());
  }
  return state;
}

}  // namespace

int InputSource::axisOf(const std::string& argument) const {
  const auto found = batchAxis.find(argument);
  return found == batchAxis.end() ? 0 : found->second;
}

InputSource inputSource(const session::Session& session, const session::RunSettings& settings, const QString& sessionPath) {
  if (settings.mode == session::Mode::recorded) return {};
  const QString path = qt(session.samples.path);
  return {path, QFileInfo(sessionPath).dir().filePath(QFileInfo(path).fileName()), session.samples.sha256, settings.batchAxis,
          model::positionalArguments(session.model.arguments, !session.samples.labels.empty())};
}

base::Result<std::string> FileDigests::of(const QString& path, const std::stop_token& stop) {
  const auto state = stateOf(path);
  const auto known = m_known.constFind(path);
  if (known != m_known.constEnd() && known->first == state) return known->second;
  base::Result<std::string> digest = storage::inputsDigest(core(path), stop);
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
