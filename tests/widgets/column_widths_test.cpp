#include "widgets/plots/column_widths.h"

#include <gmock/gmock.h>

namespace ulpscope::plots {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ColumnWidths, WhatFitsIsStretchedBySize) { EXPECT_THAT(columnWidths({{10, 30}, {10, 10}}, 80), ElementsAre(60, 20)); }

TEST(ColumnWidths, NoWordIsBrokenWhileAllLongestWordsFit) {
  // 100 for 40 of words and wants of 240: the 60 left go 160 : 40 : 0.
  EXPECT_THAT(columnWidths({{20, 180}, {10, 50}, {10, 10}}, 100), ElementsAre(68, 22, 10));
}

TEST(ColumnWidths, WordsThatDoNotFitShareWhatThereIs) { EXPECT_THAT(columnWidths({{100, 300}, {100, 100}}, 50), ElementsAre(25, 25)); }

TEST(ColumnWidths, EmptyColumnsAndNoColumnsAreNoDivisionByZero) {
  EXPECT_THAT(columnWidths({{0, 0}, {0, 0}}, 50), ElementsAre(25, 25));
  EXPECT_THAT(columnWidths({}, 50), IsEmpty());
}

}  // namespace
}  // namespace ulpscope::plots
