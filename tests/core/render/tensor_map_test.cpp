// Slices of tensors of any rank, and their pictures.
#include "core/render/tensor_map.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace ulpscope::render {
namespace {

using base::DType;
using testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();

// The element numbers as a picture, line by line; -1 is a gap.
std::vector<std::vector<std::int64_t>> picture(const TensorSlice& slice) {
  std::vector<std::vector<std::int64_t>> lines;
  for (std::int64_t row = 0; row < slice.rows(); ++row) {
    lines.emplace_back();
    for (std::int64_t column = 0; column < slice.columns(); ++column) lines.back().push_back(slice.elementAt(row, column));
  }
  return lines;
}

TensorSlice defaultOf(const Shape& shape) { return {shape, defaultSlice(shape)}; }

// What numpy says: np.arange(12).reshape(2, 2, 3), its two pictures beside each other.
TEST(TensorSlice, TilesTheChannels) {
  EXPECT_THAT(picture(defaultOf({2, 2, 3})), ElementsAre(ElementsAre(0, 1, 2, -1, 6, 7, 8), ElementsAre(3, 4, 5, -1, 9, 10, 11)));
  const TensorSlice five = defaultOf({5, 2, 2});
  EXPECT_EQ(five.rows(), 5) << "2 rows of tiles and a gap";
  EXPECT_EQ(five.columns(), 8) << "3 tiles and 2 gaps";
  EXPECT_EQ(five.elementAt(3, 6), -1) << "there is no sixth tile";
}

TEST(TensorSlice, DefaultsToTheLastAxesThatAreLongerThanOne) {
  EXPECT_EQ(sliceText(defaultSlice({4, 5}), {4, 5}), "[:, :]");
  EXPECT_EQ(sliceText(defaultSlice({1, 5}), {1, 5}), "[0, :]");
  EXPECT_EQ(sliceText(defaultSlice({7, 4, 1, 5}), {7, 4, 1, 5}), "[:, :, 0, :]");
  EXPECT_EQ(sliceText(defaultSlice({3, 2, 4, 5, 6}), {3, 2, 4, 5, 6}), "[0, 0, :, :, :]");
  EXPECT_EQ(sliceText(defaultSlice({2000, 4, 5}), {2000, 4, 5}), "[0, :, :]") << "too many to tile";
  EXPECT_EQ(sliceText(defaultSlice({}), {}), "[]");
  EXPECT_THAT(freeAxes(defaultSlice({3, 1, 4, 5, 6}), {3, 1, 4, 5, 6}), ElementsAre(0));
}

TEST(TensorSlice, FoldsALongLine) {
  const TensorSlice even = defaultOf({1, 512});
  EXPECT_EQ(even.rows(), 16);
  EXPECT_EQ(even.columns(), 32);
  EXPECT_EQ(even.elementAt(3, 5), 101);
  EXPECT_TRUE(even.isFolded());
  const TensorSlice odd = defaultOf({509});  // prime: the last line has a rest
  EXPECT_EQ(odd.columns(), 23);
  EXPECT_EQ(odd.rows(), 23);
  EXPECT_EQ(odd.elementAt(22, 2), 508);
  EXPECT_EQ(odd.elementAt(22, 3), -1);
  EXPECT_EQ(defaultOf({64}).rows(), 1);
  EXPECT_EQ(picture(defaultOf({})), (std::vector<std::vector<std::int64_t>>{{0}})) << "a scalar";
  EXPECT_EQ(defaultOf({3, 0, 2}).rows(), 0);
  EXPECT_EQ(defaultOf({3, 0, 2}).elementAt(0, 0), -1);
}

TEST(TensorSlice, ShowsEveryElementOfTheSliceOnceAndFindsItAgain) {
  for (const Shape& shape : {Shape{3, 4, 5, 6, 7}, Shape{5}, Shape{257}, Shape{6, 7}, Shape{1, 17, 3, 3}, Shape{}}) {
    SliceChoice choice = defaultSlice(shape);
    for (std::size_t i = 0; i < shape.size(); ++i) choice.fixed[i] = shape[i] - 1;
    const TensorSlice slice(shape, choice);
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) elements *= size;
    std::int64_t shown = 0;
    for (std::int64_t element = 0; element < elements; ++element) {
      const auto place = slice.placeOf(element);
      if (!place) continue;
      ++shown;
      ASSERT_EQ(slice.elementAt(place->row, place->column), element);
    }
    std::int64_t standing = 0;
    for (const auto& line : picture(slice)) standing += std::count_if(line.begin(), line.end(), [](std::int64_t e) { return e >= 0; });
    EXPECT_EQ(shown, standing) << indexText(shape);
    std::int64_t expected = 1;
    for (const int axis : {choice.rowAxis, choice.columnAxis, choice.tileAxis}) expected *= axis < 0 ? 1 : shape[static_cast<std::size_t>(axis)];
    EXPECT_EQ(shown, expected) << indexText(shape);
  }
}

