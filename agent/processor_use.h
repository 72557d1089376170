// How a thread of this process shares the host's processors, as the operating system counts it.
//
// Linux alone tells; elsewhere, and where the kernel does not count, nothing is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "agent/monotonic.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// The operating system's number of the calling thread; 0: there is none to be had.
int ThisThread();

// Of a thread since it began: how long it ran on a processor, and how long it could have run but
// had none.
struct ThreadTimes {
  absl::Duration ran;
  absl::Duration waited;
  friend bool operator==(const ThreadTimes&, const ThreadTimes&) = default;
};

// By the text of a thread's schedstat file (Linux: Documentation/scheduler/sched-stats.rst). Empty:
// that is not known, or this is no such text.
std::optional<ThreadTimes> ParseThreadTimes(std::string_view schedstat);

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
  // The same as an attempt's totals: what it used, and what it waited.
  TimeUse ReadTimes(std::int64_t now_nanos);

 private:
  // Since the first look.
  std::optional<ThreadTimes> Look(absl::Duration watched);
  std::optional<ThreadTimes> ReadFile();
  void Close();

  const std::int64_t start_nanos_;
  // Kept open: a look is one call of the system, and never at a later thread of the same number.
  // Below zero: nothing to look at.
  int descriptor_ = -1;
  ThreadTimes before_;
  std::uint32_t processors_ = 0;
};

// The thread of a task, by this machine's clock, which says nothing of a simulated one: nobody is
// watched then. Not thread-safe.
class TaskWatch {
 public:
  // The first look at the calling thread.
  explicit TaskWatch(const Clock& clock) { Turn(ThisThread(), clock); }

  // From now on another thread; if it is the same, false, and nothing changes.
  bool Turn(int thread, const Clock& clock);
  // As ProcessorWatch has it, of this thread.
  std::optional<ProcessorUse> Read(std::int64_t now_nanos);
  // Of all threads that were watched, one after the other: it never falls.
  TimeUse ReadTimes(std::int64_t now_nanos);

 private:
  int thread_ = 0;
  ThreadTimes told_;       // by ReadTimes(), last
  ThreadTimes of_others_;  // what it had told when the thread was turned to
  std::optional<ProcessorWatch> watch_;
};

}  // namespace tidemark::agent
