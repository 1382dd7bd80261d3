#include "captured_session.h"

#include "core/base/float_formats.h"
#include "core/storage/run_writer.h"
#include "sample_session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope::testing {
namespace {

using base::DType;
using Shape = std::vector<std::int64_t>;

struct Tensor {
  std::string module;
  Shape shape;
  DType reference, candidate;
  std::string referenceBytes, candidateBytes;
};

template <typename T>
std::string bytesOf(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Tensor image() {
  std::vector<float> a;
  std::vector<std::uint16_t> b;
  for (int sample = 0; sample < 4; ++sample)
    for (int i = 0; i < 24; ++i) {
      a.push_back(sample == 2 && i == kBadElement ? 100000.0F : static_cast<float>(i) / 10);
      b.push_back(base::halfFromFloat(a.back()));
    }
  return {"fc", {4, 3, 2, 4}, DType::float32, DType::float16, bytesOf(a), bytesOf(b)};
}

std::vector<Tensor> tensors() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> five(4 * 3 * 2 * 5 * 6, 0.25F), nans(8, kNan), scalar{3};
  const std::vector<std::uint8_t> boolA{0, 1, 1, 0, 1, 1}, boolB{0, 1, 1, 0, 1, 0};
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  const std::vector<std::int64_t> intA{1, 2, 3, big, 5, 6, 7, 8}, intB{1, 2, 3, big - 1, 5, 6, 7, 8};
  std::vector<std::uint16_t> low(16, base::bfloat16FromFloat(3)), other = low;
  other[7] = base::bfloat16FromFloat(3.015625F);  // the next one
  return {image(),
          {"five", {4, 3, 2, 5, 6}, DType::float32, DType::float32, bytesOf(five), bytesOf(five)},
          {"nan", {4, 2}, DType::float32, DType::float32, bytesOf(nans), bytesOf(nans)},
          {"empty", {4, 0, 3}, DType::float32, DType::float16, "", ""},
          {"scalar", {}, DType::float32, DType::float32, bytesOf(scalar), bytesOf(scalar)},
          {"bool", {2, 3}, DType::boolean, DType::boolean, bytesOf(boolA), bytesOf(boolB)},
          {"int64", {4, 2}, DType::int64, DType::int64, bytesOf(intA), bytesOf(intB)},
          {"bfloat16", {4, 4}, DType::bfloat16, DType::bfloat16, bytesOf(low), bytesOf(other)}};
}

session::SiteSummary siteOf(const Tensor& tensor) {
  session::SiteSummary site;
  site.modulePath = tensor.module;
  site.op = "aten::linear";
  site.source = "model.py:12";
  site.referenceDtype = tensor.reference;
  site.candidateDtype = tensor.candidate;
  site.shape = tensor.shape;
  site.sampleAxis = tensor.shape.size() > 1 && tensor.shape[0] == 4 ? "0" : "whole_batch";
  site.values[session::Metric::relL2] = 1e-4;
  site.values[session::Metric::referenceMin] = site.values[session::Metric::candidateMin] = -3;
  site.values[session::Metric::referenceMax] = site.values[session::Metric::candidateMax] = 4;
  return site;
}

void capture(storage::RunWriter& writer, const Tensor& tensor) {
  const bool onAxis0 = siteOf(tensor).sampleAxis == "0";
  const std::size_t index = writer.addCapture({tensor.module, onAxis0, onAxis0 ? 4 : 0});
  const auto put = [&](storage::RunSide side, DType dtype, const std::string& bytes) {
    const auto taken = writer.capture({index, side, dtype, tensor.shape, {}, bytes.data(), 0, 0});
    EXPECT_TRUE(taken.ok()) << (taken.ok() ? "" : taken.error().message());
  };
  put(storage::RunSide::reference, tensor.reference, tensor.referenceBytes);
  put(storage::RunSide::candidate, tensor.candidate, tensor.candidateBytes);
}

}  // namespace

QString writeCaptured(const QTemporaryDir& folder) {
  const QString path = folder.filePath(QStringLiteral("captured.ulps"));
  session::Session session = sampleSession();
  const std::vector<Tensor> stored = tensors();
  session.model.modules = {{"", "Net", {}, 0}};
  for (const Tensor& tensor : stored) session.model.modules.push_back({tensor.module, "Linear", {}, 8});
  for (const char* module : {"left", "none"}) session.model.modules.push_back({module, "Linear", {}, 8});
  auto writer = storage::RunWriter::begin(path.toStdString(), session, storage::WriteMode::create);
  EXPECT_TRUE(writer.ok());
  session::RunRecord run;
  run.createdUtc = "2026-01-31T14:02:07Z";
  run.samplesComplete = 4;
  run.settings.capture = {"fc"};
  run.capture = session::Capture{};
  run.capture->budget = 1024;
  for (const Tensor& tensor : stored) {
    capture(writer.value(), tensor);
    run.capture->sites.push_back({static_cast<std::int64_t>(run.sites.size()), 0});
    run.sites.push_back(siteOf(tensor));
  }
  run.capture->leftOut = {{static_cast<std::int64_t>(run.sites.size()), 4096, "budget"}};
  for (const char* module : {"left", "none"}) run.sites.push_back(siteOf({module, {4, 2}, DType::float32, DType::float32, "", ""}));
  const auto sites = static_cast<std::int64_t>(run.sites.size());
  storage::RunMetrics metrics;
  for (const auto metric : {session::Metric::relL2, session::Metric::maxAbs}) metrics[metric] = {sites, 4, std::vector<float>(static_cast<std::size_t>(sites) * 4, 1e-4F)};
  metrics.flags.assign(static_cast<std::size_t>(sites) * 4, 0);
  const auto ended = writer.value().finish(run, metrics, {});
  EXPECT_TRUE(ended.ok()) << (ended.ok() ? "" : ended.error().message());
  return path;
}

}  // namespace ulpscope::testing
