#include "cli/progress.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "console/job_frame.h"
#include "console/job_lines.h"
#include "console/job_summary.h"
#include "console/styled_line.h"
#include "console/task_lines.h"
#include "console/terminal.h"
#include "console/text.h"
#include "console/time_spent.h"
#include "proto/wire/job_codec.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {
namespace {

// A replay makes thousands of snapshots in a second; an eye sees twenty.
constexpr absl::Duration kBetweenFrames = absl::Milliseconds(50);

std::atomic<int> output_error = 0;

// Keeps the first: stdio remembers that a write has failed, not why.
void NoteOutputError(int error) {
  int none = 0;
  output_error.compare_exchange_strong(none, error);
}

// What is left to say when a job has ended.
class Ending {
 public:
  void See(const Snapshot& snapshot) { lone_task_.See(snapshot); }
  void See(const absl::StatusOr<Explanation>& waits) { waits_ = waits; }
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
  absl::StatusOr<Explanation> waits_ = absl::UnknownError("no master told it");
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
    ending_.See(snapshot);
    newest_ = snapshot;
    is_drawn_ = false;
    if (snapshot.is_final || absl::Now() - drawn_at_ >= kBetweenFrames) Draw();
    return true;
  }

  void Remark(const std::string& sentence) override { remark_ = sentence; }
  void ShowTasks(const JobTasks& tasks) override { tasks_ = tasks; }
  void Explain(const absl::StatusOr<Explanation>& waits) override { ending_.See(waits); }
  void Say(const std::string& message) override { terminal_.Print({ComplaintLine(message)}); }
  void PassOn(const std::string& line) override { terminal_.Print({line}); }

  void Finish(const std::string& ending) override {
    if (!newest_) return;
    if (!is_drawn_) Draw();
    terminal_.Keep();
    ending_.Write(*newest_, ending, options_.compare, lines_, environment_);
  }

 private:
  void Draw() {
    console::FrameOptions options = options_;
    // A full line would leave the cursor on its last column, where terminals disagree.
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

  // As many as there is room for; a row stays free for the cursor.
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
  Ending ending_;
  absl::Time drawn_at_ = absl::InfinitePast();
  bool is_drawn_ = false;  // the newest snapshot
};

class PlainProgress final : public Progress {
 public:
  PlainProgress(bool compare, std::FILE* lines, Environment environment)
      : environment_(std::move(environment)),
        compare_(compare),
        lines_(lines),
        plain_(TextOptionsFor(lines, environment_), compare) {}

  bool Show(const Snapshot& snapshot) override {
    ending_.See(snapshot);
    newest_ = snapshot;
    const std::optional<std::string> line = plain_.Next(*newest_);
    return !line || WriteLine(lines_, *line);
  }

  void Explain(const absl::StatusOr<Explanation>& waits) override { ending_.See(waits); }

  void Finish(const std::string& ending) override {
    if (newest_) ending_.Write(*newest_, ending, compare_, lines_, environment_);
  }

 private:
  const Environment environment_;
  const bool compare_;
  std::FILE* const lines_;
  console::PlainLines plain_;
  std::optional<Snapshot> newest_;
  Ending ending_;
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

// What goes wrong is said all the same.
class NoProgress final : public Progress {
 public:
  bool Show(const Snapshot&) override { return true; }
  void Mention(const std::string&) override {}
};

// Shows how likely the deadline that the reader cares about is missed, whatever the job's own.
class DueProgress final : public Progress {
 public:
  DueProgress(const Deadline& deadline, std::unique_ptr<Progress> shown)
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
  void Say(const std::string& message) override { shown_->Say(message); }
  void Mention(const std::string& fact) override { shown_->Mention(fact); }
  void PassOn(const std::string& line) override { shown_->PassOn(line); }
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
  void Say(const std::string& message) override { current_->Say(message); }
  void Mention(const std::string& fact) override { current_->Mention(fact); }
  void PassOn(const std::string& line) override { current_->PassOn(line); }
  void Finish(const std::string& ending) override { current_->Finish(ending); }

 private:
  const std::function<std::unique_ptr<Progress>()> make_;
  std::unique_ptr<Progress> current_;
  std::optional<std::string> job_id_;  // empty: none yet
};

}  // namespace

void Progress::Say(const std::string& message) { Complain(message); }
void Progress::PassOn(const std::string& line) { WriteLine(stderr, line); }

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
    return std::make_unique<DueProgress>(
        *arguments.deadline, MakeProgress(WithoutDeadline(arguments), lines, environment));
  }
  switch (ResolveProgress(arguments.mode, environment)) {
    case ProgressMode::kBar:
      return std::make_unique<BarProgress>(arguments.compare, lines, environment);
    case ProgressMode::kJsonl:
      return std::make_unique<JsonProgress>(lines);
    case ProgressMode::kQuiet:
      return std::make_unique<NoProgress>();
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

bool WriteLine(std::FILE* stream, const std::string& line) {
  const bool is_written =
      std::fputs((line + "\n").c_str(), stream) >= 0 && std::fflush(stream) == 0;
  if (!is_written && stream == stdout) NoteOutputError(errno);
  return is_written;
}

int FlushOutput() {
  if (std::fflush(stdout) != 0) NoteOutputError(errno);
  return output_error;
}

std::string ComplaintLine(const std::string& message) {
  return "tidemark: " + console::Printable(message, /*unicode=*/true);
}

void Complain(const std::string& message) { WriteLine(stderr, ComplaintLine(message)); }

}  // namespace tidemark::cli
