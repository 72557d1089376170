#include "agent/inbox.h"

#include <utility>

#include "agent/outbox.h"

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

// Texts and lists make an event large; the rest has a fixed size. Profiles do not pass through the
// inbox.
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

}  // namespace tidemark::agent
