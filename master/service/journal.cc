#include "master/service/journal.h"

#include <fmt/format.h>

namespace tidemark::service {
namespace {

// One log may take 1 / kLogShare of the free memory. Chosen by hand. A disk of 100 MB/s writes an
// eighth of 64 MiB in less than 0.1 s, so other logs wait no longer.
constexpr std::size_t kLogShare = 8;
// Longer waits would overflow the standard library's clocks.
constexpr absl::Duration kRetryMax = absl::Hours(24);

}  // namespace

absl::Status JournalFails(const absl::Status& why) {
  return absl::UnavailableError(
      fmt::format("cannot write the journal; try again later: {}", std::string(why.message())));
}

class Journal::Log {
 public:
  Log(std::string path, std::string start, std::uint64_t durable_bytes)
      : next(std::move(start)), path_(std::move(path)), durable_bytes_(durable_bytes) {}

  // The journal's mutex guards the members up to stuck_after.
  std::string next;              // records appended since the last batch
  std::size_t next_waiting = 0;  // bytes of `next` that count as waiting
  std::size_t batch_waiting = 0;
  bool dirty = false;        // true if the log is in Journal::dirty_
  bool has_last = false;     // whether the last record was appended
  absl::Status stuck;        // why no record becomes durable
  Position stuck_after = 0;  // the last durable position before `stuck`

  // Only the journal's thread uses the members below.

  // Moves `next` to the batch, which is empty unless its last write failed. REQUIRES: the journal's
  // mutex is held.
  void MoveToBatch() {
    if (batch_.empty()) {
      std::swap(batch_, next);
    } else {
      batch_ += next;
      next.clear();
    }
    batch_waiting += std::exchange(next_waiting, 0);
    batch_has_last_ = has_last;
    dirty = false;
  }
  // Writes from the last durable byte, since it is unknown which bytes reached the disk before a
  // failure.
  absl::Status Write(store::Disk& disk) {
    if (file_ == nullptr) {
      auto file = durable_bytes_ == 0 ? disk.Create(path_) : disk.Open(path_);
      if (!file.ok()) return file.status();
      file_ = *std::move(file);
    }
    return file_->WriteAt(durable_bytes_, batch_);
  }
  void Committed() {
    durable_bytes_ += batch_.size();
    batch_.clear();
    // After a burst, a log must not keep the memory for the remaining life of its job.
    if (batch_.capacity() > kKeptBytes) batch_.shrink_to_fit();
    if (batch_has_last_) file_.reset();
  }
  store::AppendFile* file() const { return file_.get(); }
  absl::Status failure;  // result of the last attempt to write the batch

 private:
  static constexpr std::size_t kKeptBytes = 64 << 10;