TEST(TensorSlice, IndicesAreNumpys) {
  EXPECT_EQ(indexOf(57, {3, 4, 5}), (Shape{2, 3, 2})) << "np.unravel_index(57, (3, 4, 5))";
  EXPECT_EQ(indexText({2, 3, 2}), "[2, 3, 2]");
  const SliceChoice choice = defaultSlice({3, 2, 4, 5, 6});
  EXPECT_EQ(fitted({choice.rowAxis, choice.columnAxis, choice.tileAxis, {9, -1, 0, 0, 0}}, {3, 2, 4, 5, 6}).fixed, (Shape{2, 0, 0, 0, 0}));
  EXPECT_EQ(fitted(choice, {4, 5}), defaultSlice({4, 5})) << "of another rank";
}

// np.arange(24).reshape(2, 3, 4), then [:, 1, :], its .T, and [1].T.
TEST(TensorSlice, ShowsAnyTwoAxes) {
  const Shape shape{2, 3, 4};
  SliceChoice choice{0, 2, -1, {0, 1, 0}};
  EXPECT_EQ(sliceText(choice, shape), "[:, 1, :]");
  EXPECT_THAT(picture({shape, choice}), ElementsAre(ElementsAre(4, 5, 6, 7), ElementsAre(16, 17, 18, 19)));
  choice = withAxes(choice, shape, 2, 0);
  EXPECT_EQ(sliceText(choice, shape), "[:, 1, :], transposed");
  EXPECT_THAT(picture({shape, choice}), ElementsAre(ElementsAre(4, 16), ElementsAre(5, 17), ElementsAre(6, 18), ElementsAre(7, 19)));
  choice = {2, 1, -1, {1, 0, 0}};
  EXPECT_EQ(sliceText(choice, shape), "[1, :, :], transposed");
  EXPECT_THAT(picture({shape, choice}), ElementsAre(ElementsAre(12, 16, 20), ElementsAre(13, 17, 21), ElementsAre(14, 18, 22), ElementsAre(15, 19, 23)));
}

TEST(TensorSlice, TilesTheLastFreeAxisWhereTheTiledOneIsShown) {
  const Shape shape{5, 2000, 3, 4};
  const SliceChoice choice{2, 3, 0, {0, 0, 0, 0}};
  EXPECT_EQ(withAxes(choice, shape, 0, 3).tileAxis, 2);
  EXPECT_EQ(withAxes(choice, shape, 3, 2).tileAxis, 0) << "stays";
  EXPECT_EQ(withAxes({2, 3, -1, {0, 0, 0, 0}}, shape, 0, 3).tileAxis, -1) << "was not wanted";
  EXPECT_EQ(withAxes({2, 3, 0, {0, 0, 0}}, {5, 3, 4}, 1, 0).tileAxis, 2);
  EXPECT_THAT(longAxes({1, 7, 1, 3}), ElementsAre(1, 3));
  EXPECT_THAT(longAxes({}), ElementsAre());
}

TEST(TensorSlice, FindsEveryElementAgainWhateverAxesAreShown) {
  const Shape shape{2, 3, 4, 5};
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 4; ++column) {
      if (row == column) continue;
      const TensorSlice slice(shape, withAxes(defaultSlice(shape), shape, row, column));
      for (std::int64_t element = 0; element < 120; ++element) {
        const auto place = slice.placeOf(element);
        ASSERT_EQ(place ? slice.elementAt(place->row, place->column) : element, element) << row << " " << column;
      }
    }
}

