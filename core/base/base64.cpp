#include "core/base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

namespace ulpscope::base {
namespace {

constexpr std::size_t kMostBytes = static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2;  // OpenSSL counts in int

// EVP_DecodeBlock trims white space and takes '=' anywhere.
bool isAlphabet(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/'; }

}  // namespace

std::string toBase64(const void* data, std::size_t sizeBytes) {
  ULPSCOPE_CHECK(sizeBytes <= kMostBytes);
  std::string text(4 * ((sizeBytes + 2) / 3) + 1, '\0');  // EVP_EncodeBlock ends with a NUL
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), static_cast<const unsigned char*>(data), static_cast<int>(sizeBytes));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

Result<std::vector<std::byte>> fromBase64(std::string_view text) {
  const Error bad{ErrorKind::input, "is not base64", "a block of bytes", ""};
  if (text.size() % 4 != 0 || text.size() > kMostBytes) return bad;
  const std::size_t padding = text.empty() ? 0 : static_cast<std::size_t>(text.back() == '=') + static_cast<std::size_t>(text[text.size() - 2] == '=');
  const std::string_view letters = text.substr(0, text.size() - padding);
  if (!std::all_of(letters.begin(), letters.end(), isAlphabet)) return bad;
  std::vector<std::byte> bytes(text.size() / 4 * 3);
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return bad;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace ulpscope::base
