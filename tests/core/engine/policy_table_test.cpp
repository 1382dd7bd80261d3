#include "core/engine/policy_table.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>

#include <set>

namespace ulpscope::engine {
namespace {

TEST(PolicyTable, HasTheSameOpsAsTheDispatcherRegistersForCudaAutocast) {
  std::set<std::string> registered;
  for (const auto& op : c10::Dispatcher::singleton().getRegistrationsForDispatchKey(c10::DispatchKey::AutocastCUDA))
    registered.insert(op.overload_name.empty() ? op.name : op.name + "." + op.overload_name);
  std::set<std::string> listed;
  for (const auto& [op, policyClass] : cuda113().entries()) listed.insert(op);
  EXPECT_EQ(listed.size(), 107U);
  EXPECT_EQ(listed, registered);
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
