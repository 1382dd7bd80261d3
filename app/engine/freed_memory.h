// What the allocator does with freed memory: kept within a run, since every op frees what the next one asks for, and given back after.
#pragma once

#include <malloc.h>

#include <limits>

namespace ulpscope::worker {

// For the life of the process, before other threads start.
inline void keepFreedMemory() {
#if defined(__GLIBC__)
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // glibc takes no more
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_ARENA_MAX, 1);  // the others drop what is free whatever the threshold
#endif
}

inline void giveFreedMemoryBack() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace ulpscope::worker
