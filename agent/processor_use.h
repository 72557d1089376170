// How a thread of this process shares the host's processors, as the operating system counts it.
//
// Linux alone tells; elsewhere, and where the kernel does not count, nothing is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// The operating system's number of the calling thread; 0: there is none to be had.
int ThisThread();

// How long a thread could have run but had no processor, by the text of its schedstat file (Linux:
// Documentation/scheduler/sched-stats.rst). Empty: that is not known, or this is no such text.
std::optional<absl::Duration> ParseProcessorWait(std::string_view schedstat);

// Not thread-safe.
class ProcessorWatch {
 public:
  // The first look. Another thread may take it.
  ProcessorWatch(int thread, std::int64_t now_nanos);
  ~ProcessorWatch() { Close(); }
  ProcessorWatch(const ProcessorWatch&) = delete;
  ProcessorWatch& operator=(const ProcessorWatch&) = delete;

  // Since the first look; empty when no time has passed, and for good once the thread has ended.
  std::optional<ProcessorUse> Read(std::int64_t now_nanos);

 private:
  std::optional<absl::Duration> ReadWait();
  void Close();

  const std::int64_t start_nanos_;
  // Kept open: a look is one call of the system, and never at a later thread of the same number.
  // Below zero: nothing to look at.
  int descriptor_ = -1;
  absl::Duration wait_before_;
  std::uint32_t processors_ = 0;
};

}  // namespace tidemark::agent
