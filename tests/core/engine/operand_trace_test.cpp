// What each op site was given and where it came from (tests/support/fixtures/observed.py, Operands: expectations are read off its code).
#include "core/engine/operand_trace.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

using base::DType;
using session::SiteOperand;
using tests::runOf;
using tests::siteAt;
using From = SiteOperand::From;

class Operands : public testing::Test {
 protected:
  void run(const std::vector<std::string>& fp32 = {}, const std::string& fixture = "Operands") {
    session::RunRequest request = tests::requestFor("observed/" + fixture);
    request.settings.fp32 = fp32;
    request.settings.noiseFloor = false;
    m_outcome = runOf(request);
  }
  const session::SiteOperands& at(const std::string& module, const std::string& op, int nth = 0) {
    static const session::SiteOperands none;
    const std::int64_t site = siteAt(m_outcome, module, op, nth);
    if (site < 0) return none;
    const auto& operands = m_outcome.run.sites[static_cast<std::size_t>(site)].operands;
    EXPECT_TRUE(operands.has_value()) << op;
    return operands ? *operands : none;
  }
  // "input <- site lin: aten::linear"
  std::string text(const SiteOperand& o) {
    switch (o.from) {
      case From::site: return o.name + " <- " + session::siteLabel(m_outcome.run.sites.at(static_cast<std::size_t>(o.site)));
      case From::parameter: return o.name + " <- parameter " + o.origin;
      case From::input: return o.name + " <- input " + o.origin;
      case From::unknown: break;
    }
    return o.name + " <- ?";
  }
  std::vector<std::string> texts(const std::string& module, const std::string& op, int nth = 0) {
    std::vector<std::string> all;
    for (const SiteOperand& o : at(module, op, nth).listed) all.push_back(text(o));
    return all;
  }

  RunOutcome m_outcome;
};

TEST_F(Operands, AreInputsAndParametersByTheirNames) {
  run();
  EXPECT_THAT(texts("lin", "aten::linear"), testing::ElementsAre("input <- input x", "weight <- parameter lin.weight", "bias <- parameter lin.bias"));
}

TEST_F(Operands, ThatAreViewsComeFromTheViewAndBuffersHaveTheirName) {
  run();
  EXPECT_THAT(texts("", "aten::relu"), testing::ElementsAre("self <- lin: aten::linear"));
  EXPECT_THAT(texts("", "aten::mul"), testing::ElementsAre("self <- (root): aten::t", "other <- parameter scale"));
  EXPECT_EQ(at("", "aten::mul").listed.at(0).site, siteAt(m_outcome, "", "aten::t", 0)) << "the first of two";
}

TEST_F(Operands, InAListAreCountedUp) {
  run();
  EXPECT_THAT(texts("", "aten::cat"), testing::ElementsAre("tensors[0] <- (root): aten::t", "tensors[1] <- input x", "tensors[2] <- lin: aten::linear"));
  EXPECT_EQ(at("", "aten::cat").listed.at(0).site, siteAt(m_outcome, "", "aten::t", 1)) << "the second of two";
}

TEST_F(Operands, OfALongListAreTheFirstSixteenAndACount) {
  run();
  const session::SiteOperands& stack = at("", "aten::stack");
  EXPECT_EQ(stack.count, 20);
  ASSERT_EQ(stack.listed.size(), 16U);
  EXPECT_EQ(text(stack.listed.back()), "tensors[15] <- input x");
}

TEST_F(Operands, ThatAreConstantsAreUnknown) {
  run();
  EXPECT_THAT(texts("", "aten::add"), testing::ElementsAre("self <- (root): aten::cat", "other <- ?"));
}

TEST_F(Operands, ThatTheOpWritesComeFromWhoMadeThemBefore) {
  run();
  EXPECT_THAT(texts("", "aten::sub_"), testing::ElementsAre("self <- (root): aten::add"));
  EXPECT_EQ(texts("out", "aten::linear").at(0), "input <- (root): aten::sub_");
}

TEST_F(Operands, ThatWereWrittenInPartHaveNoOneOrigin) {
  run();
  EXPECT_THAT(texts("", "aten::sigmoid"), testing::ElementsAre("self <- ?"));
}

TEST_F(Operands, ThatAConversionHandsOnInOneRunComeFromTheConversion) {
  run();
  EXPECT_THAT(texts("", "aten::abs"), testing::ElementsAre("self <- (root): aten::to"));
  EXPECT_THAT(texts("", "aten::neg"), testing::ElementsAre("self <- out: aten::linear")) << "contiguous hands on what lies so already";
}

