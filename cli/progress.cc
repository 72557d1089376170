#include "cli/progress.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "console/job_frame.h"
#include "console/job_lines.h"
#include "console/job_summary.h"
#include "console/terminal.h"
#include "console/text.h"
#include "proto/wire/job_codec.h"
#include "tidemark/job_monitor.h"
#include "tidemark/late_probability.h"

namespace tidemark::cli {
namespace {

// A replay makes thousands of snapshots per second, but a reader can follow about twenty.
constexpr absl::Duration kBetweenFrames = absl::Milliseconds(50);

// Holds the snapshots of about half an hour of a job, which take about 20 MB.
constexpr std::size_t kQueueMax = 10'000;

// Keeps the newest snapshot, and writes the summary of the job at its end.
class SummarizedProgress : public Progress {
 public:
  SummarizedProgress(bool compare, std::FILE* lines, Environment environment)
      : environment_(std::move(environment)), compare_(compare), lines_(lines) {}

  void Explain(const absl::StatusOr<Explanation>& waits) override { waits_ = waits; }
  void Finish(const std::string& ending) override {
    if (!newest_) return;
    const int width = WidthOf(lines_);
    const console::TextOptions options = TextOptionsFor(lines_, environment_);
    std::vector<std::string> text =
        console::RenderSummary(*newest_, width, options, ending, compare_);
    const std::string spent = console::TimeSpentText(*newest_, lone_task_.task(), waits_, options);
    for (std::string& line : console::WrapWords(spent, width, kLinesMax, options.unicode)) {
      text.push_back(std::move(line));
    }
    for (const std::string& line : text) WriteLine(lines_, line);
  }

 protected:
  void Keep(const Snapshot& snapshot) {
    lone_task_.Add(snapshot);
    newest_ = snapshot;
  }

  const Environment environment_;
  const bool compare_;
  std::FILE* const lines_;
  std::optional<Snapshot> newest_;

 private:
  static constexpr int kLinesMax = 20;
  console::LoneTaskWatch lone_task_;
  absl::StatusOr<Explanation> waits_ = absl::UnknownError("no master reported them");
};

class BarProgress final : public SummarizedProgress {
 public:
  BarProgress(bool compare, std::FILE* lines, Environment environment)
      : SummarizedProgress(compare, lines, std::move(environment)),
        options_{.color = AllowsColor(environment_),
                 .unicode = HasUtf8(environment_),
                 .compare = compare,
                 .zone = &LocalZone()},
        terminal_(fileno(stderr)) {}

  bool Show(const Snapshot& snapshot) override {
    Keep(snapshot);
    is_drawn_ = false;
    if (snapshot.is_final || absl::Now() - drawn_at_ >= kBetweenFrames) Draw();
    return true;
  }

  void Remark(const std::string& sentence) override { remark_ = sentence; }
  void ShowTasks(const JobTasks& tasks) override { tasks_ = tasks; }
  void Warn(const std::string& message) override { terminal_.Print({ErrorLine(message)}); }
  void Forward(const std::string& line) override { terminal_.Print({line}); }

  void Finish(const std::string& ending) override {
    if (!newest_) return;
    if (!is_drawn_) Draw();
    terminal_.Keep();
    SummarizedProgress::Finish(ending);
  }

 private:
  void Draw() {
    console::FrameOptions options = options_;
    // Terminals disagree on the cursor position after a full line.
    options.width = terminal_.size().columns - 1;
    std::vector<std::string> frame = console::RenderFrame(*newest_, options);
    if (!remark_.empty() && !newest_->is_final) {
      frame.push_back(console::StyledLine()
                          .Add(console::Style::kDim, remark_)
                          .Render(options.width, TextOptionsFor(stderr, environment_)));
    }
    AddTasks(frame);
    terminal_.Draw(frame);
    drawn_at_ = absl::Now();
    is_drawn_ = true;
  }

