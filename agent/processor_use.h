// Measures how a thread of this process shares the host's processors, by the counters of the
// operating system.
//
// Only Linux has these counters. Elsewhere, and on kernels that do not count, values are unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "agent/monotonic.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// Returns the thread ID of the calling thread, or 0 if it is unknown.
int ThisThread();

// The times of a thread since its start: how long it ran on a processor, and how long it was
// runnable without one.
struct ThreadTimes {
  absl::Duration ran;
  absl::Duration waited;
  friend bool operator==(const ThreadTimes&, const ThreadTimes&) = default;
};

// Parses the text of a thread's schedstat file (Linux: Documentation/scheduler/sched-stats.rst).
// Returns nullopt for other texts.
std::optional<ThreadTimes> ParseThreadTimes(std::string_view schedstat);

// Not thread-safe.
class ProcessorWatch {
 public:
  // Takes the first sample. Any thread may call it.
  ProcessorWatch(int thread, std::int64_t now_nanos);
  ~ProcessorWatch() { Close(); }
  ProcessorWatch(const ProcessorWatch&) = delete;
  ProcessorWatch& operator=(const ProcessorWatch&) = delete;

  // Returns the use since the first sample. Returns nullopt if no time has passed or the thread has
  // ended.
  std::optional<ProcessorUse> Read(std::int64_t now_nanos);
  // Returns the times used and waited since the first sample as totals of an attempt.
  TimeUse ReadTimes(std::int64_t now_nanos);

 private:
  // Returns the times since the first sample.
  std::optional<ThreadTimes> Sample(absl::Duration watched);
  std::optional<ThreadTimes> ReadFile();
  void Close();

  const std::int64_t start_nanos_;
  // Kept open, so that a sample takes one system call and never measures a later thread with the
  // same thread ID. Below zero if there is no file.
  int descriptor_ = -1;
  ThreadTimes before_;
  std::uint32_t processors_ = 0;
};

// Samples the thread of a task by the clock of this machine. With a simulated clock it samples
// nothing. Not thread-safe.
class TaskWatch {
 public:
  // Takes the first sample of the calling thread.
  explicit TaskWatch(const Clock& clock) { Turn(ThisThread(), clock); }

  // Switches to another thread. Returns false and changes nothing if it is the same one.
  bool Turn(int thread, const Clock& clock);
  // Returns the value of ProcessorWatch for this thread.
  std::optional<ProcessorUse> Read(std::int64_t now_nanos);
  // Returns the sum over all threads that were sampled. It never decreases.
  TimeUse ReadTimes(std::int64_t now_nanos);

 private:
  int thread_ = 0;
  ThreadTimes reported_;   // the last result of ReadTimes()
  ThreadTimes of_others_;  // the last result of ReadTimes() when the thread was switched
  std::optional<ProcessorWatch> watch_;
};

}  // namespace tidemark::agent
