#if defined(__x86_64__)
#include "core/analysis/divergence_simd.inl"

#include <immintrin.h>

namespace ulpscope::analysis {
namespace {

struct Avx2 {
  using F = __m256;
  using D = __m256d;
  using I = __m256i;
  using Mask = __m256;  // a lane is all ones or all zeros
  using K = __m128i;  // 8 16-bit patterns
  static constexpr int kFloats = 8, kDoubles = 4;

  static F load(const float* p) { return _mm256_loadu_ps(p); }
  static K loadBits(const std::uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static F fromHalf(K bits) { return _mm256_cvtph_ps(bits); }
  static F fromBfloat(K bits) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16)); }
  static void store(float* p, F x) { _mm256_storeu_ps(p, x); }
  static void store(double* p, D x) { _mm256_storeu_pd(p, x); }
  static F set(float x) { return _mm256_set1_ps(x); }
  static D setD(double x) { return _mm256_set1_pd(x); }
  // Moved by 2^31, since there is just a signed comparison.
  static I setBits(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x ^ 0x80000000U)); }

  static F abs(F x) { return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF))); }
  static F sub(F x, F y) { return _mm256_sub_ps(x, y); }
  // The accumulator stands second: a NaN in x leaves it as it is.
  static F min(F x, F y) { return _mm256_min_ps(x, y); }
  static F max(F x, F y) { return _mm256_max_ps(x, y); }
  static F fma(F x, F y, F z) { return _mm256_fmadd_ps(x, y, z); }
  static Mask greater(Mask among, F x, F y) { return _mm256_and_ps(among, _mm256_cmp_ps(x, y, _CMP_GT_OQ)); }
  static Mask different(F x, F y) { return _mm256_cmp_ps(x, y, _CMP_NEQ_UQ); }
  // Of magnitudes: x - 1 < limit as unsigned, so that zero is the largest; both sides moved by 2^31.
  static Mask smaller(F x, I limit) {
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(limit, _mm256_add_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF))));
  }
  static Mask either(Mask x, Mask y) { return _mm256_or_ps(x, y); }
  static Mask eitherOf(Mask x, Mask y) { return _mm256_xor_ps(x, y); }
  static bool any(Mask x) { return _mm256_movemask_ps(x) != 0; }
  static int count(Mask x) { return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(x))); }
  static float smallestF(F x) {
    float lanes[kFloats];
    store(lanes, x);
    float least = lanes[0];
    for (const float lane : lanes) least = lane < least ? lane : least;
    return least;
  }
  static float largestF(F x) { return -smallestF(sub(_mm256_setzero_ps(), x)); }

  static D low(F x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
  static D high(F x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
  static D absD(D x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
  static D addD(D x, D y) { return _mm256_add_pd(x, y); }
  static D addSquare(D sum, D x) { return _mm256_fmadd_pd(x, x, sum); }
  static D subD(D x, D y) { return _mm256_sub_pd(x, y); }
  static D mul(D x, D y) { return _mm256_mul_pd(x, y); }
  static D div(D x, D y) { return _mm256_div_pd(x, y); }
  static D maxD(D x, D y) { return _mm256_max_pd(x, y); }
  static D addProduct(D sum, D x, D y) { return _mm256_fmadd_pd(x, y, sum); }
  static unsigned greaterD(D x, D y) { return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(x, y, _CMP_GT_OQ))); }
  static double largest(D x) {
    double lanes[kDoubles];
    store(lanes, x);
    double most = lanes[0];
    for (const double lane : lanes) most = lane > most ? lane : most;
    return most;
  }

  static K noDistance() { return _mm_setzero_si128(); }
  static K halfKey(F x) { return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static K bfloatKey(F x) {
    const I bits = _mm256_castps_si256(x);
    const I even = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const I rounded = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), even), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
  }
  static K setKey(std::int16_t x) { return _mm_set1_epi16(x); }
  static K setLimit(std::uint16_t x) { return _mm_set1_epi16(static_cast<short>(x ^ 0x8000U)); }
  static K minKey(K x, K y) { return _mm_min_epi16(x, y); }
  static K maxKey(K x, K y) { return _mm_max_epi16(x, y); }
  static void store(std::int16_t* p, K x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x); }
  static Mask smallerKey(K bits, K limit) {
    const K moved = _mm_add_epi16(_mm_and_si128(bits, _mm_set1_epi16(0x7FFF)), _mm_set1_epi16(0x7FFF));  // - 1 + 2^15
    return _mm256_castsi256_ps(_mm256_cvtepi16_epi32(_mm_cmpgt_epi16(limit, moved)));
  }
  static K ordered(K x) {
    const K sign = _mm_srai_epi16(x, 15);
    return _mm_sub_epi16(_mm_xor_si128(_mm_and_si128(x, _mm_set1_epi16(0x7FFF)), sign), sign);
  }
  static K maxDistance(K most, K p, K q) {
    return _mm_max_epu16(most, _mm_sub_epi16(_mm_max_epi16(p, q), _mm_min_epi16(p, q)));
  }
  static std::int32_t largestDistance(K most) {
    std::uint16_t lanes[8];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(lanes), most);
    std::int32_t largest = 0;
    for (const std::uint16_t lane : lanes) largest = lane > largest ? lane : largest;
    return largest;
  }
};

}  // namespace

PairKernel avx2Kernel() { return {addWith<Avx2>, widenWith<Avx2>}; }

}  // namespace ulpscope::analysis
#endif
