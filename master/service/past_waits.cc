#include "master/service/past_waits.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "master/service/events_of_waits.h"
#include "master/store/event_log.h"

namespace tidemark::service {
namespace {

// Chosen by hand: about a second of a processor, and as many open files as a master can spare.
constexpr std::uint64_t kPastBytesMax = std::uint64_t{256} << 20;
constexpr std::size_t kPastLogsMax = 100;
constexpr absl::Duration kPastAdvanceEvery = absl::Seconds(1);
// Reports of tasks that ran at the end of the job arrive within this time.
constexpr absl::Duration kPastSettled = absl::Seconds(5);

// The events and past runs of one log, one after the other.
class LogCursor {
 public:
  static absl::StatusOr<std::unique_ptr<LogCursor>> Open(const std::string& path) {
    auto reader = store::EventLogReader::Open(path);
    if (!reader.ok()) return reader.status();
    auto cursor = std::unique_ptr<LogCursor>(new LogCursor(*std::move(reader)));
    cursor->Next();
    return cursor;
  }

  bool has_ended() const { return !record_; }
  bool is_damaged() const { return is_damaged_; }
  absl::Time at() const { return at_; }
  // REQUIRES: !has_ended().
  void Apply(blame::ClusterWaits& waits) const {
    if (const auto* past = std::get_if<store::PastRuns>(&*record_)) {
      waits.SetEarlierData(reader_->job_id(), EarlierDataOf(past->runs));
    } else if (auto event = EventOfWaits(std::get<Event>(*record_))) {
      waits.Apply(*event);
    }
  }
  void Next() {
    while (true) {
      absl::StatusOr<std::optional<store::LogRecord>> record = reader_->Next();
      is_damaged_ = is_damaged_ || !record.ok();
      record_.reset();
      if (!record.ok() || !record->has_value()) return;
      is_damaged_ = is_damaged_ || std::holds_alternative<store::Damage>(**record);
      const Event* const event = std::get_if<Event>(&**record);
      if (event != nullptr) at_ = event->arrived_at;
      if (event == nullptr && !std::holds_alternative<store::PastRuns>(**record)) continue;
      record_ = **std::move(record);
      return;
    }
  }

 private:
  explicit LogCursor(std::unique_ptr<store::EventLogReader> reader) : reader_(std::move(reader)) {}

  std::unique_ptr<store::EventLogReader> reader_;
  std::optional<store::LogRecord> record_;
  absl::Time at_ = absl::InfinitePast();
  bool is_damaged_ = false;
};

using Cursors = std::vector<std::unique_ptr<LogCursor>>;

// Opens the logs, the job's own first. Sets `is_partial` if one of the others is left out.
absl::StatusOr<Cursors> OpenLogs(const LogsOfRun& logs, bool& is_partial) {
  Cursors cursors;
  std::uint64_t bytes = 0;
  const auto open = [&](const std::string& path) -> absl::Status {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return absl::ErrnoToStatus(error.value(), path);
    if (cursors.size() == kPastLogsMax || bytes + size > kPastBytesMax) {
      return absl::ResourceExhaustedError(fmt::format("{}: too large to read again", path));
    }
    auto cursor = LogCursor::Open(path);
    if (!cursor.ok()) return cursor.status();
    bytes += size;
    cursors.push_back(*std::move(cursor));
    return absl::OkStatus();
  };
  if (absl::Status own = open(logs.own); !own.ok()) return own;
  for (const std::string& other : logs.others) is_partial = !open(other).ok() || is_partial;
  return cursors;
}

}  // namespace

absl::StatusOr<PastWaits> ReadPastWaits(const LogsOfRun& logs) {
  PastWaits past;
  const absl::StatusOr<Cursors> cursors = OpenLogs(logs, past.is_partial);
  if (!cursors.ok()) return cursors.status();
  using Next = std::pair<absl::Time, std::size_t>;  // of the cursor with this index
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const absl::Time end = logs.ended_at + kPastSettled;
  const auto add = [&](std::size_t i) {
    const LogCursor& cursor = *(*cursors)[i];
    if (!cursor.has_ended() && cursor.at() <= end) queue.emplace(cursor.at(), i);
  };
  for (std::size_t i = 0; i < cursors->size(); ++i) add(i);
  absl::Time advanced_at = queue.empty() ? end : queue.top().first;
  while (!queue.empty()) {
    const auto [at, i] = queue.top();
    queue.pop();
    if (at >= advanced_at + kPastAdvanceEvery) past.waits.Advance(advanced_at = at);
    (*cursors)[i]->Apply(past.waits);
    (*cursors)[i]->Next();
    add(i);
  }
  past.waits.Advance(end);
  past.waits.Finish();
  for (const auto& cursor : *cursors) past.is_partial = past.is_partial || cursor->is_damaged();
  return past;
}

}  // namespace tidemark::service
