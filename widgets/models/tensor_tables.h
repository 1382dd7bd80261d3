// The tables of a look: worst elements, exponents, and one value in five formats.
#pragma once

#include "widgets/models/row_table_model.h"
#include "widgets/models/tensor_look.h"

namespace ulpscope::models {

// Key of a row: the element's number.
class WorstModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kIndex, kReference, kCandidate, kDifference, kUlp };
  explicit WorstModel(QObject* parent = nullptr);
  void setLook(const TensorLookPointer& look, analysis::WorstBy by);  // nullptr: empty
};

// A limit of the low format, by its binary exponent.
struct ExponentLimit {
  QString name;    // "smallest normal"
  int exponent = 0;
};
std::vector<ExponentLimit> exponentLimits(base::DType low);

// Exponents that occur in one run or the other; first = end: none.
struct ExponentSpan {
  int first = 0, end = 0;  // exclusive
};
ExponentSpan exponentSpan(const TensorLook& look);

// One row an exponent, and one for each limit of the low format that lies outside. Key of a row: the exponent; zeros, NaN and infinities at the end have "zero", "nan", "infinite".
class ExponentModel : public RowTableModel {
  Q_OBJECT

 public:
  explicit ExponentModel(QObject* parent = nullptr);
  void setLook(const TensorLookPointer& look);
};

// One value in FP64, FP32, TF32, BF16, FP16. Key of a row: the format's name.
class LadderModel : public RowTableModel {
  Q_OBJECT

 public:
  enum Column { kFormat, kValue, kNote, kUlp, kHeadroom, kError, kBits };
  explicit LadderModel(QObject* parent = nullptr);
  void setValue(double value);
  void clear();
};

}  // namespace ulpscope::models
