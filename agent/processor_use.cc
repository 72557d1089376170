#include "agent/processor_use.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace tidemark::agent {
namespace {

// Removes and returns one number and the separators after it.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && text.front() != ' ' && text.front() != '\n') return std::nullopt;
  if (!text.empty()) text.remove_prefix(1);
  return number;
}

std::uint32_t Processors() {
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // Uses the process's first thread, since the calling thread may be bound to fewer processors.
  if (sched_getaffinity(getpid(), sizeof(allowed), &allowed) == 0) {
    return static_cast<std::uint32_t>(CPU_COUNT(&allowed));
  }
#endif
  return std::thread::hardware_concurrency();
}

}  // namespace

int ThisThread() {
#ifdef __linux__
  return gettid();
#else
  return 0;
#endif
}

std::optional<ThreadTimes> ParseThreadTimes(std::string_view schedstat) {
  const std::optional<std::int64_t> ran_nanos = TakeNumber(schedstat);
  const std::optional<std::int64_t> waited_nanos = TakeNumber(schedstat);
  const std::optional<std::int64_t> times_run = TakeNumber(schedstat);
  if (!ran_nanos || !waited_nanos || !times_run) return std::nullopt;
  // A kernel that does not count shows only zeros, although the calling thread has run.
  if (*ran_nanos == 0 && *times_run == 0) return std::nullopt;
  return ThreadTimes{absl::Nanoseconds(*ran_nanos), absl::Nanoseconds(*waited_nanos)};
}

ProcessorWatch::ProcessorWatch(int thread, std::int64_t now_nanos) : start_nanos_(now_nanos) {
  if (thread <= 0) return;
  const std::string path = fmt::format("/proc/self/task/{}/schedstat", thread);
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  before_ = ReadFile().value_or(ThreadTimes{});
  processors_ = Processors();
}

std::optional<ProcessorUse> ProcessorWatch::Read(std::int64_t now_nanos) {
  const absl::Duration watched = absl::Nanoseconds(now_nanos - start_nanos_);
  const std::optional<ThreadTimes> times = Sample(watched);
  if (!times) return std::nullopt;
  return ProcessorUse{watched, times->waited, processors_};
}

TimeUse ProcessorWatch::ReadTimes(std::int64_t now_nanos) {
  const std::optional<ThreadTimes> times = Sample(absl::Nanoseconds(now_nanos - start_nanos_));
  if (!times) return {};
  return {.cpu = times->ran, .waits = {{WaitReason::kProcessor, times->waited}}};
}

std::optional<ThreadTimes> ProcessorWatch::Sample(absl::Duration watched) {
  if (watched <= absl::ZeroDuration()) return std::nullopt;
  const std::optional<ThreadTimes> now = ReadFile();
  if (!now) return std::nullopt;
  // The clocks of the kernel and of the caller differ slightly.
  return ThreadTimes{std::clamp(now->ran - before_.ran, absl::ZeroDuration(), watched),
                     std::clamp(now->waited - before_.waited, absl::ZeroDuration(), watched)};
}

std::optional<ThreadTimes> ProcessorWatch::ReadFile() {
  if (descriptor_ < 0) return std::nullopt;
  std::array<char, 128> text;
  ssize_t size = 0;
  do {
    size = ::pread(descriptor_, text.data(), text.size(), 0);
  } while (size < 0 && errno == EINTR);
  const std::optional<ThreadTimes> times =
      size > 0 ? ParseThreadTimes({text.data(), static_cast<std::size_t>(size)}) : std::nullopt;
  if (!times) Close();
  return times;
}

void ProcessorWatch::Close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

bool TaskWatch::Turn(int thread, const Clock& clock) {
  if (&clock != &SystemClock() || thread == thread_) return false;
  thread_ = thread;
  of_others_ = reported_;
  watch_.emplace(thread, clock.Nanos());
  return true;
}

std::optional<ProcessorUse> TaskWatch::Read(std::int64_t now_nanos) {
  return watch_ ? watch_->Read(now_nanos) : std::nullopt;
}

TimeUse TaskWatch::ReadTimes(std::int64_t now_nanos) {
  const TimeUse time = watch_ ? watch_->ReadTimes(now_nanos) : TimeUse{};
  const std::optional<absl::Duration>& waited = time.waits[WaitReason::kProcessor];
  if (!time.cpu || !waited) return {};
  reported_ = {of_others_.ran + *time.cpu, of_others_.waited + *waited};
  return {.cpu = reported_.ran, .waits = {{WaitReason::kProcessor, reported_.waited}}};
}

}  // namespace tidemark::agent
