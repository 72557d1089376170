// Processor time of the calling thread.
#pragma once

#include <time.h>

namespace tidemark::bench {

// Returns the seconds that this thread has used. Unlike the wall clock, it stops while another
// process uses the processor.
inline double ThreadSeconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace tidemark::bench
