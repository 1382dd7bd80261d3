#include "core/analysis/diagnosis.h"

#include "core/base/float_formats.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::analysis {
namespace {

constexpr std::size_t kShownSamples = 6;

bool isLow(base::DType dtype) { return dtype == base::DType::float16 || dtype == base::DType::bfloat16; }

const OperandFacts* overflowingCast(const OriginFacts& facts) {
  for (const OperandFacts& o : facts.operands)
    if (isLow(o.castTo) && !isLow(o.dtype) && o.candidate.range.maxAbs >= base::limits(o.castTo).overflowFrom) return &o;
  return nullptr;
}

// Zeros that the reference does not have: on arrival, or made by the cast (at most half the smallest subnormal rounds to zero).
bool hasNewZeros(const OperandFacts& o) {
  if (o.candidate.zeros > o.referenceZeros) return true;
  return isLow(o.castTo) && !isLow(o.dtype) && o.candidate.smallestNonZero <= base::limits(o.castTo).minSubnormal / 2;
}

bool opIs(const OriginFacts& facts, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) {
    const std::string name = std::string("aten::") + n;
    return facts.op == name || facts.op == name + "_";
  });
}

bool dividesByNewZero(const OriginFacts& facts) {
  if (opIs(facts, {"reciprocal", "rsqrt"})) return !facts.operands.empty() && hasNewZeros(facts.operands.front());
  return opIs(facts, {"div", "true_divide"}) && facts.operands.size() > 1 && hasNewZeros(facts.operands[1]);
}

bool logOfNewZero(const OriginFacts& facts) {
  return opIs(facts, {"log", "log2", "log10", "log1p"}) && !facts.operands.empty() && hasNewZeros(facts.operands.front());
}

std::string place(const OriginFacts& facts) { return facts.modulePath.empty() ? "the root module" : facts.modulePath; }

std::string valuesText(const session::NonfiniteCounts& counts) {
  std::string text;
  const auto add = [&](std::int64_t n, const char* what) {
    if (n > 0) text += (text.empty() ? "" : " and ") + std::string(what);
  };
  add(counts.nan, "NaN");
  add(counts.plusInf, "+inf");
  add(counts.minusInf, "-inf");
  return text;
}

}  // namespace

std::string causeOf(const OriginFacts& facts) {
  if (const OperandFacts* operand = overflowingCast(facts)) return "overflow in the cast of operand '" + operand->name + "'";
  if (dividesByNewZero(facts)) return "division by an underflowed zero";
  if (logOfNewZero(facts)) return "log of an underflowed zero";
  const bool infinities = facts.counts.plusInf + facts.counts.minusInf > 0;
  if (infinities && facts.referenceThere.range.maxAbs >= base::limits(facts.low).overflowFrom) return "overflow";
  return infinities ? "infinite result" : "invalid operation";
}

std::string diagnosisOf(const OriginFacts& facts, const std::string& cause) {
  const std::string samples = samplesText(facts.sampleIds, facts.wholeBatch);
  const double maxFinite = base::limits(facts.low).maxFinite;
  const auto format = [](double x) { return std::fabs(x) < 1e15 ? base::groupedNumber(x) : base::shortNumber(x); };
  if (cause == "overflow")
    return fmt::format("{} overflows in {}: |x| = {} > {} in {}", place(facts), facts.op, format(facts.referenceThere.range.maxAbs),
                       format(maxFinite), samples);
  if (const OperandFacts* operand = overflowingCast(facts))
    return fmt::format("{} overflows in {}: operand '{}' has |x| = {} > {} when cast to {}, in {}", place(facts), facts.op,
                       operand->name, format(operand->candidate.range.maxAbs), format(maxFinite), base::name(operand->castTo), samples);
  return fmt::format("{}: {} gives {} ({}) where FP32 has |x| = {} at most, in {}", place(facts), facts.op, valuesText(facts.counts),
                     cause, format(facts.referenceThere.range.maxAbs), samples);
}

std::string samplesText(const std::vector<std::string>& ids, bool wholeBatch) {
  if (wholeBatch || ids.empty()) return "the batch (samples not told apart)";
  std::string text = ids.size() == 1 ? "sample " : "samples ";
  for (std::size_t i = 0; i < ids.size() && i < kShownSamples; ++i) text += (i ? ", " : "") + ids[i];
  if (ids.size() > kShownSamples) text += fmt::format(" and {} more", ids.size() - kShownSamples);
  return text;
}

}  // namespace ulpscope::analysis
