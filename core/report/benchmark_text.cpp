#include "core/report/benchmark_text.h"

#include "core/analysis/speed.h"
#include "core/base/number_text.h"
#include "core/base/size_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace ulpscope::report {
namespace {

using analysis::Speed;
using analysis::SpeedShown;
using base::jsonNumber;
using nlohmann::json;
using session::Benchmark;
using session::PeakMemory;

std::string lowName(const Benchmark& b) { return b.conditions.autocast == "bfloat16" ? "BF16" : b.conditions.autocast == "float16" ? "FP16" : b.conditions.autocast; }

// Four digits, and more where only they tell it from 1.
std::string ratioText(double ratio) {
  std::string text = fmt::format("{:.4g}", ratio);
  for (int digits = 5; text == "1" && ratio != 1 && digits <= 17; ++digits) text = fmt::format("{:.{}g}", ratio, digits);
  return text;
}

std::string secondsText(double seconds) {
  if (seconds < 1e-3) return base::shortNumber(1e6 * seconds) + " us";
  return seconds < 1 ? base::shortNumber(1e3 * seconds) + " ms" : base::shortNumber(seconds) + " s";
}

std::string intervalText(const Speed& speed) {
  return fmt::format("{:.1f} % interval {} to {}", 100 * speed.ratio.coverage, ratioText(speed.ratio.low), ratioText(speed.ratio.high));
}

std::string workNoun(const Benchmark& b) { return b.runId.empty() ? "a step" : "a forward"; }

std::string memoryText(const PeakMemory& m, const Benchmark& b) {
  if (!m.whyNot.empty()) return "peak memory not measured: " + m.whyNot;
  const auto size = [](std::int64_t bytes) { return base::sizeText(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0))); };
  return fmt::format("peak memory {} resident over {}, {} more than before them", size(m.peakBytes), base::counted(m.forwards, b.runId.empty() ? "step" : "forward"), size(m.addedBytes()));
}

std::string sideText(double seconds, double cpuSeconds, const PeakMemory& memory, const Benchmark& b) {
  return fmt::format("{} {}, {} of processor time (medians); {}", secondsText(seconds), workNoun(b), secondsText(cpuSeconds), memoryText(memory, b));
}

std::string inputsText(const Benchmark& b) {
  std::vector<std::string> inputs;
  for (const session::TimedInput& input : b.conditions.inputs)
    inputs.push_back(input.dtype.empty() ? input.name : fmt::format("{} {} [{}]", input.name, input.dtype, fmt::join(input.shape, ", ")));
  return fmt::format("{}", fmt::join(inputs, ", "));
}

std::string policyText(const Benchmark& b) {
  const session::BenchmarkConditions& c = b.conditions;
  std::string text = fmt::format("{} {} autocast, {}", c.mode, lowName(b), c.policyTable);
  if (!c.fp32.empty()) text += fmt::format(", FP32: {}", fmt::join(c.fp32, ", "));
  if (!c.disable.empty()) text += fmt::format(", autocast off: {}", fmt::join(c.disable, ", "));
  if (!c.castCache) text += ", no cast cache";
  return text + (c.trainMode ? ", train mode" : "");
}

std::string machineText(const Benchmark& b) {
  const session::BenchmarkConditions& c = b.conditions;
  const std::string instructions = c.bfloat16Instructions.empty() ? "no BF16 instructions" : fmt::format("BF16 instructions {}", fmt::join(c.bfloat16Instructions, " "));
  return fmt::format("{}, {} usable, {}; load {} before, {} after", c.processor, base::counted(c.processors, "processor"), instructions, base::shortNumber(c.loadBefore), base::shortNumber(c.loadAfter));
}

std::string standsOn(const Benchmark& b) {
  const std::string what = b.runId.empty() ? fmt::format("training {}", b.training) : b.runId;
  const std::string how = b.runId.empty() ? "trained again as it was timed" : "judged again after the timing, whose outputs are bit for bit the judged ones";
  return fmt::format("{}: {} by criteria revision {} (SHA-256 {:.12}), {}", what, session::name(b.recheck.status), b.recheck.revision, b.recheck.sha256, how);
}

json speedJson(const Benchmark& b, const Speed& speed) {
  constexpr const char* kShown[] = {"faster", "slower", "no difference shown"};
  return {{"shown", kShown[static_cast<int>(speed.shown)]},
          {"ratio", speed.ratio.median},
          {"ratio_low", speed.ratio.low},
          {"ratio_high", speed.ratio.high},
          {"coverage", speed.ratio.coverage},
          {"pairs", b.pairs.size()},
          {"threads", b.conditions.threads},
          {"batch_size", b.conditions.batchSize},
          {"reference_seconds", speed.referenceSeconds},
          {"candidate_seconds", speed.candidateSeconds},
          {"reference_cpu_seconds", speed.referenceCpuSeconds},
          {"candidate_cpu_seconds", speed.candidateCpuSeconds}};
}

