#include "cli/workflow/workflow_progress.h"

#include <optional>
#include <utility>

#include "cli/console/terminal.h"
#include "cli/console/workflow_frame.h"
#include "cli/message_json.h"
#include "cli/progress.h"
#include "proto/wire/workflow_codec.h"
#include "tidemark/v1/workflow.pb.h"

namespace tidemark::cli {
namespace {

void WriteSummary(const WorkflowSnapshot& snapshot, std::FILE* lines,
                  const Environment& environment) {
  for (const std::string& line :
       console::RenderWorkflowSummary(snapshot, TextOptionsFor(lines, environment))) {
    WriteLine(lines, line);
  }
}

class Bars final : public WorkflowProgress {
 public:
  Bars(std::FILE* lines, Environment environment)
      : environment_(std::move(environment)),
        options_{.color = AllowsColor(environment_), .unicode = HasUtf8(environment_)},
        lines_(lines),
        terminal_(fileno(stderr)) {}

  bool Show(const WorkflowSnapshot& snapshot) override {
    newest_ = snapshot;
    console::FrameOptions options = options_;
    // A full line would leave the cursor on its last column, where terminals disagree.
    options.width = terminal_.size().columns - 1;
    terminal_.Draw(console::RenderWorkflow(snapshot, options));
    return true;
  }
  void Say(const std::string& message) override { terminal_.Print({"tidemark: " + message}); }
  void Finish() override {
    if (!newest_) return;
    terminal_.Keep();
    WriteSummary(*newest_, lines_, environment_);
  }

 private:
  const Environment environment_;
  const console::FrameOptions options_;
  std::FILE* const lines_;
  console::Terminal terminal_;
  std::optional<WorkflowSnapshot> newest_;
};

class Lines final : public WorkflowProgress {
 public:
  Lines(std::FILE* lines, Environment environment)
      : environment_(std::move(environment)),
        lines_(lines),
        plain_(TextOptionsFor(lines, environment_)) {}

  bool Show(const WorkflowSnapshot& snapshot) override {
    newest_ = snapshot;
    const std::optional<std::string> line = plain_.Next(snapshot);
    return !line || WriteLine(lines_, *line);
  }
  void Say(const std::string& message) override { Complain(message); }
  void Finish() override {
    if (newest_) WriteSummary(*newest_, lines_, environment_);
  }

 private:
  const Environment environment_;
  std::FILE* const lines_;
  console::WorkflowPlainLines plain_;
  std::optional<WorkflowSnapshot> newest_;
};

class Json final : public WorkflowProgress {
 public:
  explicit Json(std::FILE* lines) : lines_(lines) {}
  bool Show(const WorkflowSnapshot& snapshot) override {
    return WriteLine(lines_, WorkflowSnapshotJson(snapshot));
  }
  void Say(const std::string& message) override { Complain(message); }
  void Finish() override {}

 private:
  std::FILE* const lines_;
};

// What goes wrong is said all the same.
class Quiet final : public WorkflowProgress {
 public:
  bool Show(const WorkflowSnapshot&) override { return true; }
  void Say(const std::string& message) override { Complain(message); }
  void Finish() override {}
};

}  // namespace

std::unique_ptr<WorkflowProgress> MakeWorkflowProgress(const ProgressArguments& arguments,
                                                       std::FILE* lines,
                                                       const Environment& environment) {
  switch (ResolveProgress(arguments.mode, environment)) {
    case ProgressMode::kTty:
      return std::make_unique<Bars>(lines, environment);
    case ProgressMode::kJson:
      return std::make_unique<Json>(lines);
    case ProgressMode::kQuiet:
      return std::make_unique<Quiet>();
    case ProgressMode::kPlain:
    case ProgressMode::kAuto:
      break;
  }
  return std::make_unique<Lines>(lines, environment);
}

std::string WorkflowSnapshotJson(const WorkflowSnapshot& snapshot) {
  v1::WorkflowSnapshot message;
  wire::EncodeWorkflowSnapshot(snapshot, message);
  return MessageJson(message);
}

}  // namespace tidemark::cli
