#include "proto/wire/plan_codec.h"

#include <fmt/format.h>

#include "proto/wire/fields.h"
#include "tidemark/v1/plan.pb.h"

namespace tidemark {

template <class Io, wire::ConstOrNot<TaskData> V>
void Fields(Io& io, V& task) {
  io("load", task.load);
  io("input_bytes", task.input_bytes);
  io("shuffle_read_bytes", task.shuffle_read_bytes);
  io("shuffle_write_bytes", task.shuffle_write_bytes);
  io("output_bytes", task.output_bytes);
  io.Amount("core_bytes_per_second", task.core_bytes_per_second);
}

template <class Io, wire::ConstOrNot<PlannedStage> V>
void Fields(Io& io, V& stage) {
  io("name", stage.name);
  io("after", stage.after);
  io("task_count", stage.task_count);
  io("lag", stage.lag);
  io("task_times", stage.task_times);
  io("first_task_times", stage.first_task_times);
  io("fresh_task_times", stage.fresh_task_times);
  io("last_task_times", stage.last_task_times);
  io("task", stage.task);
  io("slots_per_task", stage.slots_per_task);
  io("memory_bytes_per_task", stage.memory_bytes_per_task);
  io("owner", stage.owner);
  io("queue", stage.queue);
  io("slot_share", stage.slot_share);
}

template <class Io, wire::ConstOrNot<PlannedJob> V>
void Fields(Io& io, V& job) {
  io("name", job.name);
  io("job_id", job.job_id);
  io("history_name", job.history_name);
  io("after", job.after);
  io("queue", job.queue);
  io("map_task_count", job.map_task_count);
  io("reduce_task_count", job.reduce_task_count);
  io("input_bytes", job.input_bytes);
  io("profile", job.profile);
  io("stages", job.stages);
  io("profiled_slots", job.profiled_slots);
}

template <class Io, wire::ConstOrNot<Queue> V>
void Fields(Io& io, V& queue) {
  io("name", queue.name);
  io.Amount("share", queue.share);
}

template <class Io, wire::ConstOrNot<Cluster> V>
void Fields(Io& io, V& cluster) {
  io("slots", cluster.slots);
  io("nodes", cluster.nodes);
  io("policy", cluster.policy);
  io("queues", cluster.queues);
  io("node", cluster.node);
  io("memory_bytes", cluster.memory_bytes);
}

template <class Io, wire::ConstOrNot<Plan> V>
void Fields(Io& io, V& plan) {
  io("id", plan.id);
  io("name", plan.name);
  io("jobs", plan.jobs);
  io("cluster", plan.cluster);
  io("retry_within", plan.retry_within);
  io("deadline_at", plan.deadline);
  io("open", plan.is_open);
}

namespace wire {

// These functions are in this namespace so that argument-dependent lookup finds them.
template <class Io, ConstOrNot<JobProfile> V>
void Fields(Io& io, V& profile) {
  io.NonZero("slots", profile.slots);
  io("map_task_count", profile.map_tasks);
  io("reduce_task_count", profile.reduce_tasks);
  io.NonZero("split_bytes", profile.split_bytes);
  io.NonZero("map_selectivity", profile.map_selectivity);
  io.NonZero("reduce_selectivity", profile.reduce_selectivity);
  io("map_task_time", profile.map_task_time);
  io("reduce_task_time", profile.reduce_task_time);
  io.Amount("map_task_variation", profile.map_task_variation);
  io.Amount("reduce_task_variation", profile.reduce_task_variation);
  io("map_cpu_time", profile.map_cpu_time);
  io("reduce_cpu_time", profile.reduce_cpu_time);
  io("map_start_cpu_time", profile.map_start_cpu_time);
  io("reduce_start_cpu_time", profile.reduce_start_cpu_time);
  io("slot_idle_time", profile.slot_idle_time);
  io("reduce_sort_time", profile.reduce_sort_time);
  io.NonZero("second_sort_fraction", profile.second_sort_fraction);
}

template <class Io, ConstOrNot<ResourceProfile> V>
void Fields(Io& io, V& node) {
  io.Amount("disk_read_bytes_per_second", node.disk_read);
  io.Amount("disk_write_bytes_per_second", node.disk_write);
  io.Amount("file_system_read_bytes_per_second", node.dfs_read);
  io.Amount("file_system_write_bytes_per_second", node.dfs_write);
  io.Amount("network_bytes_per_second", node.network);
  io.Amount("cores", node.cores);
}

void EncodePlan(const Plan& plan, v1::Plan& message) { Encode(plan, message); }

absl::StatusOr<Plan> ParsePartOfPlan(const v1::Plan& untrusted) {
  absl::StatusOr<Plan> plan = Parse<Plan>(untrusted, /*is_strict=*/true);
  if (!plan.ok()) return plan;
  if (plan->cluster.policy == SchedulingPolicy::kUnknown) {
    plan->cluster.policy = SchedulingPolicy::kFifo;
  }
  for (int i = 0; i < untrusted.jobs_size(); ++i) {
    for (int j = 0; j < untrusted.jobs(i).stages_size(); ++j) {
      if (untrusted.jobs(i).stages(j).has_task_count()) continue;
      return FieldError(fmt::format("jobs[{}].stages[{}].task_count", i, j), "is missing");
    }
  }
  return plan;
}

absl::StatusOr<Plan> ParsePlan(const v1::Plan& untrusted) {
  absl::StatusOr<Plan> plan = ParsePartOfPlan(untrusted);
  if (!plan.ok()) return plan;
  if (absl::Status checked = CheckPlan(*plan); !checked.ok()) return checked;
  return plan;
}

}  // namespace wire
}  // namespace tidemark
