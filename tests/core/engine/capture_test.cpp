// Op outputs stored in full, from the engine through the run's writer and back.
#include "core/base/float_formats.h"
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/stored_elements.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <optional>

namespace ulpscope::engine {
namespace {

using storage::RunSide;
using testing::ElementsAre;
using testing::HasSubstr;

// A run whose session lies in a folder of its own.
struct StoredRun {
  tests::ScratchFolder folder;
  std::string master = folder.file("captured.ulps");
  base::Result<session::Session> session = base::Error{};
  std::vector<storage::OutputTensors> outputs;

  explicit StoredRun(const session::RunRequest& request) {
    std::optional<storage::RunWriter> writer;
    RunHooks hooks;
    hooks.open = [&](const model::ModelInfo& model, const session::SampleSet& samples) -> base::Result<storage::RunWriter*> {
      session::Session made = storage::newSession("captured");
      made.model = model;
      made.samples = samples;
      auto begun = storage::RunWriter::begin(master, made, storage::WriteMode::create);
      if (!begun) return begun.error();
      writer.emplace(std::move(begun).value());
      return &*writer;
    };
    Engine engine;
    auto outcome = engine.run(request, hooks, {});
    if (!outcome) {
      session = outcome.error();
      return;
    }
    outputs = outcome->outputs;
    session = writer->finish(std::move(outcome->run), outcome->metrics, outputs);
  }

  const session::RunRecord& run() const { return session->runs.front(); }
  std::size_t captureOf(const std::string& op) const {
    const auto& sites = run().capture->sites;
    for (std::size_t i = 0; i < sites.size(); ++i)
      if (run().sites[static_cast<std::size_t>(sites[i].site)].op == op) return i;
    ADD_FAILURE() << op << " was not captured";
    return 0;
  }
  std::vector<storage::CapturedBlock> blocks(const std::string& op, RunSide side) const {
    auto read = storage::readCapture(master, session.value(), run().id(), captureOf(op), side);
    EXPECT_TRUE(read.ok()) << read.error().message();
    return read.ok() ? read.value() : std::vector<storage::CapturedBlock>{};
  }
};

session::RunRequest capturing(const std::vector<std::string>& patterns, int batchSize = 32) {
  session::RunRequest request = tests::requestFor("observed/Exact");
  request.settings.capture = patterns;
  request.settings.batchSize = batchSize;
  return request;
}

float valueAt(const storage::CapturedBlock& block, std::size_t i) {
  if (block.dtype == base::DType::float32) {
    float value = 0;
    std::memcpy(&value, block.bytes.data() + i * sizeof value, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, block.bytes.data() + i * sizeof bits, sizeof bits);
  return base::floatFromHalf(bits);
}

TEST(Capture, HoldsWhatTheOpGaveThoughItLiesTransposedInMemory) {
  const StoredRun stored(capturing({"*"}));
  ASSERT_TRUE(stored.session.ok()) << stored.session.error().message();
  for (const RunSide side : {RunSide::reference, RunSide::candidate}) {
    const auto blocks = stored.blocks("aten::mul", side);
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_THAT(blocks[0].shape, ElementsAre(6, 5));
    EXPECT_EQ(blocks[0].dtype, side == RunSide::reference ? base::DType::float32 : base::DType::float16);
    // The model gives back the transposed: [5, 6].
    const auto output = tests::floatsOf(side == RunSide::reference ? stored.outputs.at(0).reference : stored.outputs.at(0).candidate);
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t column = 0; column < 5; ++column) EXPECT_EQ(valueAt(blocks[0], row * 5 + column), output[column * 6 + row]);
  }
}

TEST(Capture, JoinsBatchesOnTheFirstAxisAndKeepsOthersApart) {
  const StoredRun whole(capturing({"."}));
  const StoredRun stored(capturing({"."}, 2));
  ASSERT_TRUE(stored.session.ok()) << stored.session.error().message();
  const auto joined = stored.blocks("aten::linear", RunSide::candidate);
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_THAT(joined[0].shape, ElementsAre(5, 6));
  EXPECT_EQ(joined[0].bytes, whole.blocks("aten::linear", RunSide::candidate).at(0).bytes) << "sums are exact: the batch size changes nothing";
  std::vector<std::int64_t> widths;
  for (const auto& block : stored.blocks("aten::mul", RunSide::reference)) widths.push_back(block.shape.at(1));
  EXPECT_THAT(widths, ElementsAre(2, 2, 1));
}

TEST(Capture, TakesInTheModulesThatArePicked) {
  const StoredRun stored(capturing({"lin"}));
  ASSERT_TRUE(stored.session.ok()) << stored.session.error().message();
  ASSERT_EQ(stored.run().capture->sites.size(), 1U);
  EXPECT_EQ(stored.run().sites[static_cast<std::size_t>(stored.run().capture->sites[0].site)].modulePath, "lin");
  EXPECT_EQ(stored.run().capture->sites[0].bytes, 5 * 6 * (4 + 2));
}

TEST(Capture, ListsWhatTheBudgetLeavesOut) {
  session::RunRequest request = capturing({"*"}, 2);
  request.settings.captureBudget = 5 * 6 * (4 + 2) + 10;  // room for one of the two
  const StoredRun stored(request);
  ASSERT_TRUE(stored.session.ok()) << stored.session.error().message();
  const session::Capture& capture = *stored.run().capture;
  ASSERT_EQ(capture.sites.size(), 1U);
  ASSERT_EQ(capture.leftOut.size(), 1U);
  EXPECT_EQ(stored.run().sites[static_cast<std::size_t>(capture.leftOut[0].site)].op, "aten::mul");
  EXPECT_EQ(capture.leftOut[0].bytes, 5 * 6 * (4 + 2));
  EXPECT_EQ(capture.leftOut[0].why, "budget");
}

TEST(Capture, OfAModuleThatIsNotThereIsRefused) {
  const StoredRun stored(capturing({"lim"}));
  ASSERT_FALSE(stored.session.ok());
  EXPECT_EQ(stored.session.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(stored.session.error().message(), HasSubstr("--capture"));
  EXPECT_THAT(stored.session.error().message(), HasSubstr("lin"));
  EXPECT_TRUE(std::filesystem::is_empty(stored.folder.path())) << "nothing is left of a run that did not start";
}

}  // namespace
}  // namespace ulpscope::engine
