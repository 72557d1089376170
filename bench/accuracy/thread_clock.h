// Processor time of the calling thread.
#pragma once

#include <time.h>

namespace tidemark::bench {

// Seconds that this thread has used. Unlike the time of day it does not run while another process
// has the processor, so that what is measured does not look expensive for that.
inline double ThreadSeconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace tidemark::bench
