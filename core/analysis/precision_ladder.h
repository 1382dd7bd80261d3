// One value in five number formats: what each makes of it, bit by bit.
#pragma once

#include <array>
#include <string>

namespace ulpscope::analysis {

struct LadderRung {
  std::string name;       // "FP64", "FP32", "TF32", "BF16", "FP16"
  double value = 0;       // rounded once from the exact value, to nearest even
  std::string bits;       // sign, exponent, mantissa: "0 10001 0100000000"; a long mantissa in groups of four from its left
  double error = 0;       // value - exact; infinite where it overflows, NaN of a NaN or an infinity
  double ulps = 0;        // |error| in units of the format's last place at the exact value, at most 0.5; +inf where it overflows, NaN of a NaN or an infinity
  double headroomBits = 0;  // log2(largest finite value / |exact|): negative beyond it; +inf of 0, -inf of an infinity, NaN of a NaN
  bool overflows = false;   // finite, and infinite here
  bool subnormal = false;   // not 0 here, below the smallest normal
  bool flushed = false;     // not 0, and 0 here
};

// TF32: FP32's exponent, 10 bits of mantissa (NVIDIA A100 whitepaper); as an operand of a tensor core, stored in 19 bits.
std::array<LadderRung, 5> precisionLadder(double exact);

}  // namespace ulpscope::analysis