  // Adds the running tasks that fit. One row stays free for the cursor.
  void AddTasks(std::vector<std::string>& frame) const {
    if (newest_->is_final) return;
    const int room = terminal_.size().rows - 1 - static_cast<int>(frame.size());
    if (room <= 0) return;
    for (std::string& line : console::RenderTaskLines(
             *newest_, tasks_, static_cast<std::size_t>(room), terminal_.size().columns - 1,
             {.color = options_.color, .unicode = options_.unicode, .zone = options_.zone})) {
      frame.push_back(std::move(line));
    }
  }

  const console::FrameOptions options_;
  console::Terminal terminal_;
  std::string remark_;
  JobTasks tasks_;
  absl::Time drawn_at_ = absl::InfinitePast();
  bool is_drawn_ = false;  // whether the newest snapshot is on the screen
};

class PlainProgress final : public SummarizedProgress {
 public:
  PlainProgress(bool compare, std::FILE* lines, Environment environment)
      : SummarizedProgress(compare, lines, std::move(environment)),
        plain_(TextOptionsFor(lines, environment_), compare) {}

  bool Show(const Snapshot& snapshot) override {
    Keep(snapshot);
    const std::optional<std::string> line = plain_.Next(snapshot);
    return !line || WriteLine(lines_, *line);
  }

 private:
  console::PlainLines plain_;
};

class JsonProgress final : public Progress {
 public:
  explicit JsonProgress(std::FILE* lines) : lines_(lines) {}
  bool Show(const Snapshot& snapshot) override {
    return WriteLine(lines_, wire::SnapshotJson(snapshot));
  }

 private:
  std::FILE* const lines_;
};

// Shows only warnings.
class QuietProgress final : public Progress {
 public:
  bool Show(const Snapshot&) override { return true; }
  void Inform(const std::string&) override {}
};

// Passes everything except snapshots to another Progress.
class ForwardedProgress : public Progress {
 public:
  explicit ForwardedProgress(std::unique_ptr<Progress> shown) : shown_(std::move(shown)) {}
  void Remark(const std::string& sentence) override { shown_->Remark(sentence); }
  void ShowTasks(const JobTasks& tasks) override { shown_->ShowTasks(tasks); }
  void Explain(const absl::StatusOr<Explanation>& waits) override { shown_->Explain(waits); }
  void Warn(const std::string& message) override { shown_->Warn(message); }
  void Inform(const std::string& hint) override { shown_->Inform(hint); }
  void Forward(const std::string& line) override { shown_->Forward(line); }
  void Finish(const std::string& ending) override { shown_->Finish(ending); }

 protected:
  std::unique_ptr<Progress> shown_;
};

// Replaces the deadline of the job by the deadline of this reader.
class DeadlineProgress final : public ForwardedProgress {
 public:
  DeadlineProgress(const Deadline& deadline, std::unique_ptr<Progress> shown)
      : ForwardedProgress(std::move(shown)), deadline_(deadline) {}
  bool Show(const Snapshot& snapshot) override {
    Snapshot due = snapshot;
    due.deadline = InstantOf(deadline_, snapshot.started_at.value_or(snapshot.at), LocalZone());
    due.late_probability = LateProbability(due, *due.deadline);
    return shown_->Show(due);
  }

 private:
  const Deadline deadline_;
};

class ProgressOfJobs final : public ForwardedProgress {
 public:
  explicit ProgressOfJobs(std::function<std::unique_ptr<Progress>()> make)
      : ForwardedProgress(make()), make_(std::move(make)) {}

  bool Show(const Snapshot& snapshot) override {
    if (job_id_ && job_id_ != snapshot.job_id) {
      shown_->Finish();
      shown_ = make_();
    }
    job_id_ = snapshot.job_id;
    return shown_->Show(snapshot);
  }

