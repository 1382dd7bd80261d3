#include "sample_run.h"

#include <limits>

namespace ulpscope::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

session::SiteSummary site(const std::string& module, const std::string& op, double relL2, double maxAbs) {
  session::SiteSummary s;
  s.modulePath = module;
  s.op = op;
  s.source = "model.py:12";
  s.candidateDtype = base::DType::float16;
  s.sampleAxis = "0";
  s.values[session::Metric::relL2] = relL2;
  s.values[session::Metric::maxAbs] = maxAbs;
  s.worstSample = 17;
  return s;
}

std::vector<session::SiteSummary> sites() {
  std::vector<session::SiteSummary> all{site("encoder.0.ffn.wi", "aten::linear", 3e-4, 0.5),
                                        site("encoder.0.ffn.wo", "aten::linear", kInf, 2.25),
                                        site("", "aten::add", kNan, kNan), site("head", "aten::linear", 0.012, 0.75),
                                        site("head", "aten::t", 0, 0)};
  all[1].candidateOnly = {0, 3, 1};
  all[1].role = session::NonfiniteRole::origin;
  all[1].values[session::Metric::headroomBits] = -0.32;
  all[2].overload = "Tensor";
  all[2].candidateOnly = {4, 0, 0};
  all[2].role = session::NonfiniteRole::consequence;
  all[2].sampleAxis = "whole_batch";
  all[3].occurrence = 2;
  all[3].values[session::Metric::introducedRelL2] = 0.0005;
  all[0].values[session::Metric::introducedRelL2] = 0.0002;
  all[4].viewOf = "head: weight";
  using From = session::SiteOperand::From;
  constexpr auto kFloat = base::DType::float32, kHalf = base::DType::float16;
  all[0].operands = session::SiteOperands{{{"input", kFloat, kFloat, kHalf, From::input, -1, "x"}}, 1};
  all[1].operands = session::SiteOperands{{{"input", kFloat, kHalf, {}, From::site, 0, ""}, {"weight", kFloat, kFloat, kHalf, From::parameter, -1, "encoder.0.ffn.wo.weight"}, {"bias", kFloat, {}, {}, From::unknown, -1, ""}}, 3};
  return all;
}

session::NonfiniteFinding overflow() {
  session::NonfiniteFinding f;
  f.stage = "intermediate";
  f.site = 1;
  f.op = "aten::linear";
  f.modulePath = "encoder.0.ffn.wo";
  f.source = "model.py:12";
  f.sampleIds = {"s142", "s17"};
  f.counts = {0, 3, 1};
  f.cause = "overflow";
  f.operands = {{"input", base::DType::float16, {-3, 512, 512}}};
  f.reference = {-70000, 81920, 81920};
  f.diagnosis = "encoder.0.ffn.wo overflows: |x| = 81,920 > 65,504 in samples s142, s17.";
  return f;
}

session::Flip flip(const std::string& id, std::int64_t reference, std::int64_t candidate) {
  session::Flip f;
  f.sampleId = id;
  f.sample = std::stoll(id.substr(1));
  f.referenceDecision = reference;
  f.candidateDecision = candidate;
  f.referenceMargin = 0.0004;
  f.candidateMargin = kInf;
  f.kind = "changed";
  f.referenceTop = {{reference, reference == 3 ? "three" : "", 4.5}, {candidate, "", 4.4996}};
  f.candidateTop = {{candidate, "", kInf}, {reference, "", 4.5}};
  return f;
}

session::RunRecord firstRun() {
  session::RunRecord run;
  run.number = 1;
  run.createdUtc = "2026-01-31T14:02:07Z";
  run.settings.decision.kind = session::DecisionRule::Kind::argmax;
  run.libtorchVersion = "1.13.0";
  run.policyTable = "cuda@1.13";
  run.samplesComplete = 256;
  run.warnings = {"stored in float16: not pure FP32"};
  run.sites = sites();
  run.outputs = {{"logits", {256, 10}, "0", base::DType::float16, 0.75, kInf, 0.012, 1e-5, std::nullopt, 2560, 1800, {20, 0, 0}}};
  run.nonfiniteOrigins = {overflow()};
  run.consequenceSites = 1;
  run.flips = {flip("s5", 3, 8), flip("s17", 1, 2), flip("s142", 1, 7)};
  run.flips[0].effect = "regressed";
  run.flips[0].firstSiteOverTolerance = 3;
  run.decisions.assign(256, {0.5, 0.5});
  run.noDecision = {"s1", "s2"};
  run.decisions[1].candidateMargin = run.decisions[2].candidateMargin = kNan;
  return run;
}

}  // namespace

session::Session sampleSession() {
  session::Session session;
  session.id = "0123";
  session.title = "ffn";
  session.model.path = "/models/ffn.ts";
  session.model.fingerprint = {"c0de", "3e19"};
  for (int i = 0; i < 256; ++i) session.samples.ids.push_back("s" + std::to_string(i));
  session.runs = {firstRun()};
  return session;
}

session::Session curedSession() {
  session::Session session = sampleSession();
  session::RunRecord run = firstRun();
  run.number = 2;
  run.settings.fp32 = {"encoder.0.ffn.wo"};
  run.nonfiniteOrigins.clear();
  run.consequenceSites = 0;
  run.flips.clear();
  run.noDecision.clear();
  run.decisions.assign(256, {0.5, 0.5});
  session.runs.push_back(run);
  return session;
}

}  // namespace ulpscope::test
