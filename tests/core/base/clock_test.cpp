#include "core/base/clock.h"

#include <gtest/gtest.h>

namespace ulpscope::base {
namespace {

TEST(Duration, IsSaidInTheUnitsThatCount) {
  EXPECT_EQ(durationText(0), "0 s");
  EXPECT_EQ(durationText(59.4), "59 s");
  EXPECT_EQ(durationText(59.6), "1 min 00 s");
  EXPECT_EQ(durationText(185), "3 min 05 s");
  EXPECT_EQ(durationText(3720), "1 h 02 min");
}

TEST(RandomId, IsNewEachTime) {
  EXPECT_EQ(randomId().size(), 32U);
  EXPECT_NE(randomId(), randomId());
}

}  // namespace
}  // namespace ulpscope::base