 private:
  const std::function<std::unique_ptr<Progress>()> make_;
  std::optional<std::string> job_id_;  // nullopt before the first snapshot
};

}  // namespace

void Progress::Warn(const std::string& message) { PrintError(message); }
void Progress::Forward(const std::string& line) { WriteLine(stderr, line); }

ProgressMode ResolveProgress(ProgressMode mode, const Environment& environment) {
  if (mode != ProgressMode::kAuto) return mode;
  return IsTerminal(stderr) && AllowsFrames(environment) ? ProgressMode::kBar
                                                         : ProgressMode::kPlain;
}

ProgressArguments WithoutDeadline(ProgressArguments arguments) {
  arguments.deadline.reset();
  return arguments;
}

std::unique_ptr<Progress> MakeProgress(const ProgressArguments& arguments, std::FILE* lines,
                                       const Environment& environment) {
  if (arguments.deadline) {
    return std::make_unique<DeadlineProgress>(
        *arguments.deadline, MakeProgress(WithoutDeadline(arguments), lines, environment));
  }
  switch (ResolveProgress(arguments.mode, environment)) {
    case ProgressMode::kBar:
      return std::make_unique<BarProgress>(arguments.compare, lines, environment);
    case ProgressMode::kJsonl:
      return std::make_unique<JsonProgress>(lines);
    case ProgressMode::kQuiet:
      return std::make_unique<QuietProgress>();
    case ProgressMode::kPlain:
    case ProgressMode::kAuto:
      break;
  }
  return std::make_unique<PlainProgress>(arguments.compare, lines, environment);
}

std::unique_ptr<Progress> MakeProgressOfJobs(const ProgressArguments& arguments, std::FILE* lines,
                                             const Environment& environment) {
  return std::make_unique<ProgressOfJobs>(
      [=] { return MakeProgress(arguments, lines, environment); });
}

std::vector<std::string> IndicatorsFor(const ProgressArguments& arguments,
                                       std::vector<std::string> asked) {
  if (!arguments.compare) return asked;
  for (std::string& other : ComparedIndicators()) {
    if (std::find(asked.begin(), asked.end(), other) == asked.end()) {
      asked.push_back(std::move(other));
    }
  }
  return asked;
}

Streams StreamsOfRun(ProgressMode mode) {
  if (mode == ProgressMode::kJsonl) return {.progress = stdout, .result = stderr};
  return {.progress = stderr, .result = stdout};
}

BackgroundProgress::BackgroundProgress(std::unique_ptr<Progress> progress)
    : progress_(std::move(progress)), thread_([this] { ShowUntilFinished(); }) {}

BackgroundProgress::~BackgroundProgress() { Finish(); }

void BackgroundProgress::Show(const Snapshot& snapshot) {
  // The job continues without a reader.
  Add({[snapshot](Progress& progress) { progress.Show(snapshot); }});
}
void BackgroundProgress::Warn(const std::string& message) {
  Add({[message](Progress& progress) { progress.Warn(message); }});
}
void BackgroundProgress::Inform(const std::string& hint) {
  Add({[hint](Progress& progress) { progress.Inform(hint); }});
}
void BackgroundProgress::Explain(const absl::StatusOr<Explanation>& waits) {
  Add({[waits](Progress& progress) { progress.Explain(waits); }});
}

void BackgroundProgress::Forward(const std::string& line) {
  {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return finished_ || queue_.size() < kQueueMax; });
  }
  Add({[line](Progress& progress) { progress.Forward(line); }, /*is_line=*/true});
}

void BackgroundProgress::Add(Item item) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (queue_.size() >= kQueueMax) {
    const auto droppable = std::ranges::find(queue_, false, &Item::is_line);
    if (droppable != queue_.end()) queue_.erase(droppable);
  }
  queue_.push_back(std::move(item));
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

void BackgroundProgress::ShowUntilFinished() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return finished_ || !queue_.empty(); });
    if (queue_.empty()) break;
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    has_room_.notify_all();
    lock.unlock();
    item.show(*progress_);
    lock.lock();
  }
  const std::string ending = ending_;
  lock.unlock();
  progress_->Finish(ending);
}

}  // namespace tidemark::cli
