#include "core/render/sample_order.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope::render {
namespace {

using Columns = std::vector<std::int64_t>;

Cell value(float v) { return {CellKind::value, false, v}; }

struct Fixture {
  session::Session session;
  session::RunRecord run;
  // Row 0 is worst in sample 1, row 1 in sample 2; over both, sample 3 is (NaN).
  HeatmapData data{2, 4, {value(1e-3F), value(-5e-2F), value(1e-4F), {CellKind::exactZero, false, 0}, value(1e-3F), value(1e-5F), value(2e-2F), {CellKind::nan, false, 0}}};
  Fixture() {
    session.samples.ids = {"img10", "img2", "img1", "a"};
    session.samples.kinds = {"boundary", "common", "edge", "common"};
    run.decisions = {{0.5, 0.5, 0}, {std::nan(""), std::nan(""), 0}, {0.1, 0.2, 0}, {0.3, std::nan(""), 0}};
  }
  Columns ordered(SampleOrder order, std::int64_t row = -1) const { return sampleColumns({session, run, data, row}, order).columns; }
};

TEST(SampleColumns, StandAsGiven) { EXPECT_EQ(Fixture().ordered(SampleOrder::asGiven), (Columns{0, 1, 2, 3})); }

TEST(SampleColumns, SortByReferenceMarginWithUndecidedSamplesLast) { EXPECT_EQ(Fixture().ordered(SampleOrder::byReferenceMargin), (Columns{2, 3, 0, 1})); }

TEST(SampleColumns, SortByIdWithNumbersAsNumbers) { EXPECT_EQ(Fixture().ordered(SampleOrder::byId), (Columns{3, 2, 1, 0})); }

TEST(SampleColumns, SortByTheWorstOfAllRowsWithNanFirst) { EXPECT_EQ(Fixture().ordered(SampleOrder::byError), (Columns{3, 1, 2, 0})); }

TEST(SampleColumns, SortByOneRowAndItsMagnitudes) {
  EXPECT_EQ(Fixture().ordered(SampleOrder::byRowError, 0), (Columns{1, 0, 2, 3}));
  EXPECT_EQ(Fixture().ordered(SampleOrder::byRowError, 1), (Columns{3, 2, 0, 1}));
  EXPECT_EQ(Fixture().ordered(SampleOrder::byRowError, -1), (Columns{0, 1, 2, 3})) << "no row is selected";
}

TEST(SampleColumns, GroupKindsFromCommonToBoundary) {
  const Fixture f;
  const SampleColumns columns = sampleColumns({f.session, f.run, f.data}, SampleOrder::byKind);
  EXPECT_EQ(columns.columns, (Columns{1, 3, 2, 0}));
  ASSERT_EQ(columns.groups.size(), 3U);
  EXPECT_EQ(columns.groups[0].name, "common");
  EXPECT_EQ(columns.groups[0].count, 2);
  EXPECT_EQ(columns.groups[1].name, "edge");
  EXPECT_EQ(columns.groups[1].first, 2);
  EXPECT_EQ(columns.groups[2].name, "boundary");
}

TEST(SampleColumns, StayAsGivenWithoutWhatTheOrderNeeds) {
  Fixture f;
  f.run.decisions.clear();
  f.session.samples.kinds.clear();
  f.session.samples.ids.clear();
  for (const SampleOrder order : {SampleOrder::byReferenceMargin, SampleOrder::byKind, SampleOrder::byId}) EXPECT_EQ(f.ordered(order), (Columns{0, 1, 2, 3}));
}

TEST(SampleOrders, SayWhyTheyCannotBeHad) {
  Fixture f;
  for (const SampleOrder order : sampleOrders()) EXPECT_EQ(unavailable(order, f.session, f.run), "");
  f.run.decisions.clear();
  f.session.samples.kinds.clear();
  EXPECT_EQ(unavailable(SampleOrder::byReferenceMargin, f.session, f.run), "needs a run with decisions (--decision argmax)");
  EXPECT_EQ(unavailable(SampleOrder::byKind, f.session, f.run), "the inputs file holds no sample_kinds (common, edge, boundary)");
  EXPECT_EQ(unavailable(SampleOrder::byError, f.session, f.run), "");
}

TEST(NaturallyLess, OrdersNumbersInNames) {
  EXPECT_TRUE(naturallyLess("2", "10"));
  EXPECT_TRUE(naturallyLess("img2.b", "img10.a"));
  EXPECT_TRUE(naturallyLess("a", "a1"));
  EXPECT_TRUE(naturallyLess("x9", "y1"));
  EXPECT_FALSE(naturallyLess("10", "2"));
  EXPECT_TRUE(naturallyLess("01", "1") != naturallyLess("1", "01")) << "an order, not a draw";
  EXPECT_FALSE(naturallyLess("img2", "img2"));
  EXPECT_TRUE(naturallyLess("99999999999999999999998", "99999999999999999999999")) << "longer than any integer";
}

}  // namespace
}  // namespace ulpscope::render
