// Random tensors of every dtype and lay-out, to hold compareTensors against the plain loop of plain_divergence.h.
#pragma once

#include "core/analysis/divergence_walk.h"
#include "core/base/float_formats.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace ulpscope::analysis {

using base::DType;
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline const double kNaN = std::nan("");

inline std::vector<InstructionSet> instructionSets() {
  std::vector<InstructionSet> sets;
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512})
    if (isSupported(set)) sets.push_back(set);
  return sets;
}

// A tensor that owns its elements, lying as `strides` say.
struct TestTensor {
  std::vector<std::byte> memory;
  TensorView view;
};

inline void put(std::byte* at, DType dtype, double x) {
  switch (dtype) {
    case DType::float64: std::memcpy(at, &x, 8); break;
    case DType::float32: {
      const auto f = static_cast<float>(x);
      std::memcpy(at, &f, 4);
      break;
    }
    default: {
      const std::uint16_t bits = dtype == DType::float16 ? base::halfFromDouble(x) : base::bfloat16FromDouble(x);
      std::memcpy(at, &bits, 2);
    }
  }
}

inline double as(DType dtype, double x) { return base::roundTo(dtype, x); }

inline TestTensor contiguous(DType dtype, const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  TestTensor t;
  const std::size_t size = base::sizeBytes(dtype);
  t.memory.resize(values.size() * size + 1);
  for (std::size_t i = 0; i < values.size(); ++i) put(t.memory.data() + i * size, dtype, values[i]);
  t.view = {t.memory.data(), dtype, shape, {}};
  return t;
}

enum class Kind { plain, close, special, extreme };

inline double valueOf(std::mt19937_64& random, Kind kind) {
  std::normal_distribution<double> normal;
  const double x = normal(random);
  if (kind == Kind::plain || kind == Kind::close) return x;
  switch (random() % (kind == Kind::special ? 24 : 12)) {
    case 0: return 0.0;
    case 1: return -0.0;
    case 2: return x * 0x1p-24;   // float16: subnormal, or rounds to zero
    case 3: return x * 0x1p-133;  // bfloat16: so
    case 4: return x * 0x1p-149;
    case 5: return x * 65504;
    case 6: return x * (kind == Kind::extreme ? 0x1p127 : 0x1p120);
    case 7: return kind == Kind::extreme ? (random() % 2 ? 1 : -1) * 0x1.fffffep127 : kNaN;
    case 8: return kind == Kind::extreme ? x * 1e-300 : kInf;
    case 9: return kind == Kind::extreme ? std::ldexp(1.0, static_cast<int>(random() % 40) - 30) : -kInf;
    default: return x;
  }
}

struct Pair {
  std::vector<double> a, b;
};

inline Pair makePair(std::mt19937_64& random, std::int64_t count, Kind kind) {
  Pair pair;
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = valueOf(random, kind);
    pair.a.push_back(a);
    const bool near = kind == Kind::close || random() % 2;
    pair.b.push_back(near ? a * (1 + std::normal_distribution<double>()(random) * 1e-3) : valueOf(random, kind));
    if (random() % 16 == 0) pair.b.back() = a;
  }
  return pair;
}

}  // namespace ulpscope::analysis
