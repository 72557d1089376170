#include "master/service/live_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "master/service/metrics.h"
#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

constexpr int kSpins = 200;  // about 10 microseconds

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool EntryMutex::TryAcquire(Holder holder) {
  if (holder_.load(std::memory_order_relaxed) != Holder::kNone) return false;
  const std::lock_guard lock(mutex_);
  if (holder_ != Holder::kNone) return false;
  holder_ = holder;
  return true;
}

void EntryMutex::Acquire(Holder holder) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (TryAcquire(holder)) return;
    Pause();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return holder_ == Holder::kNone; });
  holder_ = holder;
}

void EntryMutex::lock() { Acquire(Holder::kShort); }

void EntryMutex::LockLong() {
  Acquire(Holder::kLong);
  // Callers of LockUnlessLong() that are still asleep must not wait for this holder.
  changed_.notify_all();
}

bool EntryMutex::AcquireUnlessLong(Holder holder, std::function<void()> when_free) {
  const auto has_taken = [this, holder] {
    for (int spin = 0; spin < kSpins && holder_.load(std::memory_order_relaxed) != Holder::kLong;
         ++spin) {
      if (TryAcquire(holder)) return true;
      Pause();
    }
    return false;
  };
  bool is_held = has_taken();
  if (!is_held) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return holder_ != Holder::kShort; });
    if (holder_ == Holder::kNone) {
      holder_ = holder;
      is_held = true;
    } else if (when_free) {
      when_free_.push_back(std::move(when_free));
    }
  }
  if (is_held && holder == Holder::kLong) changed_.notify_all();
  return is_held;
}

void EntryMutex::unlock() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    holder_ = Holder::kNone;
    calls.swap(when_free_);
  }
  changed_.notify_one();
  for (const std::function<void()>& call : calls) call();
}

void EvictionOrder::Enter(const std::string& reporter) { ++reporters_[reporter].kept; }

void EvictionOrder::Leave(const std::string& reporter) {
  const auto known = reporters_.find(reporter);
  if (--known->second.kept == 0) reporters_.erase(known);
}

void EvictionOrder::Add(const One& one) {
  reporters_[one.reporter].ended.emplace(one.number, one.id);
}

void EvictionOrder::Remove(const std::string& reporter, std::uint64_t number) {
  const auto known = reporters_.find(reporter);
  if (known != reporters_.end()) known->second.ended.erase(number);
}

std::optional<EvictionOrder::One> EvictionOrder::OldestOf(const std::string& reporter) const {
  const auto known = reporters_.find(reporter);
  if (known == reporters_.end() || known->second.ended.empty()) return std::nullopt;
  return Oldest(reporter, known->second);
}

std::optional<EvictionOrder::One> EvictionOrder::NextToEvict(const std::string& reporter) const {
  const auto own = reporters_.find(reporter);
  const std::size_t own_kept = own == reporters_.end() ? 0 : own->second.kept;
  // Evicts an entry of another reporter only if that reporter keeps more entries and would not keep
  // fewer afterwards.
  auto most = reporters_.end();
  for (auto other = reporters_.begin(); other != reporters_.end(); ++other) {
    if (other->second.ended.empty() || other->second.kept <= own_kept) continue;
    if (most == reporters_.end() || other->second.kept > most->second.kept) most = other;
  }
  if (most != reporters_.end()) return Oldest(most->first, most->second);
  return OldestOf(reporter);
}

bool TickPace::IsDue(absl::Duration since, bool has_news) const {
  return since >= (has_news ? interval_min : interval) - interval_min / 10;
}

absl::Duration TickPace::PauseAfter(absl::Duration took, absl::Duration cpu_time) const {
  return std::max({interval_min - took, cpu_time, absl::ZeroDuration()});
}

std::vector<std::size_t> TickRound(const std::vector<DueJob>& due) {
  std::vector<std::size_t> round;
  std::vector<std::size_t> heavy;
  for (std::size_t i = 0; i < due.size(); ++i) {
    (due[i].cost > kHeavyEstimate ? heavy : round).push_back(i);
  }
  std::stable_sort(round.begin(), round.end(),
                   [&](std::size_t a, std::size_t b) { return due[a].cost < due[b].cost; });
  const auto longest = std::min_element(
      heavy.begin(), heavy.end(),
      [&](std::size_t a, std::size_t b) { return due[a].ticked_at < due[b].ticked_at; });
  if (longest != heavy.end()) round.push_back(*longest);
  return round;
}

LiveEntry::LiveEntry(std::shared_ptr<const Snapshot> first, absl::Time began, const Sender& sender,
                     Shares& shares)
    : id(first->job_id),
      began_at(began),
      name_space(sender.name_space),
      reporter(sender.reporter.empty() ? sender.name_space : sender.reporter),
      ticked{.snapshot = std::move(first), .left = nullptr, .profile = nullptr},
      holding(shares.Of(reporter)),
      newest_(ticked) {}

std::shared_ptr<LiveEntry> LiveTable::Find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(id);
  return entry == entries_.end() ? nullptr : entry->second;
}

