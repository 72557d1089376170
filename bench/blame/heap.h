// Measures the amount of allocated memory.
#pragma once

#include <malloc.h>

namespace tidemark::bench {

inline double HeapMegabytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / 1e6;
}

}  // namespace tidemark::bench
