// OpenBLAS's own pool of threads, of the whole process. Private to core/engine and core/train.
#pragma once

#include <dlfcn.h>

namespace ulpscope::engine {

// Nothing happens with another BLAS.
inline void setBlasThreads(int threads) {
  if (auto* set = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
}

// `threads` while it lives, `after` from then on.
class BlasThreads {
 public:
  BlasThreads(int threads, int after) : m_after(after) { setBlasThreads(threads); }
  ~BlasThreads() { setBlasThreads(m_after); }
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int m_after;
};

}  // namespace ulpscope::engine
