#include "core/engine/inputs.h"
#include "tests/core/engine/fixture.h"

#include <gmock/gmock.h>
#include <torch/csrc/jit/api/module.h>

#include <filesystem>
#include <fstream>

namespace ulpscope::engine {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class Inputs : public testing::Test {
 protected:
  Inputs() : m_model(std::move(loadModel(tests::modelPath("modulelist_shared_mask"))).value()) {}
  ~Inputs() override { std::filesystem::remove(m_path); }

  // A holder with tensors as buffers, as the snippet writes it.
  session::RunRequest holding(const std::map<std::string, at::Tensor>& tensors) {
    torch::jit::Module holder("Holder");
    for (const auto& [name, tensor] : tensors) holder.register_buffer(name, tensor);
    holder.define("def forward(self):\n  return 0\n");
    holder.save(m_path);
    session::RunRequest request = tests::requestFor("modulelist_shared_mask");
    request.inputsPath = m_path;
    return request;
  }
  std::string errorOf(const session::RunRequest& request) {
    const auto set = loadReferenceSet(request, m_model);
    return set.ok() ? "no error" : set.error().message();
  }
  at::Tensor given(const std::string& name) {
    const auto set = loadReferenceSet(tests::requestFor("modulelist_shared_mask"), m_model);
    return set->inputs.at(name).tensor;
  }

  LoadedModel m_model;
  std::string m_path = testing::TempDir() + "ulpscope_inputs_" + std::to_string(::getpid()) + ".pt";
};

TEST_F(Inputs, AreTheSameFromHdf5AndFromAHolder) {
  session::RunRequest request = tests::requestFor("modulelist_shared_mask");
  const auto holder = loadReferenceSet(request, m_model);
  request.inputsPath = tests::modelFolder("modulelist_shared_mask") + "/inputs.h5";
  const auto hdf5 = loadReferenceSet(request, m_model);
  ASSERT_TRUE(holder.ok() && hdf5.ok());
  ASSERT_EQ(holder->inputs.size(), hdf5->inputs.size());
  for (const auto& [name, input] : holder->inputs) EXPECT_TRUE(input.tensor.equal(hdf5->inputs.at(name).tensor)) << name;
}

TEST_F(Inputs, AWrongArgumentNameNamesForwardsArguments) {
  const std::string error = errorOf(holding({{"x", given("x")}, {"masc", given("mask")}}));
  EXPECT_THAT(error, HasSubstr("'masc' is no argument of forward(x, mask)"));
  EXPECT_THAT(error, HasSubstr("'mask'"));
}

TEST_F(Inputs, OfAForwardWithoutArgumentsThereAreNone) {
  const session::RunRequest request = holding({{"x", given("x")}});
  m_model.info.arguments.clear();
  EXPECT_THAT(errorOf(request), EndsWith("'x' is no argument of forward(); forward takes no inputs"));
}

TEST_F(Inputs, AMissingArgumentIsNamed) { EXPECT_THAT(errorOf(holding({{"mask", given("mask")}})), HasSubstr("has no 'x'")); }

TEST_F(Inputs, AnOptionalArgumentMayBeMissing) { EXPECT_EQ(errorOf(holding({{"x", given("x")}})), "no error"); }

TEST_F(Inputs, DifferentSampleCountsAreNamedWithTheWayOut) {
  const std::string error = errorOf(holding({{"x", given("x")}, {"mask", given("mask").narrow(0, 0, 1)}}));
  EXPECT_THAT(error, HasSubstr("'x' holds"));
  EXPECT_THAT(error, HasSubstr("--batch-axis mask=none"));
}

TEST_F(Inputs, ASharedInputGoesWholeIntoEveryBatch) {
  session::RunRequest request = holding({{"x", given("x")}, {"mask", given("mask").narrow(0, 0, 1)}});
  request.settings.batchAxis["mask"] = -1;
  const auto set = loadReferenceSet(request, m_model);
  ASSERT_TRUE(set.ok()) << set.error().message();
  const Arguments arguments = argumentsFor(set.value(), Batch{1, 2});
  EXPECT_EQ(arguments.at("mask").toTensor().size(0), 1);
  EXPECT_TRUE(arguments.at("x").toTensor().equal(given("x").narrow(0, 1, 2)));
}

TEST_F(Inputs, AnEmptySetIsRefused) {
  EXPECT_THAT(errorOf(holding({{"x", given("x").narrow(0, 0, 0)}})), HasSubstr("holds no samples"));
}

// numpy.save's file of a float32 tensor.
std::string npy(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  std::string shape;
  for (const std::int64_t size : plain.sizes()) shape += std::to_string(size) + ", ";
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header + std::string(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
}

TEST_F(Inputs, AnArrayWithoutANameIsForwardsOnlyTensor) {
  session::RunRequest request = holding({});
  std::ofstream(m_path, std::ios::binary) << npy(given("x"));
  const auto set = loadReferenceSet(request, m_model);
  ASSERT_TRUE(set.ok()) << set.error().message();
  ASSERT_EQ(set->inputs.size(), 1U);
  EXPECT_TRUE(set->inputs.at("x").tensor.equal(given("x")));
  for (model::Argument& argument : m_model.info.arguments) argument = {argument.name, "Tensor", false};
  EXPECT_EQ(errorOf(request), m_path + ": holds 1 array without a name, forward(x, mask) takes 2 tensors; name them as its arguments: numpy.savez(F, x=..., mask=...)");
  m_model.info.arguments.clear();
  EXPECT_THAT(errorOf(request), HasSubstr("holds 1 array without a name, forward() takes 0 tensors"));
}

TEST_F(Inputs, APickleNamesTheCommandThatConvertsIt) {
  const session::RunRequest request = holding({});
  std::ofstream(m_path, std::ios::binary) << std::string("\x80\x04K\1.", 5);
  EXPECT_THAT(errorOf(request), HasSubstr("is a pickle, which can run any code when it is read; if you trust it, convert it: python3 -c"));
}

TEST_F(Inputs, AMissingFileIsNamed) {
  session::RunRequest request = tests::requestFor("modulelist_shared_mask");
  request.inputsPath = "/nonexistent/inputs.pt";
  EXPECT_THAT(errorOf(request), HasSubstr("/nonexistent/inputs.pt"));
}

}  // namespace
}  // namespace ulpscope::engine
