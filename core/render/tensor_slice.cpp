#include "core/render/tensor_slice.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::render {
namespace {

constexpr std::int64_t kMostTiles = 1024;
constexpr std::int64_t kLongestLine = 64;

std::int64_t product(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

// A line length near the root that leaves no rest, where there is one.
std::int64_t foldOf(std::int64_t count) {
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  for (std::int64_t width = root; width <= 4 * root; ++width)
    if (count % width == 0) return width;
  return root;
}

}  // namespace

SliceChoice defaultSlice(const Shape& shape) {
  SliceChoice choice;
  choice.fixed.assign(shape.size(), 0);
  std::vector<int> shown;
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0 && shown.size() < 3; --axis)
    if (shape[static_cast<std::size_t>(axis)] > 1) shown.push_back(axis);
  if (!shown.empty()) choice.columnAxis = shown[0];
  if (shown.size() > 1) choice.rowAxis = shown[1];
  if (shown.size() > 2 && shape[static_cast<std::size_t>(shown[2])] <= kMostTiles) choice.tileAxis = shown[2];
  return choice;
}

SliceChoice fitted(const SliceChoice& choice, const Shape& shape) {
  if (choice.fixed.size() != shape.size()) return defaultSlice(shape);
  SliceChoice fit = choice;
  for (std::size_t i = 0; i < shape.size(); ++i) fit.fixed[i] = std::clamp<std::int64_t>(fit.fixed[i], 0, std::max<std::int64_t>(0, shape[i] - 1));
  return fit;
}

std::vector<int> longAxes(const Shape& shape) { return freeAxes({-1, -1, -1, {}}, shape); }

SliceChoice withAxes(const SliceChoice& choice, const Shape& shape, int rowAxis, int columnAxis) {
  SliceChoice other = choice;
  other.rowAxis = rowAxis;
  other.columnAxis = columnAxis;
  if (choice.tileAxis != rowAxis && choice.tileAxis != columnAxis) return other;
  other.tileAxis = -1;
  const std::vector<int> free = freeAxes(other, shape);
  const auto at = std::find_if(free.rbegin(), free.rend(), [&](int axis) { return shape[static_cast<std::size_t>(axis)] <= kMostTiles; });
  if (at != free.rend()) other.tileAxis = *at;
  return other;
}

std::vector<int> freeAxes(const SliceChoice& choice, const Shape& shape) {
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
    if (shape[static_cast<std::size_t>(axis)] > 1 && axis != choice.rowAxis && axis != choice.columnAxis && axis != choice.tileAxis) axes.push_back(axis);
  return axes;
}

std::string sliceText(const SliceChoice& choice, const Shape& shape) {
  std::string text;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    const bool isShown = axis == choice.rowAxis || axis == choice.columnAxis || axis == choice.tileAxis;
    text += (axis > 0 ? ", " : "") + (isShown ? std::string(":") : std::to_string(choice.fixed[static_cast<std::size_t>(axis)]));
  }
  return "[" + text + "]" + (choice.rowAxis >= 0 && isTransposed(choice) ? ", transposed" : "");
}

std::string indexText(const Shape& index) {
  std::string text;
  for (std::size_t i = 0; i < index.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(index[i]);
  return "[" + text + "]";
}

Shape indexOf(std::int64_t element, const Shape& shape) {
  Shape index(shape.size(), 0);
  for (std::size_t d = shape.size(); d-- > 0; element /= std::max<std::int64_t>(1, shape[d])) index[d] = element % std::max<std::int64_t>(1, shape[d]);
  return index;
}

TensorSlice::TensorSlice(Shape shape, SliceChoice choice) : m_shape(std::move(shape)), m_strides(m_shape.size(), 1), m_choice(std::move(choice)) {
  ULPSCOPE_CHECK(m_choice.fixed.size() == m_shape.size());
  for (std::size_t d = m_shape.size(); d-- > 1;) m_strides[d - 1] = m_strides[d] * m_shape[d];
  if (product(m_shape) == 0) return;  // an empty picture
  for (std::size_t d = 0; d < m_shape.size(); ++d) {
    const int axis = static_cast<int>(d);
    if (axis != m_choice.rowAxis && axis != m_choice.columnAxis && axis != m_choice.tileAxis) m_base += m_choice.fixed[d] * m_strides[d];
  }
  const std::int64_t height = size(m_choice.rowAxis), width = size(m_choice.columnAxis);
  if (m_choice.rowAxis < 0 && width > kLongestLine) {
    m_fold = foldOf(width);
    m_columns = m_fold;
    m_rows = (width + m_fold - 1) / m_fold;
    return;
  }
  const std::int64_t tiles = size(m_choice.tileAxis);
  const double square = std::sqrt(static_cast<double>(tiles) * static_cast<double>(height) / static_cast<double>(width));
  m_tileColumns = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(square)), 1, tiles);
  const std::int64_t tileRows = (tiles + m_tileColumns - 1) / m_tileColumns;
  m_rows = tileRows * (height + 1) - 1;
  m_columns = m_tileColumns * (width + 1) - 1;
}

std::int64_t TensorSlice::elementAt(std::int64_t row, std::int64_t column) const {
  if (row < 0 || column < 0 || row >= m_rows || column >= m_columns) return -1;
  if (m_fold > 0) {
    const std::int64_t at = row * m_fold + column;
    return at < size(m_choice.columnAxis) ? m_base + at * stride(m_choice.columnAxis) : -1;
  }
  const std::int64_t height = size(m_choice.rowAxis), width = size(m_choice.columnAxis);
  const std::int64_t y = row % (height + 1), x = column % (width + 1);
  const std::int64_t tile = row / (height + 1) * m_tileColumns + column / (width + 1);
  if (y == height || x == width || tile >= size(m_choice.tileAxis)) return -1;
  return m_base + y * stride(m_choice.rowAxis) + x * stride(m_choice.columnAxis) + tile * stride(m_choice.tileAxis);
}

TensorSlice::Run TensorSlice::runAt(std::int64_t row, std::int64_t column) const {
  const std::int64_t width = size(m_choice.columnAxis), step = stride(m_choice.columnAxis);
  if (m_fold > 0) return {std::min(m_fold - column, width - row * m_fold - column), step};
  return {width - column % (width + 1), step};
}

std::optional<CellIndex> TensorSlice::placeOf(std::int64_t element) const {
  if (element < 0 || m_rows == 0 || element >= product(m_shape)) return std::nullopt;
  const Shape index = indexOf(element, m_shape);
  for (std::size_t d = 0; d < index.size(); ++d) {
    const int axis = static_cast<int>(d);
    if (axis != m_choice.rowAxis && axis != m_choice.columnAxis && axis != m_choice.tileAxis && index[d] != m_choice.fixed[d]) return std::nullopt;
  }
  const auto at = [&](int axis) { return axis < 0 ? 0 : index[static_cast<std::size_t>(axis)]; };
  if (m_fold > 0) return CellIndex{at(m_choice.columnAxis) / m_fold, at(m_choice.columnAxis) % m_fold};
  const std::int64_t tile = at(m_choice.tileAxis);
  return CellIndex{tile / m_tileColumns * (size(m_choice.rowAxis) + 1) + at(m_choice.rowAxis), tile % m_tileColumns * (size(m_choice.columnAxis) + 1) + at(m_choice.columnAxis)};
}

}  // namespace ulpscope::render
