// A session with captured tensors of every kind: four samples, in one batch. Modules: "fc" [4, 3, 2, 4], element i of each sample is
// i / 10 in FP32 and the FP16 next to it in AMP, but kBadElement of sample c: 100,000 and +inf; "five" [4, 3, 2, 5, 6]; "nan", "empty",
// "scalar", "bool", "int64", "bfloat16"; "none" was not captured, "left" by the budget's end.
#pragma once

#include <QString>
#include <QTemporaryDir>

#include <cstdint>

namespace ulpscope::testing {

inline constexpr std::int64_t kBadElement = 11;  // [1, 0, 3] of a sample

QString writeCaptured(const QTemporaryDir& folder);

}  // namespace ulpscope::testing
