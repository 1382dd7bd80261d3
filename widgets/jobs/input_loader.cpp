#include "widgets/jobs/input_loader.h"

#include "core/model/positional_arguments.h"
#include "core/storage/input_digest.h"
#include "core/storage/input_samples.h"
#include "widgets/models/text.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QtConcurrent>

namespace ulpscope::jobs {

using models::core;
using models::qt;

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

// SHA-256 of files by path, size and time. For the loader's thread only.
class InputLoader::Digests {
 public:
  base::Result<std::string> of(const QString& path, const std::stop_token& stop) {
    const auto state = stateOf(path);
    const auto known = m_known.constFind(path);
    if (known != m_known.constEnd() && known->first == state) return known->second;
    base::Result<std::string> digest = storage::inputsDigest(core(path), stop);
    if (digest.ok()) m_known.insert(path, {state, digest.value()});
    return digest;
  }

 private:
  QHash<QString, std::pair<std::pair<qint64, QDateTime>, std::string>> m_known;
};

struct InputLoader::Opened {
  QString path;
  QStringList inputs;
  int shownFirst = 0;
  QString problem;  // empty: it is the run's file
};

namespace {

// The axis that counts the samples of the input at `place` in the file. One that nobody named is forward's argument at that place.
int sampleAxis(const InputSource& source, const std::string& name, std::size_t place) {
  const auto& names = source.arguments;
  const bool isNamed = std::find(names.begin(), names.end(), name) != names.end() || place >= names.size();
  const auto found = source.batchAxis.find(isNamed ? name : names[place]);
  return found == source.batchAxis.end() ? 0 : found->second;
}

std::vector<std::int64_t> shapeOfOne(const storage::InputShape& input, int axis) {
  std::vector<std::int64_t> shape = input.shape;
  if (axis >= 0 && axis < static_cast<int>(shape.size())) shape.erase(shape.begin() + axis);
  return shape;
}

}  // namespace

InputSource inputSource(const session::Session& session, const session::RunRecord& run, const QString& sessionPath) {
  if (run.settings.mode == session::Mode::recorded) return {};
  const QString path = qt(session.samples.path);
  return {path, QFileInfo(sessionPath).dir().filePath(QFileInfo(path).fileName()), session.samples.sha256, run.settings.batchAxis,
          model::positionalArguments(session.model.arguments, !session.samples.labels.empty())};
}

InputLoader::InputLoader(QObject* parent) : QObject(parent), m_digests(std::make_shared<Digests>()) { m_pool.setMaxThreadCount(1); }

InputLoader::~InputLoader() {
  m_stop.request_stop();
  m_pool.waitForDone();
}

void InputLoader::close() {
  m_stop.request_stop();
  m_source.reset();
  m_next.reset();
  m_path.clear();
  ++m_generation;
}

void InputLoader::open(const InputSource& source) {
  if (m_source == source) return;
  close();
  m_source = source;
  m_stop = std::stop_source();
  const auto look = [source, digests = m_digests, stop = m_stop.get_token()] {
    Opened opened;
    if (source.path.isEmpty()) {
      opened.problem = tr("No pictures: a recording does not hold its inputs.");
      return opened;
    }
    opened.path = QFileInfo::exists(source.path) ? source.path : source.besideSession;
    const QString name = QFileInfo(source.path).fileName();
    if (!QFileInfo::exists(opened.path)) {
      opened.problem = tr("No pictures: %1 is not there; put it back, or beside the session.").arg(source.path);
      return opened;
    }
    const base::Result<std::string> digest = digests->of(opened.path, stop);
    if (!digest.ok() || digest.value() != source.sha256) {
      opened.problem = digest.ok() ? tr("No pictures: %1 is another file than the run's (its SHA-256 differs).").arg(opened.path) : tr("No pictures: %1").arg(qt(digest.error().message()));
      return opened;
    }
    const auto shapes = storage::inputShapes(core(opened.path));
    if (!shapes.ok() || shapes->empty()) {
      opened.problem = tr("No pictures: %1").arg(shapes.ok() ? tr("%1 holds no inputs").arg(name) : qt(shapes.error().message()));
      return opened;
    }
    opened.shownFirst = -1;
    for (const storage::InputShape& input : shapes.value()) {
      if (opened.shownFirst < 0 && render::givesPicture(input.dtype, shapeOfOne(input, sampleAxis(source, input.name, static_cast<std::size_t>(opened.inputs.size()))))) opened.shownFirst = static_cast<int>(opened.inputs.size());
      opened.inputs << qt(input.name);
    }
    opened.shownFirst = std::max(0, opened.shownFirst);
    return opened;
  };
  QtConcurrent::run(&m_pool, look).then(this, [this, generation = m_generation](const Opened& file) {
    if (generation != m_generation) return;
    m_path = file.path;
    m_inputs = file.inputs;
    if (file.problem.isEmpty()) emit opened(file.inputs, file.shownFirst);
    else emit failed(file.problem);
  });
}

void InputLoader::load(const ThumbnailRequest& request) {
  if (!m_source || request.samples.empty()) return;
  if (m_isBusy) m_next = request;
  else start(request);
}

void InputLoader::start(const ThumbnailRequest& request) {
  m_isBusy = true;
  const std::string input = core(request.input);
  const storage::SampleSlices slices{input, sampleAxis(*m_source, input, static_cast<std::size_t>(std::max<qsizetype>(m_inputs.indexOf(request.input), 0))), request.samples};
  const auto read = [request, slices, path = core(m_path)] {
    ThumbnailBatch batch;
    const auto tensors = storage::readSamples(path, slices);
    if (!tensors.ok()) return std::pair(batch, tr("No pictures: %1").arg(qt(tensors.error().message())));
    for (std::size_t i = 0; i < request.samples.size(); ++i)
      batch.emplace_back(request.samples[i], std::make_shared<const render::Thumbnail>(render::thumbnailOf(tensors.value()[i], request.most, request.theme)));
    return std::pair(batch, QString());
  };
  QtConcurrent::run(&m_pool, read).then(this, [this, generation = m_generation, shown = request.input](const std::pair<ThumbnailBatch, QString>& result) {
    m_isBusy = false;
    const std::optional<ThumbnailRequest> next = std::exchange(m_next, std::nullopt);
    if (generation == m_generation) {
      if (result.second.isEmpty()) emit loaded(shown, result.first);
      else emit failed(result.second);
    }
    if (next && !m_isBusy) load(*next);
  });
}

}  // namespace ulpscope::jobs
