#include "core/engine/policy_table.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>

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

TEST(PolicyTable, NamesTheTablesThereAre) {
  EXPECT_TRUE(findPolicyTable("cuda").ok());
  EXPECT_TRUE(findPolicyTable("cuda@1.13").ok());
  const auto unknown = findPolicyTable("cuda@9.9");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(unknown.error().message(), testing::HasSubstr("cuda@1.13"));
}

}  // namespace
}  // namespace ulpscope::engine
