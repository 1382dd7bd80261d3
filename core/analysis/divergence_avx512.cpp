#if defined(__x86_64__)
#include "core/analysis/divergence_simd.inl"

#include <immintrin.h>

namespace ulpscope::analysis {
namespace {

struct Avx512 {
  using F = __m512;
  using D = __m512d;
  using I = __m512i;
  using Mask = __mmask16;
  using K = __m256i;  // 16 16-bit patterns
  static constexpr int kFloats = 16, kDoubles = 8;

  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static K loadBits(const std::uint16_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static F fromHalf(K bits) { return _mm512_cvtph_ps(bits); }
  static F fromBfloat(K bits) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16)); }
  static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static void store(double* p, D x) { _mm512_storeu_pd(p, x); }
  static F set(float x) { return _mm512_set1_ps(x); }
  static D setD(double x) { return _mm512_set1_pd(x); }
  static I setBits(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }

  static F abs(F x) { return _mm512_abs_ps(x); }
  static F sub(F x, F y) { return _mm512_sub_ps(x, y); }
  // The accumulator stands second: a NaN in x leaves it as it is.
  static F min(F x, F y) { return _mm512_min_ps(x, y); }
  static F max(F x, F y) { return _mm512_max_ps(x, y); }
  static F fma(F x, F y, F z) { return _mm512_fmadd_ps(x, y, z); }
  static Mask greater(Mask among, F x, F y) { return _mm512_mask_cmp_ps_mask(among, x, y, _CMP_GT_OQ); }
  static Mask different(F x, F y) { return _mm512_cmp_ps_mask(x, y, _CMP_NEQ_UQ); }
  // Of magnitudes: x - 1 < limit as unsigned, so that zero is the largest.
  static Mask smaller(F x, I limit) { return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(1)), limit); }
  static Mask either(Mask x, Mask y) { return _kor_mask16(x, y); }
  static Mask eitherOf(Mask x, Mask y) { return _kxor_mask16(x, y); }
  static bool any(Mask x) { return !_kortestz_mask16_u8(x, x); }
  static int count(Mask x) { return __builtin_popcount(_cvtmask16_u32(x)); }
  static float smallestF(F x) { return _mm512_reduce_min_ps(x); }
  static float largestF(F x) { return _mm512_reduce_max_ps(x); }

  static D low(F x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
  static D high(F x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
  static D absD(D x) { return _mm512_abs_pd(x); }
  static D addD(D x, D y) { return _mm512_add_pd(x, y); }
  static D addSquare(D sum, D x) { return _mm512_fmadd_pd(x, x, sum); }
  static D subD(D x, D y) { return _mm512_sub_pd(x, y); }
  static D mul(D x, D y) { return _mm512_mul_pd(x, y); }
  static D div(D x, D y) { return _mm512_div_pd(x, y); }
  static D maxD(D x, D y) { return _mm512_max_pd(x, y); }
  static D addProduct(D sum, D x, D y) { return _mm512_fmadd_pd(x, y, sum); }
  static unsigned greaterD(D x, D y) { return _mm512_cmp_pd_mask(x, y, _CMP_GT_OQ); }
  static double largest(D x) { return _mm512_reduce_max_pd(x); }

  static K noDistance() { return _mm256_setzero_si256(); }
  static K halfKey(F x) { return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static K bfloatKey(F x) {
    const I bits = _mm512_castps_si512(x);
    const I even = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const I rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), even);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
  }
  static K setKey(std::int16_t x) { return _mm256_set1_epi16(x); }
  static K setLimit(std::uint16_t x) { return _mm256_set1_epi16(static_cast<short>(x)); }
  static K minKey(K x, K y) { return _mm256_min_epi16(x, y); }
  static K maxKey(K x, K y) { return _mm256_max_epi16(x, y); }
  static void store(std::int16_t* p, K x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
  static Mask smallerKey(K bits, K limit) {
    return _mm256_cmplt_epu16_mask(_mm256_sub_epi16(_mm256_and_si256(bits, _mm256_set1_epi16(0x7FFF)), _mm256_set1_epi16(1)), limit);
  }
  // Sign and magnitude to steps from zero: 0x8000 - (0x8000 + m) = -m.
  static K ordered(K x) { return _mm256_mask_sub_epi16(x, _mm256_movepi16_mask(x), _mm256_set1_epi16(-0x8000), x); }
  static K maxDistance(K most, K p, K q) {
    return _mm256_max_epu16(most, _mm256_sub_epi16(_mm256_max_epi16(p, q), _mm256_min_epi16(p, q)));
  }
  static std::int32_t largestDistance(K most) {
    std::uint16_t lanes[16];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), most);
    std::int32_t largest = 0;
    for (const std::uint16_t lane : lanes) largest = lane > largest ? lane : largest;
    return largest;
  }
};

}  // namespace

PairKernel avx512Kernel() { return {addWith<Avx512>, widenWith<Avx512>}; }

}  // namespace ulpscope::analysis
#endif
