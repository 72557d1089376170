// Measures a thread's use of the host's processors from the operating system's counters.
//
// Values are unknown on systems other than Linux, and on kernels that do not count.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "agent/monotonic.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// Returns the ID of the calling thread, or 0 if unknown.
int ThisThread();

// The times of a thread since its start: how long it ran, and how long it was runnable without a
// processor.
struct ThreadTimes {
  absl::Duration ran;
  absl::Duration waited;
  friend bool operator==(const ThreadTimes&, const ThreadTimes&) = default;
};

// Parses a thread's schedstat file (Linux: Documentation/scheduler/sched-stats.rst). Returns
// nullopt for an invalid text.
std::optional<ThreadTimes> ParseThreadTimes(std::string_view schedstat);

// Not thread-safe.
class ProcessorWatch {
 public:
  // Takes the first sample. Any thread may call it.
  ProcessorWatch(int thread, std::int64_t now_nanos);
  ~ProcessorWatch() { Close(); }
  ProcessorWatch(const ProcessorWatch&) = delete;
  ProcessorWatch& operator=(const ProcessorWatch&) = delete;

  // Returns the use since the first sample, or nullopt if no time has passed or the thread has
  // ended.
  std::optional<ProcessorUse> Read(std::int64_t now_nanos);
  // Returns processor time and waits since the first sample as totals of an attempt.
  TimeUse ReadTimes(std::int64_t now_nanos);

 private:
  // Returns the times since the first sample.
  std::optional<ThreadTimes> Sample(absl::Duration watched);
  std::optional<ThreadTimes> ReadFile();
  void Close();

  const std::int64_t start_nanos_;
  // Kept open, so that a sample takes one system call and never measures a later thread with the
  // same ID. Negative if there is no file.
  int descriptor_ = -1;
  ThreadTimes before_;
  std::uint32_t processors_ = 0;
};

// Samples the thread of a task on this machine's clock. Takes no samples on a simulated clock. Not
// thread-safe.
class TaskWatch {
 public:
  // Takes the first sample of the calling thread.
  explicit TaskWatch(const Clock& clock) { Turn(ThisThread(), clock); }

  // Switches to another thread. Returns false and changes nothing if the thread is the same.
  bool Turn(int thread, const Clock& clock);
  // Returns the value of ProcessorWatch for this thread.
  std::optional<ProcessorUse> Read(std::int64_t now_nanos);
  // Returns the sum over all sampled threads, which never decreases.
  TimeUse ReadTimes(std::int64_t now_nanos);

 private:
  int thread_ = 0;
  ThreadTimes reported_;   // the last result of ReadTimes()
  ThreadTimes of_others_;  // the last result of ReadTimes() when the thread was switched
  std::optional<ProcessorWatch> watch_;
};

}  // namespace tidemark::agent