TEST_F(Operands, HaveTheirDtypesInBothRunsAndTheOneThatThePolicyCastsTo) {
  run();
  const auto dtypes = [](const SiteOperand& o) { return std::vector<std::optional<DType>>{o.referenceDtype, o.candidateDtype, o.castTo}; };
  using testing::ElementsAre;
  EXPECT_THAT(dtypes(at("lin", "aten::linear").listed.at(0)), ElementsAre(DType::float32, DType::float32, DType::float16));
  EXPECT_THAT(dtypes(at("", "aten::relu").listed.at(0)), ElementsAre(DType::float32, DType::float16, std::nullopt)) << "on no list";
  EXPECT_THAT(dtypes(at("", "aten::cat").listed.at(2)), ElementsAre(DType::float32, DType::float16, std::nullopt)) << "on no list: cat promotes by itself";
  EXPECT_THAT(dtypes(at("", "aten::atan2").listed.at(0)), ElementsAre(DType::float32, DType::float32, std::nullopt)) << "promoted to what it is";
  EXPECT_THAT(dtypes(at("", "aten::atan2").listed.at(1)), ElementsAre(DType::float32, DType::float16, DType::float32)) << "promoted";
  EXPECT_THAT(dtypes(at("", "aten::exp").listed.at(0)), ElementsAre(DType::float32, DType::float16, DType::float32)) << "on the fp32 list";
  EXPECT_THAT(dtypes(at("out", "aten::linear").listed.at(1)), ElementsAre(DType::float32, DType::float32, DType::float16));
}

TEST_F(Operands, ThatAnFp32RegionCastsAtItsBorderKeepTheirOrigin) {
  run({"tail"});
  const session::SiteOperands& tail = at("tail", "aten::linear");
  EXPECT_EQ(text(tail.listed.at(0)), "input <- out: aten::linear");
  EXPECT_EQ(tail.listed.at(0).candidateDtype, DType::float32);
  EXPECT_EQ(tail.listed.at(0).castTo, std::nullopt);
}

TEST_F(Operands, OfAnOpThatIsAnFp32RegionItselfAreCastUp) {
  run({"tail:aten::linear"});
  const SiteOperand& input = at("tail", "aten::linear").listed.at(0);
  EXPECT_EQ(input.candidateDtype, DType::float16);
  EXPECT_EQ(input.castTo, DType::float32);
}

TEST_F(Operands, OnWhichTheRunsDoNotAgreeAreUnknown) {
  run({}, "OperandsPart");
  ASSERT_FALSE(m_outcome.run.controlFlow.empty()) << "the runs should part";
  EXPECT_THAT(texts("", "aten::neg"), testing::ElementsAre("self <- ?")) << "of two ops that both ran in both";
  EXPECT_THAT(texts("", "aten::floor"), testing::ElementsAre("self <- ?")) << "of an op that ran in one only";
  EXPECT_THAT(texts("", "aten::abs"), testing::ElementsAre("self <- lin: aten::linear"));
}

TEST_F(Operands, AreTheSameForEveryBatchSize) {
  run();
  const auto once = texts("", "aten::cat");
  session::RunRequest request = tests::requestFor("observed/Operands");
  request.settings.batchSize = 2;
  m_outcome = runOf(request);
  EXPECT_EQ(texts("", "aten::cat"), once);
}

TEST_F(Operands, OfNativeAutocastAreCastAsItsListsSay) {
  session::RunRequest request = tests::requestFor("observed/Operands");
  request.settings.mode = session::Mode::native;
  request.settings.policyTable = "cpu";
  request.settings.autocast = DType::bfloat16;
  m_outcome = runOf(request);
  EXPECT_EQ(at("lin", "aten::linear").listed.at(0).castTo, DType::bfloat16);
  EXPECT_EQ(texts("", "aten::relu").at(0), "self <- lin: aten::linear");
}

TEST(Origins, OfADeadTensorAreNotThoseOfTheNextOneAtItsPlace) {
  Origins origins;
  const SiteKey site{{1}, 0};
  for (int i = 0; i < 1000; ++i) {
    const at::Tensor t = at::empty({1});
    ASSERT_EQ(origins.find(t, t._version()), nullptr) << i;
    origins.made(t, site);
    ASSERT_NE(origins.find(t, t._version()), nullptr);
  }
}

TEST(Origins, EndWhenTheTensorIsWritten) {
  Origins origins;
  at::Tensor t = at::zeros({2, 2});
  origins.made(t, {{1}, 0});
  t.select(0, 0).add_(1);
  EXPECT_EQ(origins.find(t, t._version()), nullptr);
}

}  // namespace
}  // namespace ulpscope::engine
