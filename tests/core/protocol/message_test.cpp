#include "core/protocol/message.h"

#include <gmock/gmock.h>

namespace ulpscope::protocol {
namespace {

using testing::HasSubstr;
using Kind = Message::Kind;

Message parsed(const std::string& line) {
  const auto message = parseMessage(line);
  EXPECT_TRUE(message.ok()) << line;
  return message.ok() ? message.value() : Message{};
}

TEST(Message, EveryEncodedMessageIsOneLine) {
  const base::Error error{base::ErrorKind::input, "two\nlines", "a\nb", ""};
  for (const std::string& line : {encodeHello(1), encodeInspect(2, "a\nb.pt", "cuda"), encodeShutdown(3), encodeError(4, error)}) {
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  }
}

TEST(Message, HelloNamesTheVersion) {
  const Message hello = parsed(encodeHello(7));
  EXPECT_EQ(hello.kind, Kind::hello);
  EXPECT_EQ(hello.id, 7);
  EXPECT_EQ(hello.body.at("protocol"), kVersion);
}

TEST(Message, RunCarriesTheWholeRequest) {
  session::RunRequest request;
  request.modelPath = "m.pt";
  request.sessionPath = "s.ulps";
  request.append = true;
  request.settings.fp32 = {"encoder.0", "."};
  request.settings.batchAxis = {{"mask", -1}, {"x", 1}};
  request.settings.seed = 18446744073709551615ULL;
  const Message run = parsed(encodeRun(2, request));
  ASSERT_EQ(run.kind, Kind::run);
  const auto back = session::requestFromJson(run.body);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(session::toJson(back.value()), session::toJson(request));
  EXPECT_EQ(back->settings.seed, request.settings.seed);
}

TEST(Message, BenchmarkCarriesItsPartAndWhatTheOthersMeasured) {
  BenchmarkRequest request{BenchmarkRequest::Part::times, "s.ulps", "run_0002", 3, 50, 4, {1, 2, 3, "a"}, {4, 5, 6, "b"}};
  for (const auto part : {BenchmarkRequest::Part::referenceMemory, BenchmarkRequest::Part::candidateMemory, BenchmarkRequest::Part::times}) {
    request.part = part;
    const Message message = parsed(encodeBenchmark(5, request));
    ASSERT_EQ(message.kind, Kind::benchmark);
    const auto back = benchmarkRequestFrom(message.body);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->part, part);
    EXPECT_EQ(encodeBenchmark(5, back.value()), encodeBenchmark(5, request));
  }
  EXPECT_FALSE(benchmarkRequestFrom(nlohmann::json{{"part", "times"}}).ok());
  nlohmann::json other = parsed(encodeBenchmark(5, request)).body;
  other["part"] = "all";
  EXPECT_THAT(benchmarkRequestFrom(other).error().message(), HasSubstr("unknown part 'all'"));
}

TEST(Message, CancelNamesTheRequestToEnd) {
  const Message cancel = parsed(encodeCancel(9, 4));
  EXPECT_EQ(cancel.kind, Kind::cancel);
  EXPECT_EQ(cancel.body.at("run"), 4);
}

TEST(Message, ProgressKeepsWhereTheRunStands) {
  const Message message = parsed(encodeProgress(3, {"running", "encoder.0.fc2", "aten::linear", 32, 256}));
  ASSERT_EQ(message.kind, Kind::progress);
  EXPECT_EQ(message.progress.stage, "running");
  EXPECT_EQ(message.progress.modulePath, "encoder.0.fc2");
  EXPECT_EQ(message.progress.op, "aten::linear");
  EXPECT_EQ(message.progress.done, 32);
  EXPECT_EQ(message.progress.total, 256);
}

TEST(Message, ErrorKeepsKindAndAllThreeTexts) {
  const Message message = parsed(encodeError(3, {base::ErrorKind::inconclusive, "what", "which", "do"}));
  ASSERT_EQ(message.kind, Kind::error);
  EXPECT_EQ(message.error.kind, base::ErrorKind::inconclusive);
  EXPECT_EQ(message.error.what, "what");
  EXPECT_EQ(message.error.which, "which");
  EXPECT_EQ(message.error.remedy, "do");
}

TEST(Message, BytesThatAreNotUtf8DoNotThrow) {
  const Message message = parsed(encodeInspect(1, "bad\xff.pt", "cuda"));
  EXPECT_EQ(message.body.at("model"), "bad\xEF\xBF\xBD.pt");
}

TEST(Message, UnknownKeysAreIgnored) {
  EXPECT_EQ(parsed(R"({"id":1,"result":{"a":1},"later":true})").body.at("a"), 1);
}

class NoMessage : public testing::TestWithParam<const char*> {};

TEST_P(NoMessage, IsAnInternalErrorAndNeverAnException) {
  const auto message = parseMessage(GetParam());
  ASSERT_FALSE(message.ok());
  EXPECT_EQ(message.error().kind, base::ErrorKind::internal);
  EXPECT_THAT(message.error().message(), HasSubstr("not a message of protocol 1"));
}

INSTANTIATE_TEST_SUITE_P(Lines, NoMessage,
                         testing::Values("", "garbage", "{", "[]", "null", "42", "{}", R"({"id":"1","result":{}})",
                                         R"({"id":1})", R"({"id":1.5,"result":{}})", R"({"id":99999999999999,"result":{}})",
                                         R"({"id":-1,"result":{}})", R"({"id":1,"method":"fly","params":{}})",
                                         R"({"id":1,"method":3})", R"({"id":1,"method":"run","params":[]})",
                                         R"({"id":1,"progress":3})", R"({"id":1,"progress":{"stage":1}})",
                                         R"({"id":1,"progress":{"stage":"x","done":"y"}})", R"({"id":1,"error":"boom"})",
                                         R"({"id":1,"error":{"what":1}})", "\xff\xfe{\"id\":1}"));

TEST(Message, DeepNestingIsRefusedOrParsedButNeverCrashes) {
  EXPECT_FALSE(parseMessage(std::string(1 << 20, '[')).ok());
  EXPECT_FALSE(parseMessage(R"({"id":1,"x":)" + std::string(100000, '[') + std::string(100000, ']') + "}").ok());
}

TEST(Message, AnOddLineIsQuotedShort) {
  const auto message = parseMessage("Segmentation\tfault " + std::string(5000, 'x'));
  ASSERT_FALSE(message.ok());
  EXPECT_LT(message.error().message().size(), 200U);
  EXPECT_THAT(message.error().message(), HasSubstr("Segmentation fault"));
}

}  // namespace
}  // namespace ulpscope::protocol
