// Private: the one guard around files of plain arrays: what is not there is no exception.
#pragma once

#include "core/storage/array_files.h"
#include "core/storage/input_kind.h"

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace ulpscope::storage {

// body() where memory suffices for it.
template <typename Body>
auto withinMemory(const std::string& path, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return base::Error{base::ErrorKind::input, "needs more memory than this machine gives", path, "use a smaller file or set"};
  } catch (const std::length_error&) {
    return base::Error{base::ErrorKind::input, "declares more data than memory can hold", path, "use a smaller file or set"};
  }
}

// use(PlainArrays) of a file of that kind: npy, npz or safetensors.
template <typename Use>
auto withArrays(const std::string& path, InputKind kind, Use use) -> decltype(use(std::declval<const PlainArrays&>())) {
  return withinMemory(path, [&]() -> decltype(use(std::declval<const PlainArrays&>())) {
    const auto file = kind == InputKind::npy ? openNpy(path) : kind == InputKind::npz ? openNpz(path) : openSafetensors(path);
    if (!file) return file.error();
    return use(file.value());
  });
}

}  // namespace ulpscope::storage
