#include "console/task_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/duration_text.h"
#include "console/job_wording.h"
#include "console/text.h"

namespace tidemark::console {
namespace {

constexpr int kNameMax = 40;
constexpr int kHostMax = 24;

struct Cells {
  std::string name;
  std::string host;
  std::string runs;
  std::string left;
};

bool Runs(const TaskProgress& task) {
  return task.state == AttemptState::kStarted || task.state == AttemptState::kShuffled;
}

bool HasStage(const Snapshot& snapshot, std::uint32_t stage) {
  return snapshot.stages.empty() ||
         std::ranges::any_of(snapshot.stages, [&](const StageProgress& known) {
           return known.id == StageId{.stage = stage};
         });
}

Cells CellsOf(const Snapshot& snapshot, const TaskProgress& task, absl::Time at,
              const TextOptions& options) {
  Cells cells = {.name = TaskText(snapshot, {.attempt = task.attempt}, options),
                 .host = Printable(task.host, options.unicode)};
  if (task.is_speculative) cells.name += ", a second time";
  if (task.started_at) cells.runs = DurationText(at - *task.started_at);
  if (task.remaining) cells.left = DescribeLeft(*task.remaining, options).about;
  return cells;
}

int Widest(const std::vector<Cells>& rows, std::string Cells::*cell, int most) {
  int columns = 0;
  for (const Cells& row : rows) columns = std::max(columns, Columns(row.*cell));
  return std::min(columns, most);
}

}  // namespace

std::vector<std::string> RenderTaskLines(const Snapshot& snapshot, const JobTasks& tasks,
                                         std::size_t lines_max, int width,
                                         const TextOptions& options) {
  std::vector<const TaskProgress*> running;
  for (const TaskProgress& task : tasks.tasks) {
    if (Runs(task) && HasStage(snapshot, task.attempt.stage)) running.push_back(&task);
  }
  const std::size_t all = running.size() + tasks.tasks_left_out;
  if (lines_max == 0 || width <= 0 || running.empty()) return {};
  const std::size_t shown =
      all <= lines_max ? running.size() : std::min(running.size(), lines_max - 1);
  std::vector<Cells> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(CellsOf(snapshot, *running[i], tasks.at, options));
  }
  const int names = Widest(rows, &Cells::name, kNameMax);
  const int hosts = Widest(rows, &Cells::host, kHostMax);
  const int spans = Widest(rows, &Cells::runs, width);
  std::vector<std::string> lines;
  for (const Cells& row : rows) {
    StyledLine line;
    line.Add(Style::kPlain, "  " + PadRight(Clip(row.name, names, options.unicode), names));
    if (hosts > 0) {
      line.Add(Style::kDim, "  " + PadRight(Clip(row.host, hosts, options.unicode), hosts));
    }
    line.Add(Style::kDim, "  " + PadLeft(row.runs, spans));
    if (!row.left.empty()) line.Add(Style::kPlain, "  " + row.left);
    lines.push_back(line.Render(width, options));
  }
  if (shown < all) {
    lines.push_back(StyledLine()
                        .Add(Style::kDim, fmt::format("  and {} more running tasks", all - shown))
                        .Render(width, options));
  }
  return lines;
}

}  // namespace tidemark::console
