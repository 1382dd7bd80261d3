#include "core/engine/policy_table.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

namespace ulpscope::engine {
namespace {

std::set<std::string> registeredFor(c10::DispatchKey key) {
  std::set<std::string> registered;
  for (const auto& op : c10::Dispatcher::singleton().getRegistrationsForDispatchKey(key))
    registered.insert(op.overload_name.empty() ? op.name : op.name + "." + op.overload_name);
  return registered;
}

std::set<std::string> listedIn(const PolicyTable& table) {
  std::set<std::string> listed;
  for (const auto& [op, policyClass] : table.entries()) listed.insert(op);
  return listed;
}

TEST(PolicyTable, HasTheSameOpsAsTheDispatcherRegistersForCudaAutocast) {
  EXPECT_EQ(listedIn(cuda113()).size(), 107U);
  EXPECT_EQ(listedIn(cuda113()), registeredFor(c10::DispatchKey::AutocastCUDA));
}

TEST(PolicyTable, HasTheSameOpsAsTheDispatcherRegistersForCpuAutocast) {
  EXPECT_EQ(listedIn(cpu113()).size(), 126U);
  EXPECT_EQ(listedIn(cpu113()), registeredFor(c10::DispatchKey::AutocastCPU));
}

TEST(PolicyTable, KeepsOverloadsApart) {
  EXPECT_EQ(cuda113().classOf("aten::sum.dim_IntList"), PolicyClass::fp32SetOptDtype);
  EXPECT_EQ(cuda113().classOf("aten::sum.IntList_out"), PolicyClass::none);
  EXPECT_EQ(cuda113().classOf("aten::pow.Tensor_Scalar"), PolicyClass::fp32);
  EXPECT_EQ(cuda113().classOf("aten::pow_.Scalar"), PolicyClass::none);
  EXPECT_EQ(cuda113().classOf("aten::add.Tensor"), PolicyClass::none);
}

TEST(PolicyTable, OfADeviceAloneIsTheNewestKnown) {
  EXPECT_EQ(findPolicyTable("cuda").value(), &cuda212());
  EXPECT_EQ(findPolicyTable("cpu").value(), &cpu212());
  EXPECT_EQ(findPolicyTable("cuda@1.13").value(), &cuda113());
  EXPECT_EQ(findPolicyTable("cpu@2.6").value(), &cpu26());
}

TEST(PolicyTable, ThatIsNotKnownIsAnErrorThatNamesThoseThatAre) {
  for (const char* wanted : {"cuda@9.9", "cuda@", "cuda@1", "tpu", "", "cuda@1.13 "}) {
    const auto unknown = findPolicyTable(wanted);
    ASSERT_FALSE(unknown.ok()) << wanted;
    EXPECT_EQ(unknown.error().kind, base::ErrorKind::usage);
    for (const std::string& name : policyTableNames()) EXPECT_THAT(unknown.error().message(), testing::HasSubstr(name));
  }
}

std::map<PolicyClass, int> countsOf(const PolicyTable& table) {
  std::map<PolicyClass, int> counts;
  for (const auto& [op, policyClass] : table.entries()) ++counts[policyClass];
  return counts;
}

// The lists' lengths as PyTorch's headers have them.
TEST(PolicyTable, HasEachSeriesNumberOfOpsInEachClass) {
  using P = PolicyClass;
  using Counts = std::map<P, int>;
  EXPECT_EQ(countsOf(cuda113()), (Counts{{P::lowerPrecision, 32}, {P::fp32, 47}, {P::fp32SetOptDtype, 14}, {P::fp32AppendDtype, 3}, {P::promote, 10}, {P::refused, 1}}));
  EXPECT_EQ(countsOf(cuda26()), (Counts{{P::lowerPrecision, 35}, {P::fp32, 58}, {P::fp32SetOptDtype, 17}, {P::fp32AppendDtype, 3}, {P::promote, 11}, {P::refused, 1}}));
  EXPECT_EQ(countsOf(cuda212()).at(P::fp32), 59);
  EXPECT_EQ(countsOf(cpu113()), (Counts{{P::lowerPrecision, 15}, {P::fp32, 107}, {P::promote, 4}}));
  EXPECT_EQ(countsOf(cpu26()), (Counts{{P::lowerPrecision, 24}, {P::fp32, 101}, {P::promote, 4}}));
}

TEST(PolicyTable, KnowsWhatMovedFromSeriesToSeries) {
  EXPECT_EQ(cuda113().classOf("aten::upsample_bilinear2d"), PolicyClass::none);
  EXPECT_EQ(cuda26().classOf("aten::upsample_bilinear2d"), PolicyClass::fp32);
  EXPECT_EQ(cuda26().classOf("aten::frobenius_norm"), PolicyClass::none);
  EXPECT_EQ(cuda26().classOf("aten::frobenius_norm.dim"), PolicyClass::fp32);
  EXPECT_EQ(cuda26().classOf("aten::rms_norm"), PolicyClass::none);
  EXPECT_EQ(cuda212().classOf("aten::rms_norm"), PolicyClass::fp32);
  EXPECT_EQ(cpu113().classOf("aten::prelu"), PolicyClass::none);
  EXPECT_EQ(cpu26().classOf("aten::prelu"), PolicyClass::lowerPrecision);
  EXPECT_EQ(cpu113().classOf("aten::conv_transpose2d.input"), PolicyClass::fp32);
  EXPECT_EQ(cpu26().classOf("aten::conv_transpose2d.input"), PolicyClass::lowerPrecision);
}

}  // namespace
}  // namespace ulpscope::engine