json emptyDocument(const std::string& status, const std::string& sessionPath) {
  return {{"schema", 1},           {"status", status},       {"reason", nullptr}, {"session", sessionPath.empty() ? json(nullptr) : json(sessionPath)},
          {"number", nullptr},     {"created", nullptr},     {"run_id", nullptr}, {"training", nullptr},
          {"verdict", nullptr},    {"headline", nullptr},    {"speed", nullptr},  {"memory", nullptr},
          {"conditions", nullptr}, {"pairs", json::array()}, {"warnings", json::array()}, {"error", nullptr}};
}

}  // namespace

std::string benchmarkHeadline(const Benchmark& b) {
  const auto speed = analysis::speedOf(b.pairs);
  if (!speed) return "no speed can be told: " + speed.error().message();
  const std::string low = lowName(b) + " autocast", ratio = ratioText(speed->ratio.median);
  const std::string conditions = fmt::format("{}, median of {} pairs, {}, batches of {}", intervalText(speed.value()), b.pairs.size(), base::counted(b.conditions.threads, "thread"), b.conditions.batchSize);
  switch (speed->shown) {
    case SpeedShown::faster: return fmt::format("{} is faster here: FP32 takes {} times as long ({})", low, ratio, conditions);
    case SpeedShown::slower: return fmt::format("{} is slower here: FP32 takes {} of its time ({})", low, ratio, conditions);
    case SpeedShown::noDifference: break;
  }
  return fmt::format("No difference shown: FP32's time over {}'s is {}, and the interval holds 1 ({})", low, ratio, conditions);
}

std::vector<BenchmarkRow> benchmarkRows(const Benchmark& b) {
  const session::BenchmarkConditions& c = b.conditions;
  std::vector<BenchmarkRow> rows;
  if (const auto speed = analysis::speedOf(b.pairs)) {
    rows.push_back({"FP32", sideText(speed->referenceSeconds, speed->referenceCpuSeconds, b.reference, b)});
    rows.push_back({lowName(b), sideText(speed->candidateSeconds, speed->candidateCpuSeconds, b.candidate, b)});
  }
  rows.push_back({"Work", fmt::format("{}, batches of {}: {}", c.work, c.batchSize, inputsText(b))});
  rows.push_back({"Method", fmt::format("{} after {} to warm up, in alternating order, {}; interception {}; memory of each side in a process of its own", base::counted(static_cast<std::int64_t>(b.pairs.size()), "pair"),
                                        c.warmUpPairs, base::counted(c.threads, "thread"), c.interception)});
  rows.push_back({"Policy", policyText(b)});
  rows.push_back({"Machine", machineText(b)});
  rows.push_back({"Software", fmt::format("Ulpscope {}, LibTorch {} (TorchScript's interpreter, no fusion), BLAS {}", c.ulpscope, c.libtorch, c.blas.empty() ? "of LibTorch's choice" : c.blas)});
  rows.push_back({"Stands on", standsOn(b)});
  rows.push_back({"Measured", b.createdUtc});
  return rows;
}

std::string benchmarkText(const Benchmark& b) {
  std::string text = benchmarkHeadline(b) + "\n";
  for (const std::string& warning : b.warnings) text += fmt::format("  {:<10} {}\n", "Note", warning);  // before what it speaks against
  for (const BenchmarkRow& row : benchmarkRows(b)) text += fmt::format("  {:<10} {}\n", row.name, row.text);
  return text;
}

json benchmarkDocument(const Benchmark& b, const std::string& sessionPath) {
  json document = emptyDocument("measured", sessionPath);
  document["number"] = b.number > 0 ? json(b.number) : json(nullptr);
  document["created"] = b.createdUtc;
  document["run_id"] = b.runId.empty() ? json(nullptr) : json(b.runId);
  document["training"] = b.training > 0 ? json(b.training) : json(nullptr);
  document["verdict"] = toJson(std::optional(b.recheck));
  document["headline"] = benchmarkHeadline(b);
  if (const auto speed = analysis::speedOf(b.pairs)) document["speed"] = speedJson(b, speed.value());
  document["memory"] = {{"reference", toJson(b.reference)}, {"candidate", toJson(b.candidate)}};
  document["conditions"] = toJson(b.conditions);
  document["pairs"] = session::toJson(b).at("pairs");
  document["warnings"] = b.warnings;
  return document;
}

json noBenchmarkDocument(const std::string& status, const std::string& reason, const std::optional<session::Verdict>& verdict, const std::string& sessionPath) {
  json document = emptyDocument(status, sessionPath);
  document["reason"] = reason;
  document["verdict"] = toJson(verdict);
  return document;
}

json benchmarkErrorDocument(const base::Error& error) {
  json document = emptyDocument(error.kind == base::ErrorKind::cancelled ? "cancelled" : "error", "");
  document["error"] = toJson(error);
  return document;
}

}  // namespace ulpscope::report