  const std::string path_;
  std::uint64_t durable_bytes_;
  std::string batch_;
  bool batch_has_last_ = false;
  std::unique_ptr<store::AppendFile> file_;
};

Journal::Journal(std::shared_ptr<store::Disk> disk, const JournalOptions& options)
    : disk_(std::move(disk)), options_(options), thread_([this] { CommitUntilStopped(); }) {}

Journal::~Journal() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<Journal::Log> Journal::MakeLog(std::string path, std::string start) {
  return std::make_shared<Log>(std::move(path), std::move(start), 0);
}

std::shared_ptr<Journal::Log> Journal::MakeLog(std::string path, std::uint64_t durable_bytes) {
  return std::make_shared<Log>(std::move(path), "", durable_bytes);
}

Journal::Position Journal::Append(const std::shared_ptr<Log>& log, absl::string_view records,
                                  bool is_last) {
  const std::lock_guard lock(mutex_);
  if (log != nullptr) {
    log->has_last = is_last;
    if (!std::exchange(log->dirty, true)) dirty_.push_back(log);
    log->next.append(records.data(), records.size());
    log->next_waiting += records.size();
    waiting_bytes_.fetch_add(records.size(), std::memory_order_relaxed);
  }
  ++appended_;
  if (appended_ == batch_end_ + 1) work_.notify_one();  // The record is the first of its batch.
  return appended_;
}

void Journal::Remove(std::string path) {
  {
    const std::lock_guard lock(mutex_);
    removals_.push_back(std::move(path));
  }
  Append(nullptr, "");
}

// REQUIRES: mutex_ is held.
bool Journal::IsDurableLocked(const Mark& mark) const {
  if (durable() < mark.position) return false;
  return mark.log == nullptr || mark.log->stuck.ok() || mark.position <= mark.log->stuck_after;
}

bool Journal::IsDurable(const Mark& mark) const {
  const std::lock_guard lock(mutex_);
  return IsDurableLocked(mark);
}

bool Journal::IsStuck(const std::shared_ptr<Log>& log) const {
  const std::lock_guard lock(mutex_);
  return log != nullptr && !log->stuck.ok();
}

bool Journal::HasRoomFor(const std::shared_ptr<Log>& log) const {
  const std::lock_guard lock(mutex_);
  // While no log can be written, records wait in memory until it is full.
  if (log != nullptr && !log->stuck.ok() && status_.ok()) return false;
  const std::size_t all = waiting_bytes_.load(std::memory_order_relaxed);
  const std::size_t waiting = all - std::min(all, stuck_bytes_.load(std::memory_order_relaxed));
  const std::size_t of_log = log == nullptr ? 0 : log->next_waiting + log->batch_waiting;
  const std::size_t max = options_.waiting_bytes_max;
  if (waiting < max) return of_log <= (max - waiting) / kLogShare;
  // If all memory is used, one batch is accepted from each log that has no waiting records.
  return log != nullptr && of_log == 0 && waiting < 2 * max;
}

bool Journal::WaitUntilDurable(const Mark& mark) {
  std::unique_lock lock(mutex_);
  const auto fails = [&] {
    return stopping_ || !status_.ok() || (mark.log != nullptr && !mark.log->stuck.ok());
  };
  changed_.wait(lock, [&] { return IsDurableLocked(mark) || fails(); });
  return IsDurableLocked(mark);
}

void Journal::NotifyWhenDurable(Mark mark, std::shared_ptr<Waiter> waiter) {
  absl::Status status;
  {
    const std::lock_guard lock(mutex_);
    if (!IsDurableLocked(mark)) {
      status = mark.log == nullptr || mark.log->stuck.ok() ? status_ : mark.log->stuck;
      waiting_.push_back({std::move(mark), waiter});
      if (status.ok()) return;
    }
  }
  if (!status.ok()) return waiter->OnStalled(status);
  waiter->OnDurable(durable());
}

absl::Status Journal::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Journal::CommitUntilStopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto has_work = [this] { return stopping_ || appended_ > batch_end_; };
    if (stuck_.empty()) {
      work_.wait(lock, has_work);
    } else {
      work_.wait_until(lock, retry_at_, has_work);
    }
    if (!stopping_ && appended_ > batch_end_ && options_.commit_interval > absl::ZeroDuration()) {
      work_.wait_for(lock, absl::ToChronoNanoseconds(options_.commit_interval),
                     [this] { return stopping_; });
    }
    if (stopping_ && appended_ == batch_end_) return;
    TakeNext();
    lock.unlock();
    RemoveFiles();
    Conclude(WriteBatch());
    lock.lock();
  }
}

// REQUIRES: mutex_ is held.
void Journal::TakeNext() {
  batch_.clear();
  for (const std::shared_ptr<Log>& log : std::exchange(dirty_, {})) {
    log->MoveToBatch();
    if (log->stuck.ok()) batch_.push_back(log);
  }
  if (std::chrono::steady_clock::now() >= retry_at_) {
    batch_.insert(batch_.end(), stuck_.begin(), stuck_.end());
    stuck_.clear();
  }
  batch_removals_.swap(removals_);
  batch_end_ = appended_;
}

void Journal::RemoveFiles() {
  for (const std::string& path : std::exchange(batch_removals_, {})) {
    const absl::Status removed = disk_->Remove(path);
    if (!removed.ok() && options_.on_notice) {
      options_.on_notice(std::string(removed.message()) +
                         "; its job was removed but will reappear after a restart");
    }
  }
}

void Journal::Fail(const std::shared_ptr<Log>& log, const absl::Status& why, Attempt& attempt) {
  if (log->stuck.ok() && attempt.why.ok()) attempt.why = why;
  log->failure = why;
  attempt.failed.push_back(log);
}

