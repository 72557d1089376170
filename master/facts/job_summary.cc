#include "master/facts/job_summary.h"

#include "master/facts/job_profile.h"
#include "master/facts/saturating.h"

namespace tidemark {
namespace {

std::optional<double> Ratio(std::uint64_t out, std::uint64_t in) {
  if (out == 0 || in == 0) return std::nullopt;
  return static_cast<double>(out) / static_cast<double>(in);
}

}  // namespace

std::optional<double> JobSummary::map_selectivity() const {
  return Ratio(map_output_bytes, map_input_bytes);
}

std::optional<double> JobSummary::reduce_selectivity() const {
  return Ratio(reduce_output_bytes, reduce_input_bytes);
}

namespace model {

JobSummary Summarize(const JobRecord& state) {
  JobSummary summary;
  if (state.opened) {
    summary.name = state.opened->name;
    summary.engine = state.opened->engine;
  }
  summary.map_tasks = static_cast<std::uint32_t>(state.map_tasks().size());
  summary.reduce_tasks = static_cast<std::uint32_t>(state.reduce_tasks().size());
  for (const Task& task : state.map_tasks()) {
    summary.map_input_bytes = SaturatingAdd(summary.map_input_bytes, task.input_bytes.value_or(0));
  }
  summary.map_output_bytes = state.keys.total_bytes();
  streaming::SizeHistogram bins;
  for (const Task& task : state.reduce_tasks()) {
    bins.Merge(task.finished_groups().bins);
    bins.Merge(task.finished_groups().cold_bins);
    // The work of the attempt that counts; others did it twice.
    const TaskAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr) continue;
    summary.reduce_groups = SaturatingAdd(summary.reduce_groups, attempt->reduce->groups_done);
    summary.reduce_input_bytes = SaturatingAdd(summary.reduce_input_bytes, attempt->bytes_done);
    summary.reduce_time += attempt->reduce->reduce_time;
  }
  summary.bins = bins.bins();
  for (const GroupBin& bin : summary.bins) {
    summary.reduce_output_bytes = SaturatingAdd(summary.reduce_output_bytes, bin.emitted_bytes);
  }
  summary.profile = LearnProfile(state, summary);
  return summary;
}

}  // namespace model
}  // namespace tidemark
