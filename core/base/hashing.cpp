#include "core/base/hashing.h"

#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

namespace ulpscope::base {

struct Sha256::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(md); }
};

Sha256::Sha256() : m_context(std::make_unique<Context>()) {
  ULPSCOPE_CHECK(EVP_DigestInit_ex(m_context->md, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::update(const void* data, std::size_t sizeBytes) {
  ULPSCOPE_CHECK(EVP_DigestUpdate(m_context->md, data, sizeBytes) == 1);
}

std::string Sha256::hexDigest() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  ULPSCOPE_CHECK(EVP_DigestFinal_ex(m_context->md, digest.data(), &length) == 1);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    text += kHex[digest[i] >> 4];
    text += kHex[digest[i] & 15];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hexDigest();
}

Result<std::string> sha256OfFile(const std::string& path, std::stop_token stop) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return Error{ErrorKind::input, "is no plain file", path, "name a file on disk"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorKind::input, "cannot be opened", path, "check the path and its permissions"};
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
    if (stop.stop_requested()) return Error{ErrorKind::cancelled, "was not read to its end", path, ""};
    hash.update(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"};
  return hash.hexDigest();
}

}  // namespace ulpscope::base
