#include "core/base/base64.h"

#include <gtest/gtest.h>

namespace ulpscope::base {
namespace {

std::string decoded(const std::string& text) {
  const auto bytes = fromBase64(text);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "refused";
}

// RFC 4648, section 10.
TEST(Base64, GivesTheVectorsOfTheStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : vectors) {
    EXPECT_EQ(toBase64(plain, std::char_traits<char>::length(plain)), text);
    EXPECT_EQ(decoded(text), plain);
  }
}

TEST(Base64, CarriesEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(decoded(toBase64(all.data(), all.size())), all);
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zg=", "Zg", "Z===", "Zg==Zg==", "Zm 9", " Zg==", "Zm9v\n", "Z-8=", "====", "=g=="}) EXPECT_FALSE(fromBase64(text).ok()) << text;
}

}  // namespace
}  // namespace ulpscope::base
