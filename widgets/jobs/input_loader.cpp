#include "widgets/jobs/input_loader.h"

#include "core/model/positional_arguments.h"
#include "core/storage/input_samples.h"
#include "widgets/models/text.h"

#include <QFileInfo>
#include <QtConcurrent>

namespace ulpscope::jobs {

using models::core;
using models::qt;

struct InputLoader::Opened {
  QString path;
  QStringList inputs;
  int shownFirst = 0;
  QString problem;  // empty: it is the run's file
};

namespace {

std::vector<std::int64_t> shapeOfOne(const storage::InputShape& input, int axis) {
  std::vector<std::int64_t> shape = input.shape;
  if (axis >= 0 && axis < static_cast<int>(shape.size())) shape.erase(shape.begin() + axis);
  return shape;
}

}  // namespace

InputLoader::InputLoader(QObject* parent) : QObject(parent), m_digests(std::make_shared<FileDigests>()) { m_pool.setMaxThreadCount(1); }

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
    const FoundInputs found = findInputs(source, *digests, stop);
    opened.path = found.path;
    if (!found.problem.isEmpty()) {
      opened.problem = tr("No pictures: %1").arg(found.problem);
      return opened;
    }
    const auto shapes = storage::inputShapes(core(opened.path));
    if (!shapes.ok() || shapes->empty()) {
      opened.problem = tr("No pictures: %1").arg(shapes.ok() ? tr("%1 holds no inputs").arg(QFileInfo(source.path).fileName()) : qt(shapes.error().message()));
      return opened;
    }
    opened.shownFirst = -1;
    for (const storage::InputShape& input : shapes.value()) {
      const std::string argument = model::argumentOf(input.name, static_cast<std::size_t>(opened.inputs.size()), source.arguments);
      if (opened.shownFirst < 0 && render::givesPicture(input.dtype, shapeOfOne(input, source.axisOf(argument)))) opened.shownFirst = static_cast<int>(opened.inputs.size());
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
  const auto place = static_cast<std::size_t>(std::max<qsizetype>(m_inputs.indexOf(request.input), 0));
  const storage::SampleSlices slices{input, m_source->axisOf(model::argumentOf(input, place, m_source->arguments)), request.samples};
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
