#include "core/base/clock.h"
#include "core/base/dtype.h"
#include "core/base/error.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace ulpscope::base;

namespace {

// The table of exit codes that scripts rely on.
TEST(Error, HasTheExitCodeOfItsKind) {
  EXPECT_EQ(exitCode(ErrorKind::usage), 2);
  EXPECT_EQ(exitCode(ErrorKind::input), 3);
  EXPECT_EQ(exitCode(ErrorKind::run), 4);
  EXPECT_EQ(exitCode(ErrorKind::internal), 4);
  EXPECT_EQ(exitCode(ErrorKind::inconclusive), 5);
  EXPECT_EQ(exitCode(ErrorKind::cancelled), 130);
}

TEST(Error, IsOneLineThatSaysWhatWhichAndWhatToDo) {
  const Error error{ErrorKind::input, "is cut\nshort", "run.h5", "copy it again"};
  EXPECT_EQ(error.message(), "run.h5: is cut short; copy it again");
  EXPECT_EQ((Error{ErrorKind::run, "failed", "", ""}).message(), "failed");
  EXPECT_EQ(error.within("s.ulps").which, "s.ulps, run.h5");
  EXPECT_EQ((Error{ErrorKind::run, "failed", "", ""}).within("s.ulps").which, "s.ulps");
}

TEST(Error, EchoesALongPlaceWithItsStartAndEndOnly) {
  const std::string path = "/models/" + std::string(4984, 'x') + "/last.ts";  // 5,000 bytes
  const std::string echoed = "/models/" + std::string(142, 'x') + "..." + std::string(42, 'x') + "/last.ts";
  EXPECT_EQ((Error{ErrorKind::input, "cannot be opened", path, "see " + path + " again"}).message(),
            echoed + ": cannot be opened; see " + echoed + " again");
  const std::string exactly(200, 'x');
  EXPECT_EQ((Error{ErrorKind::input, exactly, exactly, exactly}).message(), exactly + ": " + exactly + "; " + exactly);
  EXPECT_EQ(toJson(Error{ErrorKind::input, "", path, ""})["which"], path);
}

TEST(Error, NeverCutsACharacterInTwo) {
  std::string path = "x";
  for (int i = 0; i < 300; ++i) path += "\u20ac";  // three bytes each, so that neither cut falls between two
  const std::string text = Error{ErrorKind::input, "", path, ""}.message();
  EXPECT_NO_THROW(nlohmann::json(text).dump());  // throws on what is no UTF-8
  EXPECT_LT(text.size(), 210U);
}

TEST(Error, LeavesLongSentencesWhole) {
  std::string sentence = "a";
  for (int i = 0; i < 300; ++i) sentence += " word";
  EXPECT_EQ((Error{ErrorKind::run, sentence, "", ""}).message(), sentence);
}

TEST(Error, ComesBackFromJson) {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::input, ErrorKind::run, ErrorKind::inconclusive, ErrorKind::cancelled, ErrorKind::internal}) {
    const Error back = errorFromJson(toJson(Error{kind, "what", "which", "do"}));
    EXPECT_EQ(back.kind, kind);
    EXPECT_EQ(back.message(), "which: what; do");
  }
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 3;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 3);
  const Result<int> bad = Error{ErrorKind::run, "no", "", ""};
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().what, "no");
  EXPECT_DEATH(ULPSCOPE_CHECK(1 + 1 == 3), "1 \\+ 1 == 3");
}

TEST(DType, NamesComeBackAndSizesAreRight) {
  const std::vector<std::pair<DType, std::size_t>> sizes = {
      {DType::float64, 8}, {DType::float32, 4}, {DType::float16, 2}, {DType::bfloat16, 2}, {DType::int64, 8}, {DType::int32, 4},
      {DType::int16, 2}, {DType::int8, 1}, {DType::uint8, 1}, {DType::boolean, 1}, {DType::complex64, 8}, {DType::complex128, 16}};
  for (const auto& [dtype, size] : sizes) {
    EXPECT_EQ(dtypeFromName(name(dtype)), dtype);
    EXPECT_EQ(sizeBytes(dtype), size) << name(dtype);
  }
  EXPECT_FALSE(dtypeFromName("float8").has_value());
}

TEST(Clock, GivesIsoTimesAndIdsThatDiffer) {
  EXPECT_THAT(utcNow(), testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_THAT(randomId(), testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(randomId(), randomId());
}

}  // namespace
