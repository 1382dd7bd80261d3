#include "core/protocol/message.h"

#include <gmock/gmock.h>

namespace ulpscope::protocol {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineReader, CutsSeveralLinesOfOneRead) {
  LineReader reader;
  EXPECT_THAT(reader.feed("one\ntwo\nthr"), ElementsAre("one", "two"));
  EXPECT_THAT(reader.feed("ee\n"), ElementsAre("three"));
}

TEST(LineReader, JoinsALineThatArrivesByteByByte) {
  LineReader reader;
  for (const char c : std::string("abc")) EXPECT_THAT(reader.feed(std::string(1, c)), IsEmpty());
  EXPECT_THAT(reader.feed("\n"), ElementsAre("abc"));
}

TEST(LineReader, LeavesOutEmptyLines) {
  LineReader reader;
  EXPECT_THAT(reader.feed("\n\na\n\n"), ElementsAre("a"));
}

TEST(LineReader, KeepsALineOfExactlyTheLimit) {
  LineReader reader(4);
  EXPECT_THAT(reader.feed("abcd\n"), ElementsAre("abcd"));
  EXPECT_FALSE(reader.overflowed());
}

TEST(LineReader, DropsALineOverTheLimitAndGoesOnWithTheNext) {
  LineReader reader(4);
  EXPECT_THAT(reader.feed("abc"), IsEmpty());
  EXPECT_THAT(reader.feed("de"), IsEmpty());
  EXPECT_TRUE(reader.overflowed());
  EXPECT_THAT(reader.feed("rest of it\nok\n"), ElementsAre("ok"));
}

}  // namespace
}  // namespace ulpscope::protocol
