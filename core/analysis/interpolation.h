// Inputs between samples: x = A + u (B - A) + v (C - A), or A + step * direction.
#pragma once

#include "core/analysis/tensor_view.h"

#include <cstddef>
#include <vector>

namespace ulpscope::analysis {

// One tensor's way from A. Element by element in double, each operation rounded, added up from the left; the result rounded once into A's dtype.
// An element that is the same in A and another end (NaN in both too) does not move.
class InputPath {
 public:
  // Ends: B, or B and C. Precondition of both: floating, one shape and dtype; a direction has A's elements, row-major, float64.
  static InputPath towards(const TensorView& a, const std::vector<TensorView>& ends);
  static InputPath along(const TensorView& a, std::vector<double> direction);

  // A's elements at these coefficients, one a direction, row-major. With all 0 they are A's to the bit, with a single 1 among 0 that end's.
  std::vector<std::byte> at(const std::vector<double>& coefficients) const;

  const std::vector<double>& start() const { return m_start; }
  const std::vector<std::vector<double>>& directions() const { return m_directions; }  // B - A, C - A

 private:
  base::DType m_dtype = base::DType::float32;
  std::vector<double> m_start;
  std::vector<std::vector<double>> m_directions;
  std::vector<std::vector<std::byte>> m_exact;  // A, and the ends
};

// Whether an element that is not finite in one of them is another in the other: nothing lies between those. Precondition: as towards()'s.
bool hasGap(const TensorView& a, const TensorView& b);

// All elements the same to the bit. Precondition: one shape and dtype.
bool sameElements(const TensorView& a, const TensorView& b);

}  // namespace ulpscope::analysis
