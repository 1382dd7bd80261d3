// compareTensors over all sample layouts and over elements that lie in memory in other ways than row by row.
#include "plain_divergence.h"

namespace ulpscope::analysis {
namespace {

// Views of one memory: a shape, its strides and where it starts.
struct Geometry {
  const char* name;
  std::vector<std::int64_t> shape, strides;
  std::int64_t first;
};

const std::vector<Geometry> kGeometries{{"contiguous", {6, 5, 64}, {320, 64, 1}, 0},
                                        {"transposed", {64, 5, 6}, {1, 64, 320}, 0},
                                        {"inner pair swapped", {6, 64, 5}, {320, 1, 64}, 0},
                                        {"channels last", {2, 3, 4, 6}, {72, 1, 18, 3}, 0},
                                        {"expanded rows", {6, 7, 33}, {33, 0, 1}, 0},
                                        {"expanded scalar", {6, 4, 5}, {0, 0, 0}, 3},
                                        {"every second", {6, 5, 31}, {320, 64, 2}, 1},
                                        {"a slice", {6, 3, 17}, {320, 64, 1}, 70},
                                        {"reversed", {6, 50}, {-50, -1}, 299},
                                        {"long rows", {6, 9001}, {3, 1}, 0},
                                        {"ones", {1, 6, 1}, {7, 1, 9}, 0},
                                        {"one element a sample", {40, 6}, {1, 40}, 0},
                                        {"many samples", {3, 600}, {1, 3}, 0}};

double elementOf(const std::vector<double>& values, DType dtype, const Geometry& g, std::int64_t i) {
  std::int64_t offset = g.first;
  for (std::size_t d = g.shape.size(); d-- > 0; i /= g.shape[d]) offset += i % g.shape[d] * g.strides[d];
  return as(dtype, values[static_cast<std::size_t>(offset)]);
}

std::int64_t countOf(const Geometry& g) {
  std::int64_t count = 1;
  for (const std::int64_t size : g.shape) count *= size;
  return count;
}

TestTensor viewed(DType dtype, const std::vector<double>& values, const Geometry& g) {
  TestTensor t = contiguous(dtype, values, {static_cast<std::int64_t>(values.size())});
  t.view.data = t.memory.data() + static_cast<std::size_t>(g.first) * base::sizeBytes(dtype);
  t.view.shape = g.shape;
  t.view.strides = g.strides;
  return t;
}

std::vector<SampleLayout> layoutsOf(const std::vector<std::int64_t>& shape) {
  using Axis = session::SampleAxis;
  std::vector<SampleLayout> all{layoutOf(shape, {}, 1)};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    all.push_back(layoutOf(shape, {Axis::Kind::plain, static_cast<int>(d)}, shape[d]));
    for (const std::int64_t samples : {2, 3}) {
      if (shape[d] % samples != 0) continue;
      all.push_back(layoutOf(shape, {Axis::Kind::sampleMajor, static_cast<int>(d)}, samples));
      all.push_back(layoutOf(shape, {Axis::Kind::sampleMinor, static_cast<int>(d)}, samples));
    }
  }
  return all;
}

std::vector<Naive> naiveSamples(const Pair& pair, const Geometry& g, const SampleLayout& layout, const CompareOptions& options) {
  std::vector<Naive> samples(static_cast<std::size_t>(layout.samples));
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < layout.outer; ++outer)
    for (std::int64_t axis = 0; axis < layout.axis; ++axis)
      for (std::int64_t inner = 0; inner < layout.inner; ++inner, ++i)
        samples[static_cast<std::size_t>(layout.sampleOf(axis))].add(elementOf(pair.a, DType::float32, g, i), elementOf(pair.b, DType::float16, g, i), options);
  return samples;
}

TEST(Kernel, AgreesWithThePlainLoopInEveryLayoutAndForAnyStrides) {
  std::mt19937_64 random(3);
  const CompareOptions options{DType::float16, {1e-3, 1e-5}, true};
  for (const Geometry& g : kGeometries) {
    const Pair pair = makePair(random, 9100, Kind::special);
    const TestTensor a = viewed(DType::float32, pair.a, g), b = viewed(DType::float16, pair.b, g);
    ASSERT_EQ(a.view.elementCount(), countOf(g));
    for (const SampleLayout& layout : layoutsOf(g.shape)) {
      SCOPED_TRACE(testing::Message() << g.name << ", layout " << static_cast<int>(layout.kind) << " [" << layout.outer << ", " << layout.axis << ", " << layout.inner
                                      << "], samples " << layout.samples);
      const std::vector<Naive> expected = naiveSamples(pair, g, layout, options);
      for (const InstructionSet set : instructionSets()) {
        const auto actual = on(set, a.view, b.view, layout, options);
        ASSERT_EQ(actual.size(), expected.size());
        for (std::size_t s = 0; s < expected.size(); ++s) expectSame(actual[s], expected[s]);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(Kernel, TheWayElementsLieInMemoryChangesNoBit) {
  std::mt19937_64 random(5);
  const CompareOptions options{DType::float16, {1e-3, 1e-5}, true};
  for (const DType type : {DType::float32, DType::float64}) {
    for (const Geometry& g : kGeometries) {
      const Pair pair = makePair(random, 9100, Kind::special);
      const TestTensor a = viewed(type, pair.a, g), b = viewed(type, pair.b, g);
      std::vector<double> flatA, flatB;
      for (std::int64_t i = 0; i < countOf(g); ++i) {
        flatA.push_back(elementOf(pair.a, type, g, i));
        flatB.push_back(elementOf(pair.b, type, g, i));
      }
      const TestTensor packedA = contiguous(type, flatA, g.shape), packedB = contiguous(type, flatB, g.shape);
      for (const SampleLayout& layout : layoutsOf(g.shape)) {
        SCOPED_TRACE(g.name);
        const auto expected = on(InstructionSet::portable, packedA.view, packedB.view, layout, options);
        const auto both = on(bestInstructionSet(), a.view, b.view, layout, options);
        const auto one = on(bestInstructionSet(), packedA.view, b.view, layout, options);
        for (std::size_t s = 0; s < expected.size(); ++s) {
          EXPECT_EQ(bitsOf(both[s]), bitsOf(expected[s]));
          EXPECT_EQ(bitsOf(one[s]), bitsOf(expected[s]));
        }
      }
    }
  }
}

}  // namespace
}  // namespace ulpscope::analysis
