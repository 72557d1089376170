#include "cli/background_progress.h"

#include <algorithm>
#include <utility>

namespace tidemark::cli {
namespace {

// More than half an hour of a job's snapshots; about 20 MB.
constexpr std::size_t kWaitingMax = 10'000;

}  // namespace

BackgroundProgress::BackgroundProgress(std::unique_ptr<Progress> progress)
    : progress_(std::move(progress)), thread_([this] { ShowUntilFinished(); }) {}

BackgroundProgress::~BackgroundProgress() { Finish(); }

void BackgroundProgress::Show(const Snapshot& snapshot) { Add(snapshot); }
void BackgroundProgress::Say(const std::string& message) { Add(message); }
void BackgroundProgress::Mention(const std::string& fact) { Add(Fact{fact}); }
void BackgroundProgress::Explain(const absl::StatusOr<Explanation>& waits) { Add(waits); }

void BackgroundProgress::PassOn(const std::string& line) {
  {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return finished_ || waiting_.size() < kWaitingMax; });
  }
  Add(Line{line});
}

void BackgroundProgress::Add(Item item) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (waiting_.size() >= kWaitingMax) {
    const auto dispensable = std::find_if(waiting_.begin(), waiting_.end(), [](const Item& other) {
      return !std::holds_alternative<Line>(other);
    });
    if (dispensable != waiting_.end()) waiting_.erase(dispensable);
  }
  waiting_.push_back(std::move(item));
  changed_.notify_one();
}

void BackgroundProgress::Finish(const std::string& ending) {
  {
    const std::lock_guard lock(mutex_);
    if (!finished_) ending_ = ending;
    finished_ = true;
    changed_.notify_one();
    has_room_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void BackgroundProgress::ShowItem(const Item& item) {
  if (const Snapshot* snapshot = std::get_if<Snapshot>(&item)) {
    progress_->Show(*snapshot);  // a reader that has gone does not end the job
  } else if (const Line* line = std::get_if<Line>(&item)) {
    progress_->PassOn(line->text);
  } else if (const Fact* fact = std::get_if<Fact>(&item)) {
    progress_->Mention(fact->text);
  } else if (const absl::StatusOr<Explanation>* waits =
                 std::get_if<absl::StatusOr<Explanation>>(&item)) {
    progress_->Explain(*waits);
  } else {
    progress_->Say(std::get<std::string>(item));
  }
}

void BackgroundProgress::ShowUntilFinished() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return finished_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    const Item item = std::move(waiting_.front());
    waiting_.pop_front();
    has_room_.notify_all();
    lock.unlock();
    ShowItem(item);
    lock.lock();
  }
  const std::string ending = ending_;
  lock.unlock();
  progress_->Finish(ending);
}

}  // namespace tidemark::cli
