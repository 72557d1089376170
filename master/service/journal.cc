#include "master/service/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::service {

absl::Status JournalFails(const absl::Status& why) {
  return absl::UnavailableError(fmt::format("the journal cannot be written, try again later: {}",
                                            std::string(why.message())));
}

class Journal::Log {
 public:
  Log(std::string path, std::string start, std::uint64_t durable_bytes)
      : next(std::move(start)), path_(std::move(path)), durable_bytes_(durable_bytes) {}

  // Guarded by the journal's mutex.
  std::string next;    // appended since the batch was taken
  bool dirty = false;  // in Journal::dirty_

  // The rest belongs to the journal's thread.

  // Makes `next` the batch; the batch before is durable. REQUIRES: the journal's mutex is held.
  void Take() {
    std::swap(batch_, next);
    dirty = false;
  }
  // Repeats from the last durable byte: after a failure nobody knows what reached the disk.
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
    // One burst must not cost its memory for the rest of a job's life.
    if (batch_.capacity() > kKeptBytes) batch_.shrink_to_fit();
  }
  store::AppendFile* file() const { return file_.get(); }

 private:
  static constexpr std::size_t kKeptBytes = 64 << 10;

  const std::string path_;
  std::uint64_t durable_bytes_;
  std::string batch_;
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

Journal::Position Journal::Append(const std::shared_ptr<Log>& log, absl::string_view records) {
  const std::lock_guard lock(mutex_);
  if (log != nullptr) {
    if (!std::exchange(log->dirty, true)) dirty_.push_back(log);
    log->next.append(records.data(), records.size());
    next_bytes_ += records.size();
    waiting_bytes_.fetch_add(records.size(), std::memory_order_relaxed);
  }
  ++appended_;
  if (appended_ == batch_end_ + 1) work_.notify_one();  // the first of its batch
  return appended_;
}

void Journal::Remove(std::string path) {
  {
    const std::lock_guard lock(mutex_);
    removals_.push_back(std::move(path));
  }
  Append(nullptr, "");
}

bool Journal::WaitUntilDurable(Position position) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return durable() >= position || stopping_ || !status_.ok(); });
  return durable() >= position;
}

void Journal::NotifyWhenDurable(Position position, std::shared_ptr<Waiter> waiter) {
  absl::Status status;
  {
    const std::lock_guard lock(mutex_);
    if (durable() < position) {
      waiting_.push_back({position, waiter});
      status = status_;
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
    work_.wait(lock, [this] { return stopping_ || appended_ > batch_end_; });
    if (!stopping_ && options_.commit_interval > absl::ZeroDuration()) {
      work_.wait_for(lock, absl::ToChronoNanoseconds(options_.commit_interval),
                     [this] { return stopping_; });
    }
    if (appended_ == batch_end_) return;  // stopping
    TakeNext();
    lock.unlock();
    for (absl::Status written = WriteBatch(); !written.ok(); written = WriteBatch()) {
      SetStatus(written);
      lock.lock();
      work_.wait_for(lock, absl::ToChronoNanoseconds(options_.retry_interval),
                     [this] { return stopping_; });
      if (stopping_) return;
      lock.unlock();
    }
    SetStatus(absl::OkStatus());
    Committed();
    lock.lock();
  }
}

// REQUIRES: mutex_ is held.
void Journal::TakeNext() {
  batch_.swap(dirty_);
  batch_removals_.swap(removals_);
  for (const std::shared_ptr<Log>& log : batch_) log->Take();
  batch_end_ = appended_;
  batch_bytes_ = std::exchange(next_bytes_, 0);
}

absl::Status Journal::WriteBatch() {
  for (const std::string& path : std::exchange(batch_removals_, {})) {
    const absl::Status removed = disk_->Remove(path);
    if (!removed.ok() && options_.on_notice) {
      options_.on_notice(std::string(removed.message()) +
                         "; what it is about was forgotten, and is known again after a restart");
    }
  }
  std::vector<store::AppendFile*> files;
  files.reserve(batch_.size());
  for (const std::shared_ptr<Log>& log : batch_) {
    if (absl::Status status = log->Write(*disk_); !status.ok()) return status;
    files.push_back(log->file());
  }
  return files.empty() ? absl::OkStatus() : disk_->Sync(files);
}

void Journal::Committed() {
  for (const std::shared_ptr<Log>& log : batch_) log->Committed();
  batch_.clear();
  std::vector<Waiting> told;
  {
    const std::lock_guard lock(mutex_);
    durable_.store(batch_end_, std::memory_order_release);
    waiting_bytes_.fetch_sub(batch_bytes_, std::memory_order_relaxed);
    const auto first = std::partition(waiting_.begin(), waiting_.end(),
                                      [this](const Waiting& w) { return w.position > batch_end_; });
    told.assign(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
    waiting_.erase(first, waiting_.end());
  }
  changed_.notify_all();
  for (const Waiting& waiting : told) waiting.waiter->OnDurable(batch_end_);
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
