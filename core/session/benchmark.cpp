#include "core/session/benchmark.h"

#include "core/base/number_text.h"

#include <nlohmann/json.hpp>

namespace ulpscope::session {
namespace {

using base::jsonNumber;
using base::numberFromJson;
using nlohmann::json;

json toJson(const TimedPair& p) {
  return {{"batch", p.batch},
          {"candidate_first", p.candidateFirst},
          {"reference_seconds", p.referenceSeconds},
          {"candidate_seconds", p.candidateSeconds},
          {"reference_cpu_seconds", p.referenceCpuSeconds},
          {"candidate_cpu_seconds", p.candidateCpuSeconds}};
}

TimedPair pairFrom(const json& j) {
  return {j.at("batch"), j.at("candidate_first"), j.at("reference_seconds"), j.at("candidate_seconds"), j.at("reference_cpu_seconds"), j.at("candidate_cpu_seconds")};
}

TimedInput inputFrom(const json& j) { return {j.at("name"), j.at("dtype"), j.at("shape").get<std::vector<std::int64_t>>()}; }

BenchmarkConditions conditionsFrom(const json& j) {
  BenchmarkConditions c;
  c.work = j.at("work");
  c.mode = j.at("mode");
  c.autocast = j.at("autocast");
  c.policyTable = j.at("policy_table");
  c.fp32 = j.at("fp32").get<std::vector<std::string>>();
  c.disable = j.at("disable").get<std::vector<std::string>>();
  c.castCache = j.at("cast_cache");
  c.trainMode = j.at("train_mode");
  c.interception = j.at("interception");
  c.batchSize = j.at("batch_size");
  for (const json& input : j.at("inputs")) c.inputs.push_back(inputFrom(input));
  c.warmUpPairs = j.at("warm_up_pairs");
  c.threads = j.at("threads");
  c.processors = j.at("processors");
  c.processor = j.at("processor");
  c.bfloat16Instructions = j.at("bfloat16_instructions").get<std::vector<std::string>>();
  c.loadBefore = numberFromJson(j.at("load_before"));
  c.loadAfter = numberFromJson(j.at("load_after"));
  c.libtorch = j.at("libtorch");
  c.blas = j.at("blas");
  c.ulpscope = j.at("ulpscope");
  return c;
}

}  // namespace

json toJson(const PeakMemory& m) { return {{"before_bytes", m.beforeBytes}, {"peak_bytes", m.peakBytes}, {"forwards", m.forwards}, {"why_not", m.whyNot}}; }

PeakMemory peakMemoryFromJson(const json& j) { return {j.at("before_bytes"), j.at("peak_bytes"), j.at("forwards"), j.at("why_not")}; }

json toJson(const BenchmarkConditions& c) {
  json inputs = json::array();
  for (const TimedInput& input : c.inputs) inputs.push_back({{"name", input.name}, {"dtype", input.dtype}, {"shape", input.shape}});
  return {{"work", c.work},
          {"mode", c.mode},
          {"autocast", c.autocast},
          {"policy_table", c.policyTable},
          {"fp32", c.fp32},
          {"disable", c.disable},
          {"cast_cache", c.castCache},
          {"train_mode", c.trainMode},
          {"interception", c.interception},
          {"batch_size", c.batchSize},
          {"inputs", inputs},
          {"warm_up_pairs", c.warmUpPairs},
          {"threads", c.threads},
          {"processors", c.processors},
          {"processor", c.processor},
          {"bfloat16_instructions", c.bfloat16Instructions},
          {"load_before", jsonNumber(c.loadBefore)},
          {"load_after", jsonNumber(c.loadAfter)},
          {"libtorch", c.libtorch},
          {"blas", c.blas},
          {"ulpscope", c.ulpscope}};
}

json toJson(const Benchmark& b) {
  json pairs = json::array();
  for (const TimedPair& pair : b.pairs) pairs.push_back(toJson(pair));
  return {{"number", b.number},
          {"created", b.createdUtc},
          {"run_id", b.runId},
          {"training", b.training},
          {"conditions", toJson(b.conditions)},
          {"pairs", pairs},
          {"reference_memory", toJson(b.reference)},
          {"candidate_memory", toJson(b.candidate)},
          {"recheck", toJson(std::optional<Verdict>(b.recheck))},
          {"warnings", b.warnings}};
}

Benchmark benchmarkFromJson(const json& j) {
  Benchmark b;
  b.number = j.at("number");
  b.createdUtc = j.at("created");
  b.runId = j.at("run_id");
  b.training = j.at("training");
  b.conditions = conditionsFrom(j.at("conditions"));
  for (const json& pair : j.at("pairs")) b.pairs.push_back(pairFrom(pair));
  b.reference = peakMemoryFromJson(j.at("reference_memory"));
  b.candidate = peakMemoryFromJson(j.at("candidate_memory"));
  b.recheck = verdictFromJson(j.at("recheck")).value_or(Verdict{});
  b.warnings = j.at("warnings").get<std::vector<std::string>>();
  return b;
}

}  // namespace ulpscope::session