struct Pair {
  std::vector<float> a, b;
  Shape shape;
  analysis::ReferenceView reference() const { return analysis::ReferenceView({a.data(), DType::float32, shape}); }
  analysis::CandidateView candidate() const { return analysis::CandidateView({b.data(), DType::float32, shape}); }
  TensorMaps maps(std::int64_t most = 1 << 20) const { return tensorMaps(defaultOf(shape), reference(), candidate(), most); }
};

TEST(TensorMaps, HoldBothRunsAndTheirDifference) {
  const Pair pair{{1, -2, 0, kInf, NAN, 3, kInf, 5}, {1, -2.5F, 0.5F, kInf, NAN, NAN, -kInf, kInf}, {2, 4}};
  const TensorMaps maps = pair.maps();
  const auto cell = [&](MapSide side, std::int64_t i) { return maps[side].data().at(i / 4, i % 4); };
  EXPECT_EQ(cell(MapSide::reference, 1).value, -2);
  EXPECT_EQ(cell(MapSide::candidate, 1).value, -2.5F);
  EXPECT_EQ(cell(MapSide::difference, 1).value, -0.5F) << "candidate - reference";
  EXPECT_EQ(cell(MapSide::difference, 2).value, 0.5F);
  EXPECT_EQ(cell(MapSide::reference, 2).kind, CellKind::value) << "0 is a value like others";
  EXPECT_EQ(cell(MapSide::difference, 0).kind, CellKind::exactZero);
  EXPECT_EQ(cell(MapSide::difference, 3).kind, CellKind::exactZero) << "the same infinity";
  EXPECT_EQ(cell(MapSide::difference, 4).kind, CellKind::exactZero) << "NaN in both";
  EXPECT_EQ(cell(MapSide::candidate, 4).kind, CellKind::nan);
  EXPECT_EQ(cell(MapSide::difference, 5).kind, CellKind::nan);
  EXPECT_EQ(cell(MapSide::difference, 6).kind, CellKind::minusInf);
  EXPECT_EQ(cell(MapSide::difference, 7).kind, CellKind::plusInf);
}

TEST(TensorMaps, FollowTheChosenAxes) {
  const Pair pair{{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5.5F}, {2, 3}};
  const TensorSlice slice(pair.shape, withAxes(defaultSlice(pair.shape), pair.shape, 1, 0));
  const TensorMaps maps = tensorMaps(slice, pair.reference(), pair.candidate());
  ASSERT_EQ(maps[MapSide::reference].rows(), 3);
  EXPECT_EQ(maps[MapSide::reference].data().at(1, 0).value, 1);
  EXPECT_EQ(maps[MapSide::reference].data().at(0, 1).value, 3);
  EXPECT_EQ(maps[MapSide::difference].data().at(2, 1).value, 0.5F);
}

TEST(TensorMaps, PoolByMagnitudeWithNonfiniteFirst) {
  Pair pair{std::vector<float>(100 * 100, 0.5F), std::vector<float>(100 * 100, 0.5F), {100, 100}};
  pair.a[34 * 100 + 56] = -7;
  pair.b[99 * 100 + 99] = NAN;
  pair.b[99 * 100 + 98] = kInf;
  const TensorMaps maps = pair.maps(25 * 25);
  ASSERT_EQ(maps.block, 4);
  EXPECT_EQ(maps[MapSide::reference].data().at(34 / 4, 56 / 4).value, -7);
  EXPECT_EQ(maps[MapSide::difference].data().at(34 / 4, 56 / 4).value, 7.5F);
  EXPECT_EQ(maps[MapSide::candidate].data().at(24, 24).kind, CellKind::nan);
  const TensorSlice slice = defaultOf(pair.shape);
  const auto elementOf = [&](MapSide side, CellIndex cell) { return elementOfCell(slice, pair.reference(), pair.candidate(), {side, 4, cell}); };
  EXPECT_EQ(elementOf(MapSide::reference, {8, 14}), 34 * 100 + 56);
  EXPECT_EQ(elementOf(MapSide::candidate, {24, 24}), 9999);
  EXPECT_EQ(elementOf(MapSide::candidate, {8, 14}), 32 * 100 + 56) << "all alike: the first";
}

Rgb pixelAt(const std::vector<std::uint8_t>& rgba, int width, int x, int y) {
  const std::size_t at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 4;
  return {rgba[at], rgba[at + 1], rgba[at + 2]};
}

