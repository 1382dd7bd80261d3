// SHA-256 (OpenSSL), as lower-case hex.
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace ulpscope::base {

// Feed bytes, then take the digest once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(const void* data, std::size_t sizeBytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  std::string hexDigest();

 private:
  struct Context;
  std::unique_ptr<Context> m_context;
};

std::string sha256(std::string_view bytes);
// Error kind input, naming the file, when it cannot be read; kind cancelled when it was stopped.
Result<std::string> sha256OfFile(const std::string& path, std::stop_token stop = {});

}  // namespace ulpscope::base
