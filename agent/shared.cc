#include "agent/shared.h"

#include <fmt/format.h>

#include <utility>

#include "absl/status/statusor.h"
#include "agent/outbox.h"
#include "proto/wire/message_time.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::agent {
namespace {

std::size_t BytesOf(const StageOpened& stage) {
  return sizeof(stage) + stage.name.size() + stage.signature.size() + stage.group.size() +
         stage.pool.size() + sizeof(std::uint32_t) * stage.parents.size() +
         sizeof(std::uint64_t) * (stage.task_bytes.size() + stage.task_records.size());
}

std::size_t BytesOf(const JobOpened& job) {
  std::size_t bytes = job.name.size() + job.engine.size() + job.application_id.size() +
                      job.user.size() + job.queue.size();
  for (const StageOpened& stage : job.stages) bytes += BytesOf(stage);
  return bytes;
}
std::size_t BytesOf(const ExecutorOpened& executor) {
  return executor.host.size() + executor.rack.size() + executor.container.size();
}
std::size_t BytesOf(const JobClosed& closed) { return closed.message.size(); }
std::size_t BytesOf(const AttemptChanged& changed) {
  return changed.input_name.size() + changed.failure.size();
}

// Strings and lists make an event large; all other fields have a fixed size. Profiles do not pass
// through the inbox.
std::size_t ExtraBytes(const EventBody& body) {
  return std::visit(
      [](const auto& content) -> std::size_t {
        if constexpr (requires { BytesOf(content); }) return BytesOf(content);
        return 0;
      },
      body);
}

std::size_t EventBytes(const Command& command) {
  const auto* event = std::get_if<SendEvent>(&command);
  return event == nullptr ? 0 : sizeof(Command) + ExtraBytes(event->body);
}

bool IsOfTheJob(const Command& command) {
  const auto* event = std::get_if<SendEvent>(&command);
  return event != nullptr && ImportanceOf(event->body) == Importance::kJob;
}

}  // namespace

bool Inbox::Push(Command command) {
  const std::size_t bytes = EventBytes(command);
  const std::size_t limit = IsOfTheJob(command) ? 2 * bytes_max_ : bytes_max_;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || (bytes > 0 && bytes_ + bytes > limit)) return false;
    commands_.push_back(std::move(command));
    bytes_ += bytes;
  }
  changed_.notify_one();
  return true;
}

void Inbox::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

std::vector<Command> Inbox::WaitUntil(Instant deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return woken_ || !commands_.empty(); });
  woken_ = false;
  bytes_ = 0;
  return std::exchange(commands_, {});
}

std::vector<Command> Inbox::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  return std::exchange(commands_, {});
}

namespace {

// Returns the reason, formatted as the end of a message. Some servers send no reason.
std::string Because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

}  // namespace

void ProblemReporter::OnRejected(int code, const std::string& reason) {
  Note(std::clamp(code, 0, kTurnedOff - 1),
       fmt::format("the master at {} rejects events{}", address_, Because(reason)));
}

void ProblemReporter::OnLocalError(const std::string& reason) {
  Note(kCannotSend, fmt::format("cannot report to the master at {}{}", address_, Because(reason)));
}

void ProblemReporter::OnStalled(const std::string& reason) {
  Note(kStalled, fmt::format("the master at {} cannot accept events now: {}", address_, reason));
}

void ProblemReporter::OnTurnedOff(const std::string& reason) {
  Note(kTurnedOff, fmt::format("reporting to the master at {} has stopped: {}", address_, reason));
}

void ProblemReporter::Note(int kind, std::string text) {
  const std::lock_guard lock(mutex_);
  is_explained_ = true;
  const std::uint32_t bit = std::uint32_t{1} << kind;
  if (!report_ || (kinds_noted_ & bit) != 0) return;
  kinds_noted_ |= bit;
  noted_.push_back(std::move(text));
}

bool ProblemReporter::waits_for_silence() const {
  const std::lock_guard lock(mutex_);
  return report_ != nullptr && !is_explained_;
}

void ProblemReporter::ReportNew(absl::Duration unanswered_for, absl::Duration patience,
                                const std::string& last_reason) {
  std::vector<std::string> texts;
  {
    const std::lock_guard lock(mutex_);
    if (!report_) return;
    texts.swap(noted_);
    if (unanswered_for == absl::ZeroDuration()) {
      is_explained_ = false;
    } else if (!is_explained_ && unanswered_for >= patience) {
      is_explained_ = true;
      texts.push_back(fmt::format("no response from the master at {} for {:.1f} s{}", address_,
                                  absl::ToDoubleSeconds(unanswered_for), Because(last_reason)));
    }
  }
  for (const std::string& text : texts) Report(text);
}

void ProblemReporter::Report(const std::string& text) {
  try {
    report_(text);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    report_ = nullptr;
  }
}

namespace {

// The limits of Control (ingest_service.proto).
constexpr absl::Duration kFlushIntervalMin = absl::Milliseconds(50);
constexpr absl::Duration kFlushIntervalMax = absl::Seconds(60);
constexpr std::uint32_t kLambdaMax = 1'000'000;
constexpr std::uint32_t kBurstGroupsLimit = 1'000'000;

}  // namespace

Settings::Settings(const AgentOptions& options)
    : burst_threshold_bytes_(options.burst_threshold_bytes),
      burst_groups_max_(std::clamp<std::uint32_t>(options.burst_groups_max, 1, kBurstGroupsLimit)),
      lambda_(std::min(options.lambda, kLambdaMax)) {
  SetFlushInterval(options.flush_interval);
}

void Settings::SetFlushInterval(absl::Duration interval) {
  flush_interval_nanos_.store(
      absl::ToInt64Nanoseconds(std::clamp(interval, kFlushIntervalMin, kFlushIntervalMax)),
      std::memory_order_relaxed);
}

void Settings::Apply(const v1::Control& control) {
  if (control.has_flush_interval()) {
    const absl::StatusOr<absl::Duration> interval =
        wire::ParseDuration(control.flush_interval(), "control: flush_interval");
    if (interval.ok()) SetFlushInterval(*interval);
  }
  if (control.has_lambda()) {
    lambda_.store(std::clamp<std::uint32_t>(control.lambda(), 1, kLambdaMax),
                  std::memory_order_relaxed);
  }
  if (control.has_burst_threshold_bytes()) {
    burst_threshold_bytes_.store(control.burst_threshold_bytes(), std::memory_order_relaxed);
  }
  if (control.has_burst_groups_max()) {
    burst_groups_max_.store(
        std::clamp<std::uint32_t>(control.burst_groups_max(), 1, kBurstGroupsLimit),
        std::memory_order_relaxed);
  }
  if (control.has_named_group_bytes_min()) {
    named_group_bytes_min_.store(control.named_group_bytes_min(), std::memory_order_relaxed);
    names_set_.store(true, std::memory_order_relaxed);
  }
  if (control.has_sampled_below()) {
    sampled_below_.store(control.sampled_below(), std::memory_order_relaxed);
  }
  if (control.has_sampled_below_per_byte()) {
    sampled_below_per_byte_.store(control.sampled_below_per_byte(), std::memory_order_relaxed);
  }
  if (control.has_send_points()) {
    send_points_.store(control.send_points(), std::memory_order_relaxed);
  }
  if (control.has_paused()) paused_.store(control.paused(), std::memory_order_relaxed);
}

}  // namespace tidemark::agent
