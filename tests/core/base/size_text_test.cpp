#include "core/base/size_text.h"

#include <gtest/gtest.h>

namespace ulpscope::base {
namespace {

TEST(SizeText, IsInTheBinaryUnitsThatOptionsTake) {
  EXPECT_EQ(sizeText(0), "0 bytes");
  EXPECT_EQ(sizeText(1), "1 byte");
  EXPECT_EQ(sizeText(1023), "1023 bytes");
  EXPECT_EQ(sizeText(1024), "1 KiB");
  EXPECT_EQ(sizeText(1536), "1.5 KiB");
  EXPECT_EQ(sizeText(64ULL << 20), "64 MiB");
  EXPECT_EQ(sizeText(67000000), "63.9 MiB");  // 67,000,000 / 1,048,576 = 63.896
  EXPECT_EQ(sizeText(1ULL << 30), "1 GiB");
  EXPECT_EQ(sizeText(2500000000), "2.3 GiB");  // / 1,073,741,824 = 2.328
  EXPECT_EQ(sizeText(5ULL << 50), "5120 TiB");
}

}  // namespace
}  // namespace ulpscope::base
