#include <cstdint>
#include <memory>
#include <utility>

#include "examples/local_mapreduce/lines.h"
#include "examples/local_mapreduce/map_output.h"
#include "examples/local_mapreduce/tasks.h"

namespace tidemark::examples {
namespace {

// How much input passes between two words to the agent.
constexpr std::uint64_t kReportBytes = std::uint64_t{64} << 10;

absl::Status MapLines(const JobPlan& plan, const Split& split, Job& job, MapOutput& output,
                      MapTaskAgent& watcher) {
  const InputFile& input = plan.inputs[split.input];
  absl::StatusOr<Lines> lines = Lines::Open(input.path, split.begin, split.end);
  if (!lines.ok()) return lines.status();
  std::uint64_t reported = split.begin;
  std::uint64_t new_lines = 0;
  while (lines->Next()) {
    const LineOrigin origin = {.input = split.input, .offset = lines->offset()};
    absl::Status mapped = job.Map(lines->line(), origin, output);
    if (!mapped.ok()) return AtLine(input, origin.offset, mapped);
    if (!output.status().ok()) return output.status();
    ++new_lines;
    if (const std::uint64_t read = lines->next_offset() - reported; read >= kReportBytes) {
      watcher.InputRead(read, std::exchange(new_lines, 0));
      reported += read;
    }
  }
  watcher.InputRead(split.end - reported, new_lines);
  if (!lines->status().ok()) return lines->status();
  return job.EndMap(output);
}

}  // namespace

absl::StatusOr<TaskResult> RunMapTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                      Agent& agent) {
  const std::unique_ptr<MapTaskAgent> watcher =
      agent.StartMapTask({.index = attempt.index, .attempt = attempt.attempt});
  const std::string directory = plan.attempt_directory(attempt);
  MapOutput output(job, plan.reduce_task_count, directory);
  absl::Status mapped = MapLines(plan, plan.splits[attempt.index], job, output, *watcher);
  if (!mapped.ok()) return mapped;

  TaskResult result;
  absl::StatusOr<std::vector<Segment>> segments = output.Finish(
      PathOf(directory, kOutputName), [&](std::uint32_t partition, std::string_view key,
                                          std::uint64_t size_bytes, std::uint64_t values) {
        watcher->AddGroup(partition, key, size_bytes, values);
        ++result.groups;
      });
  if (!segments.ok()) return segments.status();
  watcher->Finish();
  result.segments = *std::move(segments);
  return result;
}

}  // namespace tidemark::examples
