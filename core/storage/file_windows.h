// Private: pieces of a plain file.
#pragma once

#include "core/storage/strided_samples.h"

namespace ulpscope::storage {

// Error kind input for what checkPlainFile refuses.
base::Result<std::uint64_t> sizeOfFile(const std::string& path);
// The first bytes, at most `count`; fewer where the file is shorter.
base::Result<std::string> startOfFile(const std::string& path, std::size_t count);
// One buffer a window. Error kind input for a file that ends before a window does.
base::Result<Buffers> readFileWindows(const std::string& path, const std::vector<model::StorageWindow>& windows);

}  // namespace ulpscope::storage
