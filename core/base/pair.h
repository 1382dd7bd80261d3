// The two runs as distinct types: where they travel as a pair, a swap does not compile.
#pragma once

#include <utility>

namespace ulpscope::base {

template <typename T>
struct Reference {
  T value;
  explicit Reference(T v) : value(std::move(v)) {}
};

template <typename T>
struct Candidate {
  T value;
  explicit Candidate(T v) : value(std::move(v)) {}
};

}  // namespace ulpscope::base