TEST(TensorPixels, ColourEndsAndMiddleOfTheScale) {
  const Pair pair{{0, 1, 2, 3}, {1, 1, 1, 3}, {2, 2}};
  const TensorMaps maps = pair.maps();
  const auto values = tensorPixels(maps[MapSide::reference], {2, 2, 1}, {valueScale(0, 3, 1)});
  EXPECT_EQ(pixelAt(values, 2, 0, 0), colorAt(ColorMap::viridis, 0));
  EXPECT_EQ(pixelAt(values, 2, 1, 0), colorAt(ColorMap::viridis, 1.0 / 3));
  EXPECT_EQ(pixelAt(values, 2, 1, 1), colorAt(ColorMap::viridis, 1));
  const auto difference = tensorPixels(maps[MapSide::difference], {2, 2, 1}, {differenceScale(1), ColorMap::vik, Theme::light});
  EXPECT_EQ(pixelAt(difference, 2, 0, 0), colorAt(ColorMap::vik, 1));
  EXPECT_EQ(pixelAt(difference, 2, 0, 1), colorAt(ColorMap::vik, 0));
  EXPECT_EQ(pixelAt(difference, 2, 1, 0), specialColors(Theme::light).exactZero);
}

TEST(TensorPixels, KeepOneBadElementOfManyInSight) {
  Pair pair{std::vector<float>(500 * 700, 1), std::vector<float>(500 * 700, 1), {500, 700}};
  for (const float bad : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()}) {
    pair.b[249 * 700 + 351] = bad;
    const auto pixels = tensorPixels(pair.maps()[MapSide::candidate], {140, 90, 1}, {ValueScale{0, 2}});
    int other = 0;
    for (int y = 0; y < 90; ++y)
      for (int x = 0; x < 140; ++x) other += pixelAt(pixels, 140, x, y) == colorAt(ColorMap::viridis, 0.5) ? 0 : 1;
    EXPECT_GE(other, 9) << bad;
    EXPECT_LE(other, 25) << bad;
  }
}

TEST(TensorPixels, LeaveGapsOpenAndAnEmptyTensorBlank) {
  const Pair tiles{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 2}};
  const auto pixels = tensorPixels(tiles.maps()[MapSide::reference], {5, 2, 1}, {ValueScale{0, 7}});
  EXPECT_EQ(pixels[2 * 4 + 3], 0) << "between the tiles";
  EXPECT_EQ(pixels[1 * 4 + 3], 255);
  const Pair empty{{}, {}, {0, 4}};
  EXPECT_EQ(empty.maps()[MapSide::reference].rows(), 0);
  EXPECT_EQ(tensorPixels(empty.maps()[MapSide::reference], {3, 3, 1}, {}), std::vector<std::uint8_t>(36, 0));
}

TEST(ValueScale, IsNeverEmpty) {
  EXPECT_EQ(valueScale(-3, 5, 1).position(1), 0.5);
  EXPECT_NEAR(valueScale(2, 2, 2).position(2), 0.5, 1e-12);
  EXPECT_EQ(valueScale(0, 0, NAN).position(0), 0.5);
  EXPECT_EQ(valueScale(NAN, NAN, NAN).position(0.25), 0.25);
  EXPECT_EQ(valueScale(-3, 5, 1).position(99), 1);
  EXPECT_EQ(differenceScale(4).position(0), 0.5);
  EXPECT_EQ(differenceScale(NAN).position(-1), 0);
  EXPECT_EQ(differenceScale(0).position(0), 0.5);
}

// -1 to 10,000 with 1 as usual: linear to 1, then 4 decades; -1 stands at -1, 10,000 at 1 + 4, so 0 at 1/6 and 100 at 4/6.
TEST(ValueScale, IsLogarithmicWhereAnOutlierWouldMakeAllElseAlike) {
  const ValueScale scale = valueScale(-1, 10000, 1);
  EXPECT_EQ(scale.linear, 1);
  EXPECT_DOUBLE_EQ(scale.position(0), 1.0 / 6);
  EXPECT_DOUBLE_EQ(scale.position(0.5), 1.5 / 6);
  EXPECT_DOUBLE_EQ(scale.position(100), 4.0 / 6);
  EXPECT_EQ(scale.position(-1), 0);
  EXPECT_EQ(valueScale(-1, 256, 1).linear, 0);
}

}  // namespace
}  // namespace ulpscope::render
