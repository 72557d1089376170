#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/local_mapreduce/merge.h"
#include "examples/local_mapreduce/shuffle.h"
#include "examples/local_mapreduce/tasks.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

std::int64_t MonotonicNanos() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Where the map tasks have left a partition.
absl::StatusOr<std::vector<MapSegment>> FindPartition(const JobPlan& plan,
                                                      std::uint32_t partition) {
  std::vector<MapSegment> segments;
  for (std::uint32_t i = 0; i < plan.splits.size(); ++i) {
    absl::StatusOr<TaskResult> map = ReadResult(plan.map_result(i));
    if (!map.ok()) return map.status();
    if (partition >= map->segments.size()) {
      return absl::DataLossError(
          fmt::format("{} has no partition {}", plan.map_output(i), partition));
    }
    segments.push_back({.file = plan.map_output(i), .segment = map->segments[partition]});
  }
  return segments;
}

absl::StatusOr<TaskResult> ReduceGroups(MergedRecords& records, Job& job, Output& output,
                                        ReduceTaskAgent& watcher) {
  TaskResult result;
  result.reduce_began_nanos = MonotonicNanos();
  KeyGroups groups(records, &watcher);
  while (groups.NextGroup()) {
    absl::Status reduced = job.Reduce(groups.key(), groups, output);
    if (!reduced.ok()) return reduced;
    if (!output.ok()) break;  // Close() says why
    output.ReportEmitted();
  }
  result.reduce_ended_nanos = MonotonicNanos();
  if (!records.status().ok()) return records.status();
  if (absl::Status closed = output.Close(); !closed.ok()) return closed;
  result.groups = groups.groups();
  result.output = output.totals();
  return result;
}

}  // namespace

absl::StatusOr<TaskResult> RunReduceTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                         Agent& agent) {
  const std::unique_ptr<ReduceTaskAgent> watcher =
      agent.StartReduceTask({.index = attempt.index, .attempt = attempt.attempt});
  const std::string directory = plan.attempt_directory(attempt);
  const absl::StatusOr<std::vector<MapSegment>> segments = FindPartition(plan, attempt.index);
  if (!segments.ok()) return segments.status();
  absl::StatusOr<ShuffledPartition> shuffled =
      ShuffledPartition::Fetch(*segments, PathOf(directory, "shuffled"), *watcher);
  if (!shuffled.ok()) return shuffled.status();
  watcher->Shuffled();

  absl::StatusOr<std::unique_ptr<OutputSink>> sink =
      OpenSink(plan.output, PathOf(directory, kOutputName));
  if (!sink.ok()) return sink.status();
  Output output(*std::move(sink), [&](std::uint64_t bytes) { watcher->BytesEmitted(bytes); });
  MergedRecords records(shuffled->Readers());
  absl::StatusOr<TaskResult> result = ReduceGroups(records, job, output, *watcher);
  watcher->Finish();
  return result;
}

}  // namespace tidemark::examples
