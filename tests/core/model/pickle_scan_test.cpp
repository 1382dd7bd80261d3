// Pickles written out by hand, opcode by opcode (Python's pickletools names them).
#include "core/model/pickle_scan.h"

#include <gmock/gmock.h>

using ulpscope::model::scanPickle;
using testing::HasSubstr;

namespace {

using namespace std::string_literals;

const std::string kProto = "\x80\x02"s;

std::string text(const std::string& value) { return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value; }
std::string number(int value) {
  std::string bytes = "J";
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((static_cast<unsigned>(value) >> shift) & 255);
  return bytes;
}
std::string storage(const std::string& kind, const std::string& elements) {
  return "("s + text("storage") + "ctorch\n" + kind + "\n" + text("7") + text("cpu") + elements + "tQ";
}
std::string tensor(const std::string& storageId, int offset, const std::string& sizes, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n("s + storageId + number(offset) + "(" + sizes + "t(" + strides + "t\x89" + "ccollections\nOrderedDict\n)RtR";
}

std::string errorOf(const std::string& pickle) {
  const auto contents = scanPickle(pickle);
  return contents.ok() ? "accepted" : contents.error().message();
}

TEST(PickleScan, GivesTheBytesOfEachStorageKind) {
  const std::vector<std::pair<std::string, std::uint64_t>> kinds = {
      {"DoubleStorage", 8}, {"FloatStorage", 4}, {"HalfStorage", 2}, {"BFloat16Storage", 2}, {"LongStorage", 8}, {"IntStorage", 4},
      {"ShortStorage", 2}, {"CharStorage", 1}, {"ByteStorage", 1}, {"BoolStorage", 1}, {"ComplexFloatStorage", 8}, {"ComplexDoubleStorage", 16}};
  for (const auto& [kind, size] : kinds) {
    const auto contents = scanPickle(kProto + storage(kind, number(1000)) + ".");
    ASSERT_TRUE(contents.ok()) << contents.error().message();
    ASSERT_EQ(contents->storages.size(), 1U);
    EXPECT_EQ(contents->storages[0].key, "7");
    EXPECT_EQ(contents->storages[0].sizeBytes, 1000 * size) << kind;
  }
  EXPECT_THAT(errorOf(kProto + storage("OddStorage", number(1)) + "."), HasSubstr("OddStorage"));
}

// {'w': tensor, 'n': 5, 'b': tensor} as the state of an object inside another; then of the object itself.
TEST(PickleScan, NamesTheTensorsOfTheOutermostObject) {
  const std::string twelve = storage("FloatStorage", number(12)), object = "c__torch__\nHolder\n)\x81";
  const std::string inner = object + "}(" + text("w") + tensor(twelve, 0, number(2), number(1)) + "ub";
  const std::string state = "}(" + text("w") + tensor(twelve, 4, number(2) + number(3), number(3) + number(1)) + text("n") + number(5) + text("child") + inner + text("b") +
                            tensor(storage("HalfStorage", number(3)), 0, "", "") + "u";
  const auto contents = scanPickle(kProto + object + state + "b.");
  ASSERT_TRUE(contents.ok()) << contents.error().message();
  ASSERT_EQ(contents->members.size(), 2U);
  const auto& first = contents->members[0];
  EXPECT_EQ(first.name, "w");
  EXPECT_EQ(first.storageClass, "FloatStorage");
  EXPECT_EQ(first.storageKey, "7");
  EXPECT_EQ(first.offset, 4);
  EXPECT_THAT(first.sizes, testing::ElementsAre(2, 3));
  EXPECT_THAT(first.strides, testing::ElementsAre(3, 1));
  EXPECT_EQ(contents->members[1].name, "b");
  EXPECT_THAT(contents->members[1].sizes, testing::IsEmpty());
  EXPECT_THAT(scanPickle(kProto + number(3) + ".")->members, testing::IsEmpty());
}

TEST(PickleScan, RefusesImpossibleStorageSizes) {
  EXPECT_THAT(errorOf(kProto + storage("FloatStorage", number(-1)) + "."), HasSubstr("impossible size"));
  EXPECT_THAT(errorOf(kProto + storage("DoubleStorage", "\x8a\x08\0\0\0\0\0\0\0\x20"s) + "."), HasSubstr("impossible size"));
  EXPECT_THAT(errorOf(kProto + storage("FloatStorage", "N") + "."), HasSubstr("in a way torch.jit does not"));
}

TEST(PickleScan, RefusesATensorThatLeavesItsStorage) {
  const std::string twelve = storage("FloatStorage", number(12));
  EXPECT_EQ(errorOf(kProto + tensor(twelve, 0, number(3) + number(4), number(4) + number(1)) + "."), "accepted");
  EXPECT_EQ(errorOf(kProto + tensor(twelve, 11, number(1), number(1)) + "."), "accepted");
  EXPECT_EQ(errorOf(kProto + tensor(twelve, 0, number(1000), number(0)) + "."), "accepted") << "expanded";
  EXPECT_EQ(errorOf(kProto + tensor(twelve, 0, number(0) + number(99), number(99) + number(1)) + "."), "accepted") << "empty";
  for (const std::string& beyond : {tensor(twelve, 1, number(3) + number(4), number(4) + number(1)), tensor(twelve, 0, number(13), number(1)),
                                    tensor(twelve, 0, number(3) + number(4), number(5) + number(1)), tensor(twelve, -1, number(1), number(1)),
                                    tensor(twelve, 12, "", ""), tensor(twelve, 4, number(2), number(-1))})
    EXPECT_THAT(errorOf(kProto + beyond + "."), HasSubstr("beyond its storage '7' of 12 elements"));
  EXPECT_THAT(errorOf(kProto + tensor(twelve, 0, number(3), "") + "."), HasSubstr("do not match"));
}

TEST(PickleScan, CountsNestingThroughMemoAndContainers) {
  std::string lists = kProto;
  for (int i = 0; i < 1500; ++i) lists += "]";
  for (int i = 1; i < 1500; ++i) lists += "a";
  EXPECT_THAT(errorOf(lists + "."), HasSubstr("nests deeper"));
  // Tuples that each hold the one before, taken from the memo.
  std::string chain = kProto + ")q\0"s;
  for (int i = 0; i < 1500; ++i) chain += "h\0\x85q\0"s;
  EXPECT_THAT(errorOf(chain + "."), HasSubstr("nests deeper"));
  std::string flat = kProto + "](";
  for (int i = 0; i < 100000; ++i) flat += "K\x01";
  EXPECT_EQ(errorOf(flat + "e."), "accepted");
}

// Each step would nest by one only, without any value ever looking deep.
TEST(PickleScan, RefusesContainersThatAreFilledAfterTheyWereStored) {
  EXPECT_THAT(errorOf(kProto + "]q\0h\0a."s), HasSubstr("after it was stored"));
  EXPECT_EQ(errorOf(kProto + "]K\x01" "aq\0."s), "accepted");
}

TEST(PickleScan, RefusesTypeTextsThatNest) {
  const std::string type(1500, '[');
  const std::string longText = "X"s + static_cast<char>(type.size() & 255) + static_cast<char>(type.size() >> 8) + "\0\0"s + type;
  EXPECT_THAT(errorOf(kProto + "ctorch.jit._pickle\nrestore_type_tag\n(]" + longText + "tR."), HasSubstr("names a type"));
}

TEST(PickleScan, RefusesDamageByName) {
  EXPECT_THAT(errorOf(""), HasSubstr("ends in the middle"));
  EXPECT_THAT(errorOf(kProto), HasSubstr("ends in the middle"));
  EXPECT_THAT(errorOf(kProto + "X\xff\xff\xff\xff."s), HasSubstr("ends in the middle"));
  EXPECT_THAT(errorOf(kProto + "cos\nsystem"), HasSubstr("ends in the middle of a name"));
  EXPECT_THAT(errorOf(kProto + "t."), HasSubstr("never opened"));
  EXPECT_THAT(errorOf(kProto + "\x85."), HasSubstr("where there is none"));
  EXPECT_THAT(errorOf(kProto + "h\x05."), HasSubstr("never stored"));
  EXPECT_THAT(errorOf(kProto + "Nr\xff\xff\xff\x7f."s), HasSubstr("in a wrong place"));
  EXPECT_THAT(errorOf(kProto + "(N\x85\x87."), HasSubstr("where there is none"));
  EXPECT_THAT(errorOf(kProto + "\x93."), HasSubstr("0x93"));
}

}  // namespace