std::vector<std::shared_ptr<LiveEntry>> LiveTable::All() const {
  std::vector<std::shared_ptr<LiveEntry>> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.reserve(entries_.size());
    for (const auto& [id, entry] : entries_) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a->number > b->number; });
  return entries;
}

LiveEntry::Running LiveTable::GetRunning(const std::string& id) const {
  const std::shared_ptr<LiveEntry> entry = Find(id);
  return entry == nullptr ? LiveEntry::Running() : entry->newest();
}

absl::Status LiveTable::EnterHub(const LiveEntry& entry) const {
  return context_->hub == nullptr ? absl::OkStatus()
                                  : context_->hub->Enter({entry.newest().snapshot, entry.run()});
}

absl::StatusOr<std::shared_ptr<LiveEntry>> LiveTable::Enter(
    const std::shared_ptr<LiveEntry>& entry, const std::shared_ptr<LiveEntry>& before) {
  std::shared_ptr<LiveEntry> forgotten;  // destroyed last
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(entry->id);
  if (known != entries_.end() && known->second != before) return known->second;
  std::optional<EvictionOrder::One> to_evict;
  if (known == entries_.end() && entries_.size() >= kind_.max) {
    to_evict = kept_.NextToEvict(entry->reporter);
    if (!to_evict) {
      return LimitExceeded(fmt::format("{}s", kind_.noun),
                           fmt::format("{} {}: this master tracks at most {} {}s at once",
                                       kind_.noun, entry->id, kind_.max, kind_.noun));
    }
  }
  if (absl::Status taken = entry->holding.Reserve(kind_.place, 1); !taken.ok()) return taken;
  if (absl::Status refused = EnterHub(*entry); !refused.ok()) return refused;
  if (to_evict) forgotten = Forget(*to_evict);
  if (known != entries_.end()) {
    kept_.Remove(before->reporter, before->number);
    kept_.Leave(before->reporter);
  }
  kept_.Enter(entry->reporter);
  entry->number = ++entered_;
  entries_[entry->id] = entry;
  return nullptr;
}

void LiveTable::Adopt(const std::shared_ptr<LiveEntry>& entry, std::uint64_t log_bytes,
                      bool may_forget) {
  entry->holding.Hold(Resource::kDiskBytes, log_bytes);
  entry->holding.Hold(kind_.place, entry->is_over() ? 0 : 1);
  const std::lock_guard lock(mutex_);
  entry->number = ++entered_;
  kept_.Enter(entry->reporter);
  if (may_forget) AllowEviction(*entry);
  // If the ID has been reused in the meantime, the log stays as it is.
  EnterHub(*entry).IgnoreError();
  entries_.emplace(entry->id, entry);
}

// Returns the entry, so that it is destroyed without holding the lock.
std::shared_ptr<LiveEntry> LiveTable::Forget(const EvictionOrder::One& ended) {
  // In the journal, the removal precedes the log of the next run of the same ID. A log that cannot
  // be removed is restored after a restart and evicted again.
  if (!data_dir().empty()) {
    for (std::string& path : FilesOf(ended.id)) journal().Remove(std::move(path));
  }
  kept_.Remove(ended.reporter, ended.number);
  kept_.Leave(ended.reporter);
  const auto known = entries_.find(ended.id);
  std::shared_ptr<LiveEntry> forgotten = std::move(known->second);
  entries_.erase(known);
  if (context_->hub != nullptr) context_->hub->Remove(ended.id);
  return forgotten;
}

absl::Status LiveTable::Forget(const std::string& id, const std::string& run_uid) {
  const std::shared_ptr<LiveEntry> entry = Find(id);
  if (entry == nullptr) return absl::OkStatus();
  const std::shared_ptr<const Snapshot> newest = entry->newest().snapshot;
  if (!run_uid.empty() && run_uid != newest->run_uid) return absl::OkStatus();
  if (!newest->is_final) {
    return absl::FailedPreconditionError(
        fmt::format("{} {} is running{}", kind_.noun, id, kind_.advice));
  }
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(id);
  if (known != entries_.end() && known->second == entry) {
    Forget({entry->reporter, entry->number, id});
  }
  return absl::OkStatus();
}

bool LiveTable::MakeRoomOf(const std::string& reporter) {
  std::shared_ptr<LiveEntry> forgotten;  // destroyed last
  const std::lock_guard lock(mutex_);
  const std::optional<EvictionOrder::One> oldest = kept_.OldestOf(reporter);
  if (oldest) forgotten = Forget(*oldest);
  return oldest.has_value();
}

// Returns true if the entry should be ticked at `now`. An entry with a stuck log is not due, since
// its pending records would fill the memory while the disk is full. REQUIRES: entry.mutex is held.
bool LiveTable::IsDue(const LiveEntry& entry, absl::Time now) const {
  const std::shared_ptr<const Snapshot> newest = entry.newest().snapshot;
  const bool is_published = entry.ticked.snapshot == newest;
  if (newest->is_final || !is_published) return false;
  if (journal().IsStuck(entry.mark.log)) return false;
  return context_->pace.IsDue(now - entry.ticked_at, entry.has_news());
}

