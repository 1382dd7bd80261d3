// Expected digests: FIPS 180-4 examples (NIST, "SHA256.pdf" and the long-message example).
#include "core/base/hashing.h"
#include "tests/support/scratch_folder.h"

#include <gtest/gtest.h>

using namespace ulpscope;

namespace {

TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(base::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(base::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(base::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(base::sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TakesItsInputInPieces) {
  base::Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc", 2);
  EXPECT_EQ(hash.hexDigest(), base::sha256("abc"));
}

TEST(Sha256, OfAFileOrTheReasonWhyNot) {
  tests::ScratchFolder folder;
  const std::string bytes = std::string(3 << 20, '\0') + "end";
  tests::writeFile(folder.file("f"), bytes);
  const auto digest = base::sha256OfFile(folder.file("f"));
  ASSERT_TRUE(digest.ok());
  EXPECT_EQ(digest.value(), base::sha256(bytes));
  const auto missing = base::sha256OfFile(folder.file("none"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().which, folder.file("none"));
  EXPECT_FALSE(base::sha256OfFile(folder.path()).ok()) << "a folder has no digest";
}

TEST(Sha256, StopsWhenAskedTo) {
  tests::ScratchFolder folder;
  tests::writeFile(folder.file("f"), "abc");
  std::stop_source stop;
  EXPECT_EQ(base::sha256OfFile(folder.file("f"), stop.get_token()).value(), base::sha256("abc"));
  stop.request_stop();
  const auto digest = base::sha256OfFile(folder.file("f"), stop.get_token());
  ASSERT_FALSE(digest.ok());
  EXPECT_EQ(digest.error().kind, base::ErrorKind::cancelled);
}

}  // namespace
