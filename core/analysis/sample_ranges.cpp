#include "core/analysis/sample_ranges.h"

#include "core/base/float_formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ulpscope::analysis {
namespace {

using base::DType;

constexpr std::int64_t kChunk = 4096;  // its count of zeros fits into 16 bits
constexpr std::int64_t kShort = 8;     // fewer elements in a row are added one by one

// Of one chunk, as bit patterns: they sort as the values do once the sign is turned into an order.
template <typename Unsigned, typename Signed>
struct Extremes {
  Signed low, high;          // ordered
  Unsigned largest;          // magnitude
  Unsigned smallestLessOne;  // magnitude of what is not zero, minus one: a zero wraps to the largest number
  Unsigned zeros;
};

template <typename Unsigned, typename Signed>
[[gnu::always_inline]] inline Extremes<Unsigned, Signed> extremesOf(const Unsigned* bits, std::int64_t count) {
  constexpr int kSign = 8 * sizeof(Unsigned) - 1;
  constexpr auto kMagnitude = static_cast<Unsigned>(static_cast<Unsigned>(~Unsigned{0}) >> 1);
  Extremes<Unsigned, Signed> e{static_cast<Signed>(kMagnitude), static_cast<Signed>(~kMagnitude), 0, static_cast<Unsigned>(~Unsigned{0}), 0};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<Unsigned>(bits[i] & kMagnitude);
    const auto sign = static_cast<Signed>(static_cast<Signed>(bits[i]) >> kSign);
    const auto ordered = static_cast<Signed>((magnitude ^ sign) - sign);  // -magnitude where the sign is set
    const auto lessOne = static_cast<Unsigned>(magnitude - 1);
    e.low = ordered < e.low ? ordered : e.low;
    e.high = ordered > e.high ? ordered : e.high;
    e.largest = magnitude > e.largest ? magnitude : e.largest;
    e.smallestLessOne = lessOne < e.smallestLessOne ? lessOne : e.smallestLessOne;
    e.zeros = static_cast<Unsigned>(e.zeros + (magnitude == 0));
  }
  return e;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ULPSCOPE_EVERY_WIDTH __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define ULPSCOPE_EVERY_WIDTH
#endif

ULPSCOPE_EVERY_WIDTH Extremes<std::uint32_t, std::int32_t> extremes32(const std::uint32_t* bits, std::int64_t count) {
  return extremesOf<std::uint32_t, std::int32_t>(bits, count);
}

ULPSCOPE_EVERY_WIDTH Extremes<std::uint16_t, std::int16_t> extremes16(const std::uint16_t* bits, std::int64_t count) {
  return extremesOf<std::uint16_t, std::int16_t>(bits, count);
}

struct Float32 {
  static constexpr std::uint32_t kInfinity = 0x7F800000;
  static double valueOf(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  static auto extremes(const void* data, std::int64_t count) { return extremes32(static_cast<const std::uint32_t*>(data), count); }
};
struct Float16 {
  static constexpr std::uint16_t kInfinity = 0x7C00;
  static double valueOf(std::uint16_t bits) { return base::floatFromHalf(bits); }
  static auto extremes(const void* data, std::int64_t count) { return extremes16(static_cast<const std::uint16_t*>(data), count); }
};
struct Bfloat16 {
  static constexpr std::uint16_t kInfinity = 0x7F80;
  static double valueOf(std::uint16_t bits) { return base::floatFromBfloat16(bits); }
  static auto extremes(const void* data, std::int64_t count) { return extremes16(static_cast<const std::uint16_t*>(data), count); }
};

void merge(RangeSummary& into, double low, double high, double smallest, std::int64_t zeros) {
  session::ValueRange& r = into.range;
  if (!(r.min <= low)) r.min = low;
  if (!(r.max >= high)) r.max = high;
  const double magnitude = std::max(std::fabs(low), std::fabs(high));
  if (!(r.maxAbs >= magnitude)) r.maxAbs = magnitude;
  if (!(into.smallestNonZero <= smallest) && !std::isnan(smallest)) into.smallestNonZero = smallest;
  into.zeros += zeros;
}

void addOneByOne(RangeSummary& into, const TensorView& flat, std::int64_t first, std::int64_t count) {
  for (std::int64_t i = first; i < first + count; ++i) add(into, elementAt(flat, i));
}

// A chunk in one sweep; one that holds something non-finite element by element.
template <typename Format>
void addChunk(RangeSummary& into, const TensorView& flat, std::int64_t first, std::int64_t count) {
  const auto e = Format::extremes(static_cast<const std::byte*>(flat.data) + first * static_cast<std::int64_t>(base::sizeBytes(flat.dtype)), count);
  using Bits = std::remove_const_t<decltype(e.largest)>;
  if (e.largest >= Format::kInfinity) return addOneByOne(into, flat, first, count);
  const auto value = [](auto ordered) { return ordered < 0 ? -Format::valueOf(static_cast<Bits>(-ordered)) : Format::valueOf(static_cast<Bits>(ordered)); };
  const double smallest = e.largest == 0 ? std::nan("") : Format::valueOf(static_cast<Bits>(e.smallestLessOne + 1));
  merge(into, value(e.low), value(e.high), smallest, e.zeros);
}

void addRun(RangeSummary& into, const TensorView& flat, std::int64_t first, std::int64_t count) {
  for (const std::int64_t end = first + count; first < end; first += kChunk) {
    const std::int64_t n = std::min(kChunk, end - first);
    const DType dtype = n < kShort ? DType::float64 : flat.dtype;
    if (dtype == DType::float32)
      addChunk<Float32>(into, flat, first, n);
    else if (dtype == DType::float16)
      addChunk<Float16>(into, flat, first, n);
    else if (dtype == DType::bfloat16)
      addChunk<Bfloat16>(into, flat, first, n);
    else
      addOneByOne(into, flat, first, n);
  }
}

// Elements [first, first + count) of the tensor, which lie in `flat` from element `base` on, each to its sample.
struct Piece {
  TensorView flat;
  std::int64_t base, first, count;
};

void addPiece(std::vector<RangeSummary>& samples, const Piece& piece, const SampleLayout& layout) {
  const std::int64_t end = piece.first + piece.count;
  for (std::int64_t at = piece.first; at < end;) {
    const std::int64_t run = at / layout.inner;
    const std::int64_t next = std::min(end, (run + 1) * layout.inner);
    addRun(samples[static_cast<std::size_t>(layout.sampleOf(run % layout.axis))], piece.flat, at - piece.base, next - at);
    at = next;
  }
}

}  // namespace

std::vector<RangeSummary> rangesOf(const TensorView& view, const SampleLayout& layout) {
  std::vector<RangeSummary> samples(static_cast<std::size_t>(layout.samples), emptyRange());
  const std::int64_t count = view.elementCount();
  if (view.isContiguous()) {
    addPiece(samples, {{view.data, view.dtype, {}, {}}, 0, 0, count}, layout);
    return samples;
  }
  std::vector<std::byte> chunk(static_cast<std::size_t>(std::min(kChunk, count)) * base::sizeBytes(view.dtype));
  for (std::int64_t first = 0; first < count; first += kChunk) {
    const std::int64_t n = std::min(kChunk, count - first);
    packElements(view, first, n, chunk.data());
    addPiece(samples, {{chunk.data(), view.dtype, {}, {}}, first, first, n}, layout);
  }
  return samples;
}

}  // namespace ulpscope::analysis