// A failing log does not prevent writes to other logs.
Journal::Attempt Journal::WriteBatch() {
  Attempt attempt;
  Logs written;
  for (const std::shared_ptr<Log>& log : batch_) {
    if (absl::Status status = log->Write(*disk_); !status.ok()) {
      Fail(log, status, attempt);
    } else {
      written.push_back(log);
    }
  }
  if (!written.empty()) Sync(written, attempt);
  for (const std::shared_ptr<Log>& log : attempt.durable) log->Committed();
  return attempt;
}

// Syncs all logs together. If that fails, rewrites and syncs each log alone, to find the working
// ones. The kernel reports a failed page once and then treats it as clean, so the second write is
// necessary.
void Journal::Sync(Logs& written, Attempt& attempt) {
  std::vector<store::AppendFile*> files;
  files.reserve(written.size());
  for (const std::shared_ptr<Log>& log : written) files.push_back(log->file());
  const absl::Status together = disk_->Sync(files);
  if (together.ok()) {
    attempt.durable = std::move(written);
    return;
  }
  for (const std::shared_ptr<Log>& log : written) {
    absl::Status alone = written.size() == 1 ? together : log->Write(*disk_);
    if (alone.ok()) alone = disk_->Sync({log->file()});
    if (alone.ok()) {
      attempt.durable.push_back(log);
    } else {
      Fail(log, alone, attempt);
    }
  }
}

void Journal::Conclude(const Attempt& attempt) {
  // Repeated failures of the same logs do not show whether the disk works.
  const bool disk_fails = attempt.durable.empty() && !attempt.why.ok();
  std::vector<Waiting> told;
  std::vector<std::pair<std::shared_ptr<Waiter>, absl::Status>> stalled;
  std::string to_say;
  {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<Log>& log : attempt.durable) {
      log->stuck = absl::OkStatus();
      waiting_bytes_.fetch_sub(std::exchange(log->batch_waiting, 0), std::memory_order_relaxed);
    }
    for (const std::shared_ptr<Log>& log : attempt.failed) {
      if (log->stuck.ok()) {
        log->stuck_after = durable();
        for (const Waiting& waiting : waiting_) {
          if (waiting.mark.log == log) stalled.emplace_back(waiting.waiter, log->failure);
        }
      }
      log->stuck = log->failure;
      stuck_.push_back(log);
    }
    if (!attempt.failed.empty()) {
      retry_at_ = std::chrono::steady_clock::now() +
                  absl::ToChronoNanoseconds(std::min(options_.retry_interval, kRetryMax));
    }
    std::size_t stuck_bytes = 0;
    for (const std::shared_ptr<Log>& log : stuck_) {
      stuck_bytes += log->next_waiting + log->batch_waiting;
    }
    const bool disk_works = !disk_fails && (status_.ok() || !attempt.durable.empty());
    if (disk_works && !stuck_.empty() && !std::exchange(is_stuck_told_, true)) {
      to_say = std::string(stuck_.front()->stuck.message()) +
               "; its events wait until it can be written, and other logs are unaffected";
    }
    if (stuck_.empty()) is_stuck_told_ = false;
    stuck_bytes_.store(disk_works ? stuck_bytes : 0, std::memory_order_relaxed);
    if (disk_works) {
      durable_.store(batch_end_, std::memory_order_release);
      const auto first =
          std::partition(waiting_.begin(), waiting_.end(),
                         [this](const Waiting& waiting) { return !IsDurableLocked(waiting.mark); });
      told.assign(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
      waiting_.erase(first, waiting_.end());
    }
  }
  changed_.notify_all();
  if (disk_fails) return SetStatus(attempt.why);
  if (!attempt.durable.empty()) SetStatus(absl::OkStatus());
  for (const Waiting& waiting : told) waiting.waiter->OnDurable(durable());
  for (const auto& [waiter, why] : stalled) waiter->OnStalled(why);
  if (!to_say.empty() && options_.on_notice) options_.on_notice(to_say);
}

void Journal::SetStatus(const absl::Status& status) {
  std::vector<Waiting> stalled;
  {
    const std::lock_guard lock(mutex_);
    if (status_ == status) return;
    status_ = status;
    if (!status.ok()) stalled = waiting_;
  }
  changed_.notify_all();
  for (const Waiting& waiting : stalled) waiting.waiter->OnStalled(status);
}

}  // namespace tidemark::service
