// Which elements of a tensor of any rank stand where in a picture of it.
#pragma once

#include "core/render/viewport.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::render {

using Shape = std::vector<std::int64_t>;

// Axes count from 0; -1: none.
struct SliceChoice {
  int rowAxis = -1, columnAxis = -1;
  int tileAxis = -1;                // its pictures stand in a grid, side by side
  std::vector<std::int64_t> fixed;  // one an axis: the index of those that are not shown
  friend bool operator==(const SliceChoice&, const SliceChoice&) = default;
};
// Rows and columns: the last two axes longer than 1. The one before them is tiled, if it has at most 1,024 entries (channels of an
// image, heads); all others stand at index 0.
SliceChoice defaultSlice(const Shape& shape);
// The same axes with the indices of `fixed`, each brought into its axis; for a choice that was made for another shape.
SliceChoice fitted(const SliceChoice& choice, const Shape& shape);
// Axes longer than 1 that the choice does not show: those with an index to choose.
std::vector<int> freeAxes(const SliceChoice& choice, const Shape& shape);
// Axes longer than 1: those that can be rows or columns.
std::vector<int> longAxes(const Shape& shape);
// The same slice with other rows and columns. Where one of them was tiled, the last free axis of at most 1,024 entries is tiled in its
// place. Precondition: both are among longAxes(), and differ.
SliceChoice withAxes(const SliceChoice& choice, const Shape& shape, int rowAxis, int columnAxis);
// Rows are an axis after that of the columns.
inline bool isTransposed(const SliceChoice& choice) { return choice.rowAxis > choice.columnAxis; }
// As numpy writes it: "[3, :, :]"; where rows come after columns "[3, :, :], transposed".
std::string sliceText(const SliceChoice& choice, const Shape& shape);
std::string indexText(const Shape& index);  // "[0, 17]"; "[]" of a scalar
Shape indexOf(std::int64_t element, const Shape& shape);  // of a row-major number

// The picture in elements: rows x columns, one empty row or column between tiles. A single axis longer than 64 is folded into lines.
class TensorSlice {
 public:
  // Precondition: choice was made for this shape (defaultSlice, fitted).
  TensorSlice(Shape shape, SliceChoice choice);

  std::int64_t rows() const { return m_rows; }
  std::int64_t columns() const { return m_columns; }
  bool isFolded() const { return m_fold > 0; }
  // Row-major number of the element; -1: nothing stands there.
  std::int64_t elementAt(std::int64_t row, std::int64_t column) const;
  // From there to the right: how many elements follow each other evenly, and how far apart their numbers are. Precondition: one stands there.
  struct Run {
    std::int64_t count, step;
  };
  Run runAt(std::int64_t row, std::int64_t column) const;
  // nullopt: the element is not part of this slice.
  std::optional<CellIndex> placeOf(std::int64_t element) const;
  const Shape& shape() const { return m_shape; }
  const SliceChoice& choice() const { return m_choice; }

 private:
  std::int64_t size(int axis) const { return axis < 0 ? 1 : m_shape[static_cast<std::size_t>(axis)]; }
  std::int64_t stride(int axis) const { return axis < 0 ? 0 : m_strides[static_cast<std::size_t>(axis)]; }

  Shape m_shape, m_strides;
  SliceChoice m_choice;
  std::int64_t m_base = 0;  // of the fixed indices
  std::int64_t m_fold = 0;  // elements a line; 0: not folded
  std::int64_t m_tileColumns = 1;
  std::int64_t m_rows = 0, m_columns = 0;
};

}  // namespace ulpscope::render
