// Emulated ops against a table that tests/support/cuda_cases.py makes: result dtypes and errors as PyTorch's own CUDA autocast answers
// them on fake tensors, values rounded by numpy.
#include "core/base/float_formats.h"
#include "core/engine/values.h"
#include "tests/core/engine/emulated.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <torch/jit.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace ulpscope::engine {
namespace {

using nlohmann::json;

const json& table() {
  static const json read = [] {
    std::ifstream file(ULPSCOPE_TEST_BUILD "/testdata/cuda_cases.json");
    return json::parse(file);
  }();
  return read;
}

double numberOf(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number()) return value.get<double>();
  return value == "NaN" ? std::nan("") : (value == "+inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
}

at::Tensor tensorOf(const json& input) {
  std::vector<double> values;
  for (const json& value : input.at("values")) values.push_back(numberOf(value));
  const auto dtype = base::dtypeFromName(input.at("dtype").get<std::string>());
  return at::tensor(values, at::kDouble).to(scalarTypeOf(dtype.value())).view(input.at("shape").get<std::vector<std::int64_t>>());
}

// The case's function run as a model's code is run in the candidate.
std::vector<at::Tensor> emulated(const json& aCase) {
  const auto unit = torch::jit::compile(aCase.at("cpp_source").get<std::string>());
  std::vector<c10::IValue> arguments;
  for (const json& input : aCase.at("inputs")) arguments.emplace_back(tensorOf(input));
  Emulated emulator(aCase.at("low") == "bfloat16" ? at::kBFloat16 : at::kHalf);
  std::vector<at::Tensor> results;
  forEachTensor(emulator([&] { return unit->get_function("case")(arguments); }), [&](const at::Tensor& t) { results.push_back(t); });
  return results;
}

// The steps of `dtype` from x to y; not-a-number equals not-a-number.
std::int64_t steps(base::DType dtype, double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  if (dtype == base::DType::float16 || dtype == base::DType::bfloat16) return std::isnan(x) || std::isnan(y) ? INT32_MAX : base::ulpDistance(dtype, x, y);
  if (!std::isfinite(x) || !std::isfinite(y)) return INT32_MAX;
  const double step = dtype == base::DType::float64 ? std::fabs(std::nextafter(x, INFINITY) - x) : static_cast<double>(std::nextafter(std::fabs(static_cast<float>(x)), INFINITY) - std::fabs(static_cast<float>(x)));
  return static_cast<std::int64_t>(std::min(std::fabs(x - y) / step, 1e9) + 0.5);
}

void expectValues(const at::Tensor& found, const json& expected, const json& aCase, std::size_t output) {
  const HeldView view = viewOf(found);
  ASSERT_EQ(view.view.elementCount(), static_cast<std::int64_t>(expected.size()));
  double largest = 0;
  for (const json& value : expected)
    if (std::isfinite(numberOf(value))) largest = std::max(largest, std::fabs(numberOf(value)));
  const double slack = aCase.value("tolerance_abs", 0.0) * largest;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double wanted = numberOf(expected[i]), got = analysis::elementAt(view.view, static_cast<std::int64_t>(i));
    if (std::fabs(wanted - got) <= slack) continue;
    EXPECT_LE(steps(view.view.dtype, wanted, got), aCase.at("tolerance_ulp").get<double>())
        << "output " << output << "[" << i << "]: " << got << " instead of " << wanted;
  }
}

class CudaCase : public testing::TestWithParam<std::string> {};

TEST_P(CudaCase, HasCudasDtypesErrorsAndValues) {
  for (const json& aCase : table().at("cases")) {
    if (aCase.at("family") != GetParam()) continue;
    SCOPED_TRACE(aCase.at("name").get<std::string>() + " under " + aCase.at("low").get<std::string>() + "\n" + aCase.at("source").get<std::string>());
    std::vector<at::Tensor> results;
    std::string raised;
    try {
      results = emulated(aCase);
    } catch (const std::exception& e) {
      raised = e.what();
    }
    EXPECT_EQ(!raised.empty(), !aCase.at("raises").is_null()) << (raised.empty() ? "PyTorch raises: " + aCase.at("raises").dump() : raised);
    if (!raised.empty() || !aCase.at("raises").is_null()) continue;
    ASSERT_EQ(results.size(), aCase.at("dtypes").size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(base::name(dtypeOf(results[i].scalar_type())), aCase.at("dtypes")[i].get<std::string>()) << "output " << i;
      if (!aCase.at("values").is_null() && !aCase.at("values")[i].is_null()) expectValues(results[i], aCase.at("values")[i], aCase, i);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, CudaCase, testing::Values("binary", "cast", "chain", "comparison", "convolution", "embedding", "factory", "fill", "in place", "index", "interpolate", "join", "loss", "norm", "normalization", "order", "pool", "product", "promotion", "recurrent", "reduction", "softmax", "ternary", "unary", "view"),
                         [](const auto& family) {
                           std::string name = family.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// What must have all inputs in one dtype raises on mixed ones on the CPU as well, where double and float stand for float and half.
TEST(SameDtypeRule, HoldsForTheOpsThatRaiseOnMixedInputsAndForNoOther) {
  int seen = 0;
  for (const json& aCase : table().at("cases")) {
    const std::string op = aCase.at("op").get<std::string>();
    const auto rule = outputRule(op);
    if (aCase.at("mixed").is_null() || op.empty() || !rule) continue;
    if (rule->kind != OutputRule::Kind::same && rule->kind != OutputRule::Kind::promote) continue;  // CUDA takes what the CPU's kernels refuse
    ++seen;
    EXPECT_EQ(rule->kind == OutputRule::Kind::same, aCase.at("mixed").get<bool>()) << op << " in " << aCase.at("name");
  }
  EXPECT_GT(seen, 20);
}

}  // namespace
}  // namespace ulpscope::engine
