#include "core/protocol/message.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

namespace ulpscope::protocol {
namespace {

using testing::HasSubstr;

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : m_name(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(m_name); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* m_name;
};

TEST(FindEngine, TakesTheVariableFirst) {
  const Variable engine("ULPSCOPE_ENGINE", "/bin/sh");
  const auto found = findEngine();
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), "/bin/sh");
}

TEST(FindEngine, NamesTheVariableWhenItPointsNowhere) {
  const Variable engine("ULPSCOPE_ENGINE", "/nowhere/engine");
  const auto found = findEngine();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, base::ErrorKind::run);
  EXPECT_THAT(found.error().message(), HasSubstr("/nowhere/engine: $ULPSCOPE_ENGINE names no program"));
}

TEST(FindEngine, AFileThatCannotBeRunIsNoEngine) {
  const std::string path = testing::TempDir() + "not_executable";
  std::ofstream(path) << "x";
  const Variable engine("ULPSCOPE_ENGINE", path);
  EXPECT_FALSE(findEngine().ok());
}

// The test program stands in <build>/tests, where no engine is.
TEST(FindEngine, NamesThePlacesLookedAt) {
  const auto found = findEngine();
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message(), HasSubstr("/tests/ulpscope-engine"));
  EXPECT_THAT(found.error().message(), HasSubstr("/libexec/ulpscope/ulpscope-engine"));
}

TEST(FindData, InTheBuildTreeReadsTheSourceTree) {
  const auto found = findData("CMakeLists.txt");
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found.value(), HasSubstr("resources/CMakeLists.txt"));
}

TEST(FindData, TheVariableReplacesAllOtherPlaces) {
  const Variable data("ULPSCOPE_DATA", "/nowhere");
  const auto found = findData("CMakeLists.txt");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, base::ErrorKind::input);
  EXPECT_THAT(found.error().message(), HasSubstr("/nowhere"));
}

TEST(FindData, NamesTheFoldersLookedIn) {
  const auto found = findData("demo/none");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message(), HasSubstr("share/ulpscope"));
}

}  // namespace
}  // namespace ulpscope::protocol