LiveTable::Round LiveTable::RoundAt(absl::Time now) {
  const bool is_heavy_busy = IsHeavyBusy(now);
  const std::shared_ptr<LiveEntry> busy = [this] {
    const std::lock_guard lock(heavy_mutex_);
    return heavy_;
  }();
  std::vector<std::shared_ptr<LiveEntry>> entries;
  std::vector<DueJob> due;
  for (std::shared_ptr<LiveEntry>& entry : All()) {
    if (entry == busy || !entry->mutex.LockUnlessLong()) continue;
    const std::lock_guard lock(entry->mutex, std::adopt_lock);
    if (!IsDue(*entry, now)) continue;
    due.push_back({.cost = entry->ExpectedCost(), .ticked_at = entry->ticked_at});
    entries.push_back(std::move(entry));
  }
  Round round;
  for (const std::size_t i : TickRound(due)) {
    if (due[i].cost <= kHeavyEstimate) {
      round.light.push_back(std::move(entries[i]));
    } else if (!is_heavy_busy) {
      round.heavy = std::move(entries[i]);
    }
  }
  return round;
}

bool LiveTable::IsHeavyBusy(absl::Time now) {
  if (context_->heavy == nullptr) return false;
  std::optional<Ticked> done;
  {
    const std::lock_guard lock(heavy_mutex_);
    if (heavy_ != nullptr && !heavy_done_) return true;
    if (heavy_done_) heavy_again_at_ = now + heavy_cost_;
    done.swap(heavy_done_);
    heavy_.reset();
  }
  if (done) PublishLater(*std::move(done));
  return now < heavy_again_at_;
}

void LiveTable::StartHeavy(const std::shared_ptr<LiveEntry>& entry, absl::Time now) {
  {
    const std::lock_guard lock(heavy_mutex_);
    heavy_ = entry;
  }
  AddHeavy([this, entry, now] {
    const absl::Duration began = ThreadCpuTime();
    Ticked ticked = Tick(entry, now);
    const std::lock_guard lock(heavy_mutex_);
    heavy_cost_ = ThreadCpuTime() - began;
    heavy_done_ = std::move(ticked);
  });
}

void LiveTable::AddHeavy(transport::TurnQueue::Work work) {
  {
    const std::lock_guard lock(heavy_mutex_);
    ++heavy_works_;
  }
  context_->heavy->Add(kind_.noun, [this, work = std::move(work)]() mutable {
    work();
    work = nullptr;
    const std::lock_guard lock(heavy_mutex_);
    --heavy_works_;
    heavy_changed_.notify_all();
  });
}

void LiveTable::AwaitHeavy() {
  std::unique_lock lock(heavy_mutex_);
  heavy_changed_.wait(lock, [this] { return heavy_works_ == 0; });
}

std::vector<PublishedJob> LiveTable::TickDue(absl::Time now) {
  const Round round = RoundAt(now);
  if (round.heavy != nullptr && context_->heavy != nullptr) StartHeavy(round.heavy, now);
  for (const std::shared_ptr<LiveEntry>& entry : round.light) PublishLater(Tick(entry, now));
  std::vector<PublishedJob> published = Publish();
  if (round.heavy != nullptr && context_->heavy == nullptr) {
    // All other snapshots have already been published.
    PublishLater(Tick(round.heavy, now));
    for (PublishedJob& last : Publish()) published.push_back(std::move(last));
  }
  return published;
}

std::vector<PublishedJob> LiveTable::Publish() {
  std::vector<PublishedJob> published;
  std::vector<std::shared_ptr<LiveEntry>> shown;
  for (Ticked& ticked : std::exchange(unpublished_, {})) {
    if (!data_dir().empty() && !journal().WaitUntilDurable(ticked.mark)) {
      PublishLater(std::move(ticked));
      continue;
    }
    LiveEntry& entry = *ticked.entry;
    entry.SetNewest(ticked.shown);
    published.push_back({ticked.shown.snapshot, entry.run()});
    if (ticked.shown.snapshot->is_final) {
      const std::lock_guard lock(entry.mutex);
      entry.holding.Hold(kind_.place, 0);
      entry.mark.log.reset();
    }
    shown.push_back(std::move(ticked.entry));
  }
  if (context_->hub != nullptr) {
    for (const PublishedJob& job : published) context_->hub->Publish(job);
  }
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (!published[i].newest->is_final) continue;
      // The entry may have been removed, or replaced by another run.
      const auto known = entries_.find(shown[i]->id);
      if (known != entries_.end() && known->second == shown[i]) AllowEviction(*shown[i]);
    }
  }
  // Checkpoints take time, and a client that observes the end may need the space immediately, so
  // this comes last.
  for (const std::shared_ptr<LiveEntry>& entry : shown) OnPublished(entry);
  return published;
}

}  // namespace tidemark::service
