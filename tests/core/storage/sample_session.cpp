#include "tests/core/storage/sample_session.h"
#include "tests/support/stored_elements.h"

#include <nlohmann/json.hpp>

#include <bit>
#include <limits>

namespace ulpscope::tests {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();

session::SiteSummary overflowingSite() {
  session::SiteSummary site;
  site.modulePath = "encoder.0.fc2";
  site.op = "aten::linear";
  site.overload = "";
  site.source = "model.py:12";
  site.occurrence = 2;
  site.output = 1;
  site.candidateDtype = base::DType::float16;
  site.policyClass = "lower_precision_fp";
  site.shape = {3, 7};
  site.sampleAxis = "0:batch*n";
  site.values[session::Metric::maxAbs] = kNan;
  site.values[session::Metric::relL2] = kInf;
  site.values[session::Metric::referenceMaxAbs] = 81920.0;
  site.values[session::Metric::candidateMaxAbs] = 65504.0;
  site.worstSample = 2;
  site.elementsOverTolerance = 1LL << 40;
  site.differingElements = 5;
  site.candidateOnly = {1, 2, 3};
  site.reference = {4, 5, 6};
  site.role = session::NonfiniteRole::origin;
  site.values[session::Metric::maxUlp] = kNan;
  site.values[session::Metric::headroomBits] = -0.32;
  site.candidate = {7, 8, 9};
  site.noiseFloorRelL2 = kNan;
  site.elements = 21;
  return site;
}

session::SiteSummary quietSite() {
  session::SiteSummary site;
  site.modulePath = "";
  site.op = "aten::add";
  site.overload = "Tensor";
  site.viewOf = "größe, 2";
  site.values[session::Metric::maxAbs] = 1.0 / 3.0;
  site.values[session::Metric::relL2] = 5e-324;
  site.values[session::Metric::introducedRelL2] = 0.0;
  return site;
}

session::NonfiniteFinding finding() {
  session::NonfiniteFinding found;
  found.stage = "intermediate";
  found.site = 0;
  found.op = "aten::linear";
  found.modulePath = "encoder.0.fc2";
  found.sampleIds = {"b"};
  found.counts = {0, 2, 0};
  found.cause = "overflow";
  found.operands = {{"input", base::DType::float16, {-1.5, kInf, kNan}}};
  found.reference = {-81920, 3, 81920};
  found.diagnosis = "encoder.0.fc2 overflows: |x| = 81,920 > 65,504";
  return found;
}

session::Flip flip() {
  session::Flip flip;
  flip.sampleId = "c";
  flip.sample = 2;
  flip.referenceDecision = 1;
  flip.candidateDecision = 0;
  flip.referenceMargin = 1e-3;
  flip.candidateMargin = -kInf;
  flip.kind = "changed";
  flip.effect = "regressed";
  flip.positions = {3, 9};
  flip.referenceTop = {{1, "dog", 0.25}, {0, "", 0.2}};
  flip.candidateTop = {{0, "cat", kNan}};
  flip.firstSiteOverTolerance = 1;
  return flip;
}

storage::OutputTensors output(const std::string& name, base::DType dtype) {
  storage::OutputTensors tensors;
  tensors.name = name;
  tensors.shape = {3, 2};
  tensors.reference = storedElements(base::DType::float32, {255.979F, 65520.0F, kNanF, -kInfF, 1e-40F, -0.0F});
  tensors.candidate = storedElements(dtype, {256.0F, kInfF, kNanF, -kInfF, 0.0F, -0.0F});
  return tensors;
}

}  // namespace

session::Session sampleSession() {
  session::Session session = storage::newSession("digits");
  session.model.path = "/models/digits.ts";
  session.model.fingerprint = {"code", "weights"};
  session.model.modules = {{"", "Net", {}, 0}, {"encoder.0.fc2", "Linear", {"tied"}, 21}};
  session.model.arguments = {{"x", "Tensor", false}};
  session.model.warnings = {"stored in float16"};
  session.samples = {"in.h5", "abc", "labels.txt", "", {"a", "b", "c"}, {0, 1, 1}, {0.5, -1, 2}, {"cat", "dög"}, {"common", "edge", "boundary"}, "resize-256"};
  return session;
}

SampleRun sampleRun() {
  SampleRun sample;
  session::RunRecord& run = sample.run;
  run.createdUtc = "2026-01-31T14:02:07Z";
  run.settings.fp32 = {"encoder.0"};
  run.settings.seed = 0xFFFFFFFFFFFFFFFFULL;
  run.settings.batchAxis = {{"x", 1}};
  run.settings.decision.kind = session::DecisionRule::Kind::argmax;
  run.libtorchVersion = "1.13.1";
  run.policyTable = "cuda@1.13";
  run.probeCheck = "identical";
  run.samplesComplete = 3;
  run.elapsedSeconds = 0.25;
  run.warnings = {"a warning"};
  run.unresolvedCalls = {"a call"};
  run.sites = {overflowingSite(), quietSite()};
  run.outputs = {{"logits", {3, 2}, "0", base::DType::float16, kNan, 0.5, std::nullopt, 0.0, 3.0}};
  run.nonfiniteOrigins = {finding()};
  run.consequenceSites = 4;
  run.candidateError = session::CandidateError{"aten::mm", "fc", "expected Half"};
  run.controlFlow = {{"loop", "aten::add", "one more iteration"}};
  run.flips = {flip()};
  run.decisions = {{1.0, kNan}, {-kInf, 0.5}, {1e-3, -1e-3}};
  run.noDecision = {"a"};
  run.nonfiniteSamples = {"c"};
  run.moduleOutputs = {{"encoder.0.fc2", 1, "output", 0, false}, {"", 2, "output.key", 1, true}};
  run.accumulation = session::Accumulation{{{"logits", 1e-3, kNan, 2, 3}}, 1, 2, {"b"}};
  run.noiseFloor = session::NoiseFloor{"", 4, {{"logits", 1e-7, kNan}}, {"b"}};
  run.capture = session::Capture{1LL << 30, {}, {{1, 1LL << 33, "budget"}}};
  sample.metrics[session::Metric::relL2] = {2, 3, {0.0F, kNanF, kInfF, 1e-3F, -0.0F, 1e-45F}};
  sample.metrics[session::Metric::maxAbs] = {2, 3, {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, kNanF}};
  sample.metrics.flags = {0, storage::kCellNan, storage::kCellPlusInf, 64, 32, 127};
  sample.outputs = {output("logits", base::DType::float16), output("a/b", base::DType::bfloat16), output("", base::DType::float32)};
  return sample;
}

std::string allOf(const session::Session& session) {
  nlohmann::json all = {{"id", session.id}, {"created", session.createdUtc}, {"creator", session.creatorVersion},
                        {"generation", session.generation}, {"title", session.title}, {"model", model::toJson(session.model)},
                        {"ids", session.samples.ids}, {"labels", session.samples.labels}, {"classes", session.samples.classNames},
                        {"path", session.samples.path}, {"sha256", session.samples.sha256},
                        {"labels_path", session.samples.labelsPath}, {"class_names_path", session.samples.classNamesPath}};
  for (const session::RunRecord& run : session.runs) {
    nlohmann::json record = session::toJson(run);
    for (const session::SiteSummary& site : run.sites) record["sites"].push_back(session::toJson(site));
    all["runs"].push_back(record);
  }
  return all.dump(1);
}

std::vector<std::uint32_t> bitsOf(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

}  // namespace ulpscope::tests
