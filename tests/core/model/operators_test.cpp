#include "core/model/operators.h"

#include <gmock/gmock.h>

namespace ulpscope::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

StaticOp site(const std::string& module, const std::string& op, const std::string& policyClass) {
  return {module, op, "", "net.py:1", policyClass, {{"cuda@1.13", "fp32"}, {"cuda@2.6", policyClass}}};
}
std::vector<Operator> operatorsOf(const std::vector<StaticOp>& ops) { return model::operatorsOf(ops, std::vector<OpKernel>(ops.size(), {"own", true})); }

TEST(Operators, StandOnceInTheOrderOfTheCode) {
  const auto operators = operatorsOf({site("b", "aten::relu", "none"), site("a", "aten::linear", "lower_precision_fp"), site("b", "aten::relu", "none"), site("a", "aten::relu", "none")});
  ASSERT_EQ(operators.size(), 2U);
  EXPECT_EQ(operators[0].op, "aten::relu");
  EXPECT_EQ(operators[0].sites, 3);
  EXPECT_THAT(operators[0].modulePaths, ElementsAre("b", "a"));
  EXPECT_EQ(operators[1].sites, 1);
}

TEST(Operators, OverloadsAndClassesAreKeptApart) {
  StaticOp tensor = site("a", "aten::add", "none"), scalar = tensor, other = tensor;
  tensor.overload = "Tensor";
  scalar.overload = "Scalar";
  other.overload = "Tensor";
  other.policyClass = "promote";
  EXPECT_EQ(operatorsOf({tensor, scalar, other, tensor}).size(), 3U);
}

TEST(Operators, NameOnlyTheTablesThatSaySomethingElse) {
  EXPECT_THAT(operatorsOf({site("a", "aten::relu", "none")})[0].otherTables, ElementsAre(Pair("cuda@1.13", "fp32")));
  EXPECT_THAT(operatorsOf({site("a", "aten::exp", "fp32")})[0].otherTables, IsEmpty());
}

TEST(Operators, ACustomOpWithoutAutocastKernelRunsInTheTypeOfItsInputs) {
  Operator op = operatorsOf({site("a", "mine::scale", "none")})[0];
  EXPECT_EQ(treatment(op), "a custom op with an autocast kernel of its own");
  op.kernel.hasAutocastKernel = false;
  EXPECT_THAT(treatment(op), HasSubstr("runs in the type of its inputs"));
  op.op = "aten::relu";
  EXPECT_EQ(treatment(op), classMeaning("none"));
}

TEST(Operators, EveryClassHasAMeaning) {
  for (const std::string& name : policyClasses()) EXPECT_FALSE(classMeaning(name).empty()) << name;
  EXPECT_EQ(classMeaning("nonsense"), "");
  for (const char* kernel : {"own", "generic", "composite", "none", "interpreter"}) EXPECT_FALSE(kernelMeaning(kernel).empty()) << kernel;
}

}  // namespace
}  // namespace ulpscope::model
