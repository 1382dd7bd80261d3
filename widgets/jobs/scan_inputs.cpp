#include "widgets/jobs/scan_inputs.h"

#include "core/model/positional_arguments.h"
#include "core/storage/input_samples.h"
#include "widgets/models/text.h"

#include <QFileInfo>
#include <QtConcurrent>

#include <algorithm>
#include <map>

namespace ulpscope::jobs {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using models::core;
using models::qt;
using storage::RawTensor;

// One input between the scan's samples.
struct InputWay {
  RawTensor start;
  std::optional<analysis::InputPath> path;  // empty: it does not move
  RawTensor at(const std::vector<double>& coefficients) const {
    RawTensor tensor = start;
    if (path && !coefficients.empty()) tensor.bytes = path->at(coefficients);
    return tensor;
  }
};

analysis::TensorView viewOf(const RawTensor& tensor) { return {tensor.bytes.data(), tensor.dtype, tensor.shape}; }

Result<std::vector<std::int64_t>> samplesOf(const ScanPlace& place) {
  const auto& ids = place.scan->session->samples.ids;
  std::vector<std::string> wanted = place.scan->scan.sampleIds;
  if (!place.sample.isEmpty()) wanted = {core(place.sample)};
  std::vector<std::int64_t> samples;
  for (const std::string& id : wanted) {
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end()) return Error{ErrorKind::input, "is no sample of the session", id, ""};
    samples.push_back(found - ids.begin());
  }
  return samples;
}

// A scan names inputs as forward's arguments.
std::string nameInFile(const std::vector<storage::InputShape>& held, const std::string& argument, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < held.size(); ++i)
    if (model::argumentOf(held[i].name, i, arguments) == argument) return held[i].name;
  return argument;
}

Result<InputWay> readWay(const std::string& path, const ScanPlace& place, const session::ScannedInput& input) {
  const auto samples = samplesOf(place);
  if (!samples.ok()) return samples.error();
  const auto held = storage::inputShapes(path);
  if (!held.ok()) return held.error();
  auto ends = storage::readSamples(path, {nameInFile(held.value(), input.name, place.source.arguments), place.source.axisOf(input.name), samples.value()});
  if (!ends.ok()) return ends.error();
  for (RawTensor& tensor : ends.value()) tensor.name = input.name;
  InputWay way{ends->front(), {}};
  if (!input.moves || ends->size() < 2) return way;
  std::vector<analysis::TensorView> others;
  for (std::size_t i = 1; i < ends->size(); ++i) others.push_back(viewOf(ends.value()[i]));
  way.path = analysis::InputPath::towards(viewOf(ends->front()), others);
  return way;
}

std::vector<session::ScannedInput> tensorsOf(const session::Scan& scan) {
  std::vector<session::ScannedInput> inputs;
  for (const session::ScannedInput& input : scan.inputs)
    if (!input.dtype.empty()) inputs.push_back(input);
  std::stable_partition(inputs.begin(), inputs.end(), [](const session::ScannedInput& input) { return input.moves; });
  return inputs;
}

}  // namespace

// For the loader's thread: what was read last stays.
class PointLoader::Reader {
 public:
  PointPicture read(const Request& request, const std::stop_token& stop) {
    PointPicture picture;
    const FoundInputs found = findInputs(request.place.source, m_digests, stop);
    if (!found.problem.isEmpty()) {
      picture.problem = tr("No picture: %1").arg(found.problem);
      return picture;
    }
    if (m_scan != request.place.scan || m_sample != request.place.sample) m_ways.clear();
    m_scan = request.place.scan;
    m_sample = request.place.sample;
    const auto inputs = tensorsOf(m_scan->scan);
    for (const session::ScannedInput& input : inputs) picture.inputs << qt(input.name);
    if (inputs.empty()) picture.problem = tr("No picture: the model takes no tensors.");
    else show(core(found.path), request, chosen(core(found.path), request, inputs), picture);
    return picture;
  }

