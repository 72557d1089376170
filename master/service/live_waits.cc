#include "master/service/live_waits.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <queue>
#include <system_error>
#include <variant>

#include "absl/status/status.h"
#include "master/store/event_log.h"

namespace tidemark::service {

std::optional<Event> EventOfWaits(const Event& event) {
  if (std::holds_alternative<MapProfile>(event.body)) return std::nullopt;
  const auto* profile = std::get_if<ReduceProfile>(&event.body);
  if (profile == nullptr) return event;
  const waits::LongestGroup longest = waits::LongestGroupOf(*profile);
  std::vector<FinishedKey> groups;
  if (longest.time > absl::ZeroDuration()) {
    groups.push_back({.size_bytes = longest.size_bytes, .time = longest.time});
  }
  if (groups.empty() && !profile->processor_use && profile->time == TimeUse{}) return std::nullopt;
  return Event{.job_id = event.job_id,
               .run_uid = event.run_uid,
               .source_id = event.source_id,
               .sequence = event.sequence,
               .sent_at = event.sent_at,
               .arrived_at = event.arrived_at,
               .body = ReduceProfile{.attempt = profile->attempt,
                                     .finished_keys = std::move(groups),
                                     .processor_use = profile->processor_use,
                                     .time = profile->time}};
}

waits::PastInput PastInputOf(std::span<const PastRun> runs) {
  std::vector<double> of_map_stage;
  std::map<std::string, std::vector<double>> of_stages;
  for (const PastRun& run : runs) {
    if (run.is_of_other_job) continue;
    of_map_stage.push_back(static_cast<double>(run.map_input_bytes));
    for (const PastStage& stage : run.stages) {
      if (!stage.name.empty()) of_stages[stage.name].push_back(stage.read_bytes);
    }
  }
  waits::PastInput earlier = {.map_stage = waits::PastBytesOf(std::move(of_map_stage))};
  for (auto& [name, bytes] : of_stages) {
    if (const auto read = waits::PastBytesOf(std::move(bytes))) earlier.stages[name] = *read;
  }
  return earlier;
}

namespace {

constexpr absl::Duration kAdvanceEvery = absl::Seconds(1);
constexpr absl::Duration kPruneEvery = absl::Seconds(30);
// Once the inbox is full, one job may take 1 / kJobShare of the remaining space.
constexpr std::size_t kJobShare = 8;

}  // namespace

void LiveWaits::SetPastRuns(const std::string& job_id, std::span<const PastRun> runs) {
  waits::PastInput earlier = PastInputOf(runs);
  const std::lock_guard lock(inbox_mutex_);
  earlier_inbox_.emplace_back(job_id, std::move(earlier));
}

void LiveWaits::Resume(const std::string& job_id, const std::string& run_uid, absl::Time now) {
  const std::lock_guard lock(mutex_);
  waits_.Resume(job_id, run_uid, now);
}

void LiveWaits::Observe(const Event& event) {
  std::optional<Event> of_waits = EventOfWaits(event);
  if (!of_waits) return;
  {
    const std::lock_guard lock(inbox_mutex_);
    ++inbox_of_jobs_[of_waits->job_id];
    inbox_.push_back(*std::move(of_waits));
    inbox_size_.store(inbox_.size(), std::memory_order_relaxed);
    if (inbox_.size() < kInboxMax / 2 || std::exchange(is_drain_scheduled_, true)) return;
  }
  ScheduleDrain();
}

void LiveWaits::ScheduleDrain() {
  const auto drain = [this] {
    const std::lock_guard lock(mutex_);
    DrainInbox();
  };
  if (aside_ == nullptr) return drain();
  aside_->Add("inbox of waits", drain);
}

bool LiveWaits::HasRoomFor(const std::string& job_id, const std::function<void()>& when_room) {
  if (inbox_size_.load(std::memory_order_relaxed) < kInboxMax) return true;
  const std::lock_guard lock(inbox_mutex_);
  const std::size_t all = inbox_.size();
  if (all < kInboxMax) return true;
  const auto known = inbox_of_jobs_.find(job_id);
  const std::size_t of_job = known == inbox_of_jobs_.end() ? 0 : known->second;
  if (all < 2 * kInboxMax && of_job <= (2 * kInboxMax - all) / kJobShare) return true;
  when_room_.push_back(when_room);
  return false;
}

void LiveWaits::DrainInbox() {
  std::vector<Event> events;
  std::vector<std::pair<std::string, waits::PastInput>> earlier;
  std::vector<std::function<void()>> when_room;
  {
    const std::lock_guard lock(inbox_mutex_);
    events.swap(inbox_);
    earlier.swap(earlier_inbox_);
    when_room.swap(when_room_);
    inbox_of_jobs_.clear();
    inbox_size_.store(0, std::memory_order_relaxed);
    is_drain_scheduled_ = false;
  }
  for (const std::function<void()>& call : when_room) call();
  for (const Event& event : events) waits_.Apply(event);
  for (auto& [job_id, data] : earlier) waits_.SetPastInput(job_id, std::move(data));
}

void LiveWaits::Advance(absl::Time now,
                        const std::function<bool(const std::string& job_id)>& is_known) {
  const std::lock_guard lock(mutex_);
  if (now < advanced_at_ + kAdvanceEvery) return;
  advanced_at_ = now;
  DrainInbox();
  waits_.Advance(now);
  if (now < pruned_at_ + kPruneEvery) return;
  pruned_at_ = now;
  for (const std::string& job_id : waits_.jobs()) {
    if (!is_known(job_id)) waits_.Forget(job_id);
  }
}

std::optional<Explanation> LiveWaits::Ask(const std::string& job_id,
                                          const ExplainQuestion& question) {
  const std::lock_guard lock(mutex_);
  DrainInbox();
  return waits_.Ask(job_id, question);
}

void LiveWaits::AddContention(waits::ContentionSums& sums) {
  std::vector<std::string> job_ids;
  {
    const std::lock_guard lock(mutex_);
    DrainInbox();
    job_ids = waits_.jobs();
  }
  const std::string& only = sums.question().job_id;
  for (const std::string& job_id : job_ids) {
    if (!only.empty() && job_id != only) continue;
    const std::lock_guard lock(mutex_);
    waits_.AddContention(job_id, sums);
  }
}

std::vector<waits::LossesTo> LiveWaits::Losses(const std::string& job_id,
                                               const std::set<waits::QueryName>& to,
                                               std::size_t most,
                                               const std::optional<absl::Duration>& last) {
  const std::lock_guard lock(mutex_);
  return waits_.Losses(job_id, to, most, last);
}

std::vector<waits::CostOf> LiveWaits::Costs(const std::string& job_id,
                                            const std::set<waits::QueryName>& to, std::size_t most,
                                            const std::optional<absl::Duration>& last) {
  const std::lock_guard lock(mutex_);
  return waits_.Costs(job_id, to, most, last);
}

namespace {

// Limits of the logs that are read for one answer. Chosen by hand. Reading takes about a second of
// processor time, and a master can spare this many open files.
constexpr std::uint64_t kPastBytesMax = std::uint64_t{256} << 20;
constexpr std::size_t kPastLogsMax = 100;
constexpr absl::Duration kPastAdvanceEvery = absl::Seconds(1);
// Time after the end of a job within which reports about its last tasks arrive.
constexpr absl::Duration kPastSettled = absl::Seconds(5);

// Reads the events and past runs of one log in order.
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
  void Apply(waits::ClusterWaits& waits) const {
    if (const auto* past = std::get_if<store::PastRuns>(&*record_)) {
      waits.SetPastInput(reader_->job_id(), PastInputOf(past->runs));
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

// Opens the logs, the job's own log first. Sets `is_partial` if another log is omitted.
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
  // time of the next record, and index of the cursor
  using Next = std::pair<absl::Time, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const absl::Time end = logs.ended_at + kPastSettled;
  const auto add = [&](std::size_t i) {
    const LogCursor& cursor = *(*cursors)[i];
    if (!cursor.has_ended() && cursor.at() <= end) queue.emplace(cursor.at(), i);
  };
  for (std::size_t i = 0; i < cursors->size(); ++i) add(i);
  absl::Time advanced_at = absl::InfinitePast();
  while (!queue.empty()) {
    const auto [at, i] = queue.top();
    queue.pop();
    // A damaged log may begin with records that have no time.
    if (at != absl::InfinitePast()) {
      if (advanced_at == absl::InfinitePast()) advanced_at = at;
      if (at >= advanced_at + kPastAdvanceEvery) past.waits.Advance(advanced_at = at);
    }
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
