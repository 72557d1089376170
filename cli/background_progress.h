// Progress on a thread of its own, so that a slow terminal does not hold up the job.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>

#include "cli/progress.h"

namespace tidemark::cli {

// Thread-safe.
class BackgroundProgress {
 public:
  explicit BackgroundProgress(std::unique_ptr<Progress> progress);
  ~BackgroundProgress();  // Finish()
  BackgroundProgress(const BackgroundProgress&) = delete;
  BackgroundProgress& operator=(const BackgroundProgress&) = delete;

  // None waits for the reader. When very many are queued, the oldest is dropped.
  void Show(const Snapshot& snapshot);
  void Say(const std::string& message);
  void Mention(const std::string& fact);
  void Explain(const absl::StatusOr<Explanation>& waits);
  // Waits for the reader when very much is waiting: no line is left out.
  void PassOn(const std::string& line);
  // Waits until all of it is shown, the summary included. `ending` as in Progress::Finish().
  // Idempotent; later calls show nothing.
  void Finish(const std::string& ending = "");

 private:
  struct Line {
    std::string text;
  };
  struct Fact {
    std::string text;
  };
  using Item = std::variant<Snapshot, std::string, Line, Fact, absl::StatusOr<Explanation>>;
  void ShowItem(const Item& item);
  void Add(Item item);
  void ShowUntilFinished();

  const std::unique_ptr<Progress> progress_;
  std::mutex mutex_;  // guards waiting_, finished_ and ending_
  std::condition_variable changed_;
  std::condition_variable has_room_;
  std::deque<Item> waiting_;
  bool finished_ = false;
  std::string ending_;
  std::thread thread_;
};

}  // namespace tidemark::cli
