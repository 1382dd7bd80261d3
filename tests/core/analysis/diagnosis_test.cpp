#include "core/analysis/diagnosis.h"

#include <gmock/gmock.h>

namespace ulpscope::analysis {
namespace {

OriginFacts overflowing() {
  OriginFacts facts;
  facts.op = "aten::linear";
  facts.modulePath = "encoder.38.mlp.fc2";
  facts.counts.plusInf = 3;
  facts.referenceThere.range = {70000, 81920, 81920};
  facts.sampleIds = {"142", "17"};
  return facts;
}

TEST(Diagnosis, NamesModuleValueLimitAndSamples) {
  const OriginFacts facts = overflowing();
  EXPECT_EQ(causeOf(facts), "overflow");
  EXPECT_EQ(diagnosisOf(facts, "overflow"), "encoder.38.mlp.fc2 overflows in aten::linear: |x| = 81,920 > 65,504 in samples 142, 17");
}

TEST(Diagnosis, TheLimitIsThatOfTheFormat) {
  OriginFacts facts = overflowing();
  facts.low = base::DType::bfloat16;  // 81,920 is far from overflow there
  EXPECT_EQ(causeOf(facts), "infinite result");
  facts.referenceThere.range.maxAbs = 0x1.ffp127;
  EXPECT_EQ(causeOf(facts), "overflow");
}

TEST(Diagnosis, ValuesBelow65520DoNotOverflowFloat16) {
  OriginFacts facts = overflowing();
  facts.referenceThere.range.maxAbs = 65519;
  EXPECT_EQ(causeOf(facts), "infinite result");
  facts.referenceThere.range.maxAbs = 65520;
  EXPECT_EQ(causeOf(facts), "overflow");
}

TEST(Diagnosis, ACastThatOverflowsNamesItsOperand) {
  OriginFacts facts = overflowing();
  OperandFacts weight;
  weight.name = "weight";
  weight.castTo = base::DType::float16;
  weight.candidate.range = {0, 1e5, 1e5};
  facts.operands = {weight};
  EXPECT_EQ(causeOf(facts), "overflow in the cast of operand 'weight'");
  EXPECT_THAT(diagnosisOf(facts, causeOf(facts)), testing::HasSubstr("operand 'weight' has |x| = 100,000 > 65,504"));
}

TEST(Diagnosis, AnUnderflowedZeroIsNamedAsDivisorAndInALog) {
  OriginFacts facts = overflowing();
  facts.referenceThere.range.maxAbs = 655;
  facts.op = "aten::div";
  OperandFacts dividend, divisor;
  divisor.candidate.zeros = 2;
  facts.operands = {dividend, divisor};
  EXPECT_EQ(causeOf(facts), "division by an underflowed zero");
  facts.operands[1].referenceZeros = 2;  // FP32 has the zeros as well
  EXPECT_EQ(causeOf(facts), "infinite result");
  facts.op = "aten::log";
  facts.operands = {divisor};
  EXPECT_EQ(causeOf(facts), "log of an underflowed zero");
}

TEST(Diagnosis, NaNAloneIsAnInvalidOperation) {
  OriginFacts facts = overflowing();
  facts.counts = {4, 0, 0};
  EXPECT_EQ(causeOf(facts), "invalid operation");
}

TEST(Diagnosis, ManySamplesAreCounted) {
  EXPECT_EQ(samplesText({"7"}, false), "sample 7");
  EXPECT_EQ(samplesText({"1", "2", "3", "4", "5", "6", "7", "8"}, false), "samples 1, 2, 3, 4, 5, 6 and 2 more");
  EXPECT_EQ(samplesText({}, true), "the batch (samples not told apart)");
}

}  // namespace
}  // namespace ulpscope::analysis