 private:
  const Result<InputWay>& wayOf(const std::string& path, const ScanPlace& place, const session::ScannedInput& input) {
    const auto known = m_ways.find(input.name);
    return known != m_ways.end() ? known->second : m_ways.emplace(input.name, readWay(path, place, input)).first->second;
  }
  session::ScannedInput chosen(const std::string& path, const Request& request, const std::vector<session::ScannedInput>& inputs) {
    for (const session::ScannedInput& input : inputs)
      if (qt(input.name) == request.input) return input;
    for (const session::ScannedInput& input : inputs)
      if (const auto& way = wayOf(path, request.place, input); input.moves && way.ok() && render::givesPicture(way->start.dtype, way->start.shape)) return input;
    return inputs.front();
  }
  void show(const std::string& path, const Request& request, const session::ScannedInput& input, PointPicture& picture) {
    picture.input = qt(input.name);
    const auto& way = wayOf(path, request.place, input);
    if (!way.ok()) picture.problem = tr("No picture: %1").arg(qt(way.error().message()));
    else picture.thumbnail = std::make_shared<const render::Thumbnail>(render::thumbnailOf(way->at(request.place.coefficients), request.most, request.theme));
  }

  FileDigests m_digests;
  models::ScanPointer m_scan;
  QString m_sample;
  std::map<std::string, Result<InputWay>> m_ways;
};

PointLoader::PointLoader(QObject* parent) : QObject(parent), m_reader(std::make_shared<Reader>()) { m_pool.setMaxThreadCount(1); }

PointLoader::~PointLoader() {
  m_stop.request_stop();
  m_pool.waitForDone();
}

void PointLoader::drop() {
  ++m_generation;
  m_next.reset();
}

void PointLoader::load(const Request& request) {
  if (m_isBusy) m_next = request;
  else start(request);
}

void PointLoader::start(const Request& request) {
  m_isBusy = true;
  QtConcurrent::run(&m_pool, [request, reader = m_reader, stop = m_stop.get_token()] { return reader->read(request, stop); })
      .then(this, [this, generation = m_generation](const PointPicture& picture) {
        m_isBusy = false;
        const std::optional<Request> next = std::exchange(m_next, std::nullopt);
        if (next) start(*next);
        else if (generation == m_generation) emit loaded(picture);
      });
}

namespace {

base::Status writePoint(const PointWriter::Order& order, const std::stop_token& stop) {
  FileDigests digests;
  const FoundInputs found = findInputs(order.place.source, digests, stop);
  if (!found.problem.isEmpty()) return Error{ErrorKind::input, core(found.problem), "inputs", "no file was written"};
  storage::AddedSample sample;
  sample.id = core(order.id);
  sample.label = order.label;
  for (const session::ScannedInput& input : order.place.scan->scan.inputs) {
    if (input.dtype.empty()) return Error{ErrorKind::input, "is no tensor, which an HDF5 inputs file cannot hold", input.name, "add the sample in Python"};
    if (order.place.source.axisOf(input.name) < 0) continue;
    const auto way = readWay(core(found.path), order.place, input);
    if (!way.ok()) return way.error();
    sample.inputs.push_back(way->at(order.place.coefficients));
  }
  return storage::writeWithSample(core(order.path), {core(found.path), order.place.scan->session->samples, order.place.source.batchAxis, order.place.source.arguments}, sample);
}

}  // namespace

PointWriter::PointWriter(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

PointWriter::~PointWriter() {
  m_stop.request_stop();
  m_pool.waitForDone();
}

void PointWriter::write(const Order& order) {
  m_isBusy = true;
  QtConcurrent::run(&m_pool, [order, stop = m_stop.get_token()] { return std::make_shared<base::Status>(writePoint(order, stop)); })
      .then(this, [this, path = order.path](const std::shared_ptr<base::Status>& outcome) {
        m_isBusy = false;
        outcome->ok() ? emit written(path) : emit failed(outcome->error());
      });
}

}  // namespace ulpscope::jobs
