#include "cli/progress.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "console/job_frame.h"
#include "console/job_lines.h"
#include "console/job_summary.h"
#include "console/terminal.h"
#include "console/text.h"
#include "proto/wire/job_codec.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {
namespace {

// A replay makes thousands of snapshots per second; a reader can follow about twenty.
constexpr absl::Duration kBetweenFrames = absl::Milliseconds(50);

// About half an hour of a job's snapshots; about 20 MB.
constexpr std::size_t kQueueMax = 10'000;

// Collects the facts for the summary of an ended job, and writes it.
class EndSummary {
 public:
  void Add(const Snapshot& snapshot) { lone_task_.Add(snapshot); }
  void Add(const absl::StatusOr<Explanation>& waits) { waits_ = waits; }
  void Write(const Snapshot& last, const std::string& ending, bool compare, std::FILE* lines,
             const Environment& environment) const {
    const int width = WidthOf(lines);
    const console::TextOptions options = TextOptionsFor(lines, environment);
    std::vector<std::string> text = console::RenderSummary(last, width, options, ending, compare);
    const std::string spent = console::TimeSpentText(last, lone_task_.task(), waits_, options);
    for (std::string& line : console::WrapWords(spent, width, kLinesMax, options.unicode)) {
      text.push_back(std::move(line));
    }
    for (const std::string& line : text) WriteLine(lines, line);
  }

 private:
  static constexpr int kLinesMax = 20;
  console::LoneTaskWatch lone_task_;
  absl::StatusOr<Explanation> waits_ = absl::UnknownError("no master reported them");
};

class BarProgress final : public Progress {
 public:
  BarProgress(bool compare, std::FILE* lines, Environment environment)
      : environment_(std::move(environment)),
        options_{.color = AllowsColor(environment_),
                 .unicode = HasUtf8(environment_),
                 .compare = compare,
                 .zone = &LocalZone()},
        lines_(lines),
        terminal_(fileno(stderr)) {}

  bool Show(const Snapshot& snapshot) override {
    summary_.Add(snapshot);
    newest_ = snapshot;
    is_drawn_ = false;
    if (snapshot.is_final || absl::Now() - drawn_at_ >= kBetweenFrames) Draw();
    return true;
  }

  void Remark(const std::string& sentence) override { remark_ = sentence; }
  void ShowTasks(const JobTasks& tasks) override { tasks_ = tasks; }
  void Explain(const absl::StatusOr<Explanation>& waits) override { summary_.Add(waits); }
  void Warn(const std::string& message) override { terminal_.Print({ErrorLine(message)}); }
  void Forward(const std::string& line) override { terminal_.Print({line}); }

  void Finish(const std::string& ending) override {
    if (!newest_) return;
    if (!is_drawn_) Draw();
    terminal_.Keep();
    summary_.Write(*newest_, ending, options_.compare, lines_, environment_);
  }

 private:
  void Draw() {
    console::FrameOptions options = options_;
    // Terminals disagree on the position of the cursor after a full line.
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

  // Adds the running tasks that fit; one row stays free for the cursor.
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

  const Environment environment_;
  const console::FrameOptions options_;
  std::FILE* const lines_;
  console::Terminal terminal_;
  std::optional<Snapshot> newest_;
  std::string remark_;
  JobTasks tasks_;
  EndSummary summary_;
  absl::Time drawn_at_ = absl::InfinitePast();
  bool is_drawn_ = false;  // whether the newest snapshot is on the screen
};

class PlainProgress final : public Progress {
 public:
  PlainProgress(bool compare, std::FILE* lines, Environment environment)
      : environment_(std::move(environment)),
        compare_(compare),
        lines_(lines),
        plain_(TextOptionsFor(lines, environment_), compare) {}

  bool Show(const Snapshot& snapshot) override {
    summary_.Add(snapshot);
    newest_ = snapshot;
    const std::optional<std::string> line = plain_.Next(*newest_);
    return !line || WriteLine(lines_, *line);
  }

  void Explain(const absl::StatusOr<Explanation>& waits) override { summary_.Add(waits); }

  void Finish(const std::string& ending) override {
    if (newest_) summary_.Write(*newest_, ending, compare_, lines_, environment_);
  }

