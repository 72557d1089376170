// The processor time of the calling thread.
#pragma once

#include <time.h>

namespace tidemark::bench {

// Returns the CPU time of this thread in seconds. Unlike wall-clock time, it does not advance while
// the thread is not running.
inline double ThreadSeconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace tidemark::bench