 private:
  const Environment environment_;
  const bool compare_;
  std::FILE* const lines_;
  console::PlainLines plain_;
  std::optional<Snapshot> newest_;
  EndSummary summary_;
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

// Shows nothing but warnings.
class QuietProgress final : public Progress {
 public:
  bool Show(const Snapshot&) override { return true; }
  void Inform(const std::string&) override {}
};

// Replaces the deadline of the job by that of this reader.
class DeadlineProgress final : public Progress {
 public:
  DeadlineProgress(const Deadline& deadline, std::unique_ptr<Progress> shown)
      : deadline_(deadline), shown_(std::move(shown)) {}
  bool Show(const Snapshot& snapshot) override {
    Snapshot due = snapshot;
    due.deadline = InstantOf(deadline_, snapshot.started_at.value_or(snapshot.at), LocalZone());
    due.late_probability = LateProbability(due, *due.deadline);
    return shown_->Show(due);
  }
  void Remark(const std::string& sentence) override { shown_->Remark(sentence); }
  void ShowTasks(const JobTasks& tasks) override { shown_->ShowTasks(tasks); }
  void Explain(const absl::StatusOr<Explanation>& waits) override { shown_->Explain(waits); }
  void Warn(const std::string& message) override { shown_->Warn(message); }
  void Inform(const std::string& hint) override { shown_->Inform(hint); }
  void Forward(const std::string& line) override { shown_->Forward(line); }
  void Finish(const std::string& ending) override { shown_->Finish(ending); }

 private:
  const Deadline deadline_;
  const std::unique_ptr<Progress> shown_;
};

class ProgressOfJobs final : public Progress {
 public:
  explicit ProgressOfJobs(std::function<std::unique_ptr<Progress>()> make)
      : make_(std::move(make)), current_(make_()) {}

  bool Show(const Snapshot& snapshot) override {
    if (job_id_ && job_id_ != snapshot.job_id) {
      current_->Finish();
      current_ = make_();
    }
    job_id_ = snapshot.job_id;
    return current_->Show(snapshot);
  }
  void Remark(const std::string& sentence) override { current_->Remark(sentence); }
  void ShowTasks(const JobTasks& tasks) override { current_->ShowTasks(tasks); }
  void Explain(const absl::StatusOr<Explanation>& waits) override { current_->Explain(waits); }
  void Warn(const std::string& message) override { current_->Warn(message); }
  void Inform(const std::string& hint) override { current_->Inform(hint); }
  void Forward(const std::string& line) override { current_->Forward(line); }
  void Finish(const std::string& ending) override { current_->Finish(ending); }

 private:
  const std::function<std::unique_ptr<Progress>()> make_;
  std::unique_ptr<Progress> current_;
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

void BackgroundProgress::Show(const Snapshot& snapshot) { Add(snapshot); }
void BackgroundProgress::Warn(const std::string& message) { Add(message); }
void BackgroundProgress::Inform(const std::string& hint) { Add(Hint{hint}); }
void BackgroundProgress::Explain(const absl::StatusOr<Explanation>& waits) { Add(waits); }

void BackgroundProgress::Forward(const std::string& line) {
  {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return finished_ || queue_.size() < kQueueMax; });
  }
  Add(Line{line});
}

void BackgroundProgress::Add(Item item) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (queue_.size() >= kQueueMax) {
    const auto droppable = std::find_if(queue_.begin(), queue_.end(), [](const Item& other) {
      return !std::holds_alternative<Line>(other);
    });
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

void BackgroundProgress::ShowItem(const Item& item) {
  if (const Snapshot* snapshot = std::get_if<Snapshot>(&item)) {
    progress_->Show(*snapshot);  // the job continues without a reader
  } else if (const Line* line = std::get_if<Line>(&item)) {
    progress_->Forward(line->text);
  } else if (const Hint* hint = std::get_if<Hint>(&item)) {
    progress_->Inform(hint->text);
  } else if (const absl::StatusOr<Explanation>* waits =
                 std::get_if<absl::StatusOr<Explanation>>(&item)) {
    progress_->Explain(*waits);
  } else {
    progress_->Warn(std::get<std::string>(item));
  }
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
    ShowItem(item);
    lock.lock();
  }
  const std::string ending = ending_;
  lock.unlock();
  progress_->Finish(ending);
}

}  // namespace tidemark::cli
