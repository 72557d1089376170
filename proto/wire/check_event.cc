#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "proto/wire/checks.h"
#include "proto/wire/parse_event.h"
#include "proto/wire/valid_text.h"
#include "text/utf8.h"
#include "tidemark/field_error.h"
#include "tidemark/plan.h"

namespace tidemark::wire {
namespace {

std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

void CheckSizes(const StageOpened& stage, const char* field,
                const std::vector<std::uint64_t>& sizes, Checks& check) {
  if (sizes.empty()) return;
  constexpr const char* kInstead = "send task_count, and one size for each task";
  const std::uint32_t indexes = stage.index_count.value_or(stage.task_count.value_or(0));
  if (!stage.task_count) {
    check.Refuse("stage {} has {} {} but no task_count; {}", stage.stage, sizes.size(), field,
                 kInstead);
  } else if (sizes.size() != indexes) {
    check.Refuse("stage {} has {} {} but {} {}; {}", stage.stage, sizes.size(), field, indexes,
                 stage.index_count ? "indexes" : "tasks", kInstead);
  }
}

void CheckPartition(const PartitionProfile& partition, const EventLimits& limits, Checks& check) {
  if (partition.partition >= limits.partitions_max) {
    check.Refuse("partition {}; send a number below {}", partition.partition,
                 limits.partitions_max);
  }
  std::uint64_t explicit_bytes = 0;
  for (const ExplicitKey& key : partition.explicit_keys) {
    explicit_bytes = SaturatingAdd(explicit_bytes, key.size_bytes);
  }
  if (SaturatingAdd(explicit_bytes, partition.implicit_bytes) > partition.total_bytes) {
    check.Refuse(
        "partition {}: {} bytes of explicit_key_bytes and {} implicit_bytes but {} total_bytes; "
        "the total must include both",
        partition.partition, explicit_bytes, partition.implicit_bytes, partition.total_bytes);
  }
  if (partition.scanned_bytes.value_or(0) > partition.total_bytes) {
    check.Refuse(
        "partition {}: {} scanned_bytes but {} total_bytes; scanned_bytes cannot exceed "
        "total_bytes",
        partition.partition, *partition.scanned_bytes, partition.total_bytes);
  }
}

void CheckNoPartitionTwice(const MapProfile& profile, Checks& check) {
  std::vector<std::uint32_t> indexes;
  indexes.reserve(profile.partitions.size());
  for (const auto& partition : profile.partitions) indexes.push_back(partition.partition);
  std::sort(indexes.begin(), indexes.end());
  const auto twice = std::adjacent_find(indexes.begin(), indexes.end());
  if (twice == indexes.end()) return;
  check.Refuse("partition {} appears twice; send one entry for each", *twice);
}

// Checks bins or points. Each must contain key groups, and together they must not contain more than
// the finished key groups.
template <typename Item>
void CheckCounts(const char* field, const char* item, const std::vector<Item>& items,
                 std::uint64_t groups_done, Checks& check) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].count == 0) {
      check.Refuse("{}[{}] is 0; omit a {} without key groups", field, i, item);
    }
    sum = SaturatingAdd(sum, items[i].count);
  }
  if (sum > groups_done) {
    check.Refuse("{} add up to {} but groups_done is {}; send each {} once", field, sum,
                 groups_done, item);
  }
}

void CheckSum(const char* field, double sum, Checks& check) {
  if (std::isfinite(sum) && sum >= 0) return;
  check.Refuse("{} is {}; send a finite sum of zero or more", field, sum);
}

void CheckBins(const std::vector<GroupBin>& bins, Checks& check) {
  std::bitset<kSizeBins> seen;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].bin >= kSizeBins) {
      check.Refuse("bin_indexes[{}] is {}; send a number below {}", i, bins[i].bin, kSizeBins);
    } else if (seen.test(bins[i].bin)) {
      check.Refuse("bin {} appears twice; send one entry for each", bins[i].bin);
    } else {
      seen.set(bins[i].bin);
    }
    CheckSum("bin_seconds", bins[i].seconds, check);
    CheckSum("bin_seconds_squared", bins[i].seconds_squared, check);
  }
}

// Limits a time to the range that messages can represent.
void Limit(std::optional<absl::Time>& at) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (at) at = std::clamp(*at, absl::FromUnixNanos(kMin), absl::FromUnixNanos(kMax));
}

// Limits a duration to the range that messages can represent.
void Limit(absl::Duration& span) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  span = std::clamp(span, absl::ZeroDuration(), absl::Nanoseconds(kMax));
}

// Rounds to whole microseconds, like messages, so that a restored job has the same times.
void Limit(TimeUse& time) {
  const auto cut = [](std::optional<absl::Duration>& span) {
    if (!span) return;
    Limit(*span);
    span = absl::Trunc(*span, absl::Microseconds(1));
  };
  cut(time.cpu);
  for (const WaitReason reason : kWaitReasons) cut(time.waits[reason]);
}

// Has one overload for each event.
struct BodyChecker {
  const EventLimits& limits;

  absl::Status operator()(JobOpened& job) const {
    if (absl::Status few = CheckStageCount(job.stages.size(), limits); !few.ok()) return few;
    Checks check("job opened");
    Texts({&job.name, &job.engine, &job.application_id, &job.user, &job.queue});
    Limit(job.submitted_at);
    Limit(job.deadline);
    std::map<std::string, std::string> parameters;
    for (const auto& [name, value] : job.parameters) {
      if (parameters.size() == limits.parameters_max) break;
      if (name.empty()) continue;
      parameters.try_emplace(text::Cut(ValidText(name), limits.parameter_bytes_max),
                             text::Cut(ValidText(value), limits.parameter_bytes_max));
    }
    job.parameters = std::move(parameters);
    if (job.workflow) LimitWorkflow(job.name, *job.workflow);
    for (StageOpened& stage : job.stages) CheckStage(stage, check);
    return check.status();
  }
  absl::Status operator()(StageOpened& stage) const {
    Checks check("stage opened");
    CheckStage(stage, check);
    return check.status();
  }
  absl::Status operator()(ExecutorOpened& executor) const {
    Texts({&executor.host, &executor.rack, &executor.container});
    return absl::OkStatus();
  }
  absl::Status operator()(AttemptChanged& changed) const {
    Checks check("attempt changed", &changed.attempt);
    CheckAttempt(changed.attempt, check);
    Limit(changed.at);
    Texts({&changed.input_name, &changed.failure});
    return check.status();
  }
  absl::Status operator()(TaskHeartbeat& heartbeat) const {
    Checks check("task heartbeat", &heartbeat.attempt);
    CheckAttempt(heartbeat.attempt, check);
    Limit(heartbeat.time);
    return check.status();
  }
  absl::Status operator()(MapProfile& profile) const {
    Checks check("map profile", &profile.attempt);
    CheckAttempt(profile.attempt, check);
    check.ItemsAtMost("partitions", profile.partitions.size(), limits.partitions_max);
    std::size_t explicit_keys = 0;
    std::size_t sampled_keys = 0;
    for (const PartitionProfile& partition : profile.partitions) {
      CheckPartition(partition, limits, check);
      explicit_keys += partition.explicit_keys.size();
      sampled_keys += partition.sampled_keys.size();
    }
    check.ItemsAtMost("explicit_key_hashes", explicit_keys, limits.array_items_max);
    check.ItemsAtMost("sampled_key_hashes", sampled_keys, limits.array_items_max);
    CheckNoPartitionTwice(profile, check);
    return check.status();
  }
  absl::Status operator()(ReduceProfile& profile) const {
    Checks check("reduce profile", &profile.attempt);
    CheckAttempt(profile.attempt, check);
    check.ItemsAtMost("point_bytes", profile.points.size(), limits.array_items_max);
    check.ItemsAtMost("bin_indexes", profile.bins.size(), limits.array_items_max);
    check.ItemsAtMost("finished_key_hashes", profile.finished_keys.size(), limits.array_items_max);
    CheckCounts("point_counts", "point", profile.points, profile.groups_done, check);
    CheckBins(profile.bins, check);
    CheckCounts("bin_counts", "bin", profile.bins, profile.groups_done, check);
    if (profile.dropped_points > profile.groups_done) {
      check.Refuse("dropped_points is {} but groups_done is {}; count dropped groups as done",
                   profile.dropped_points, profile.groups_done);
    }
    Limit(profile.last_group_finished_at);
    Limit(profile.reduce_time);
    for (GroupPoint& point : profile.points) Limit(point.total_time);
    for (FinishedKey& key : profile.finished_keys) Limit(key.time);
    if (profile.running_group) Limit(profile.running_group->elapsed);
    if (profile.processor_use) {
      Limit(profile.processor_use->watched);
      Limit(profile.processor_use->waited);
    }
    Limit(profile.time);
    return check.status();
  }
  absl::Status operator()(JobClosed& closed) const {
    Texts({&closed.message});
    Limit(closed.at);
    return absl::OkStatus();
  }
  absl::Status operator()(StageClosed& closed) const {
    Checks check("stage closed");
    check.StageIsOfSender("stage", closed.stage);
    Texts({&closed.message});
    Limit(closed.at);
    return check.status();
  }
  absl::Status operator()(GroupOpened& group) const {
    Checks check("group opened");
    CheckGroup(group.group, check);
    check.ItemsAtMost("planned_task_counts", group.planned_task_counts.size(), limits.stages_max);
    for (const std::uint32_t tasks : group.planned_task_counts) {
      check.AtMost("planned_task_counts", tasks, limits.task_index_max);
    }
    Texts({&group.name});
    Limit(group.opened_at);
    return check.status();
  }
  absl::Status operator()(GroupClosed& closed) const {
    Checks check("group closed");
    CheckGroup(closed.group, check);
    Texts({&closed.message});
    Limit(closed.at);
    return check.status();
  }
  absl::Status operator()(ExecutorClosed&) const { return absl::OkStatus(); }
  absl::Status operator()(UnknownEvent&) const { return absl::OkStatus(); }

  void Texts(std::initializer_list<std::string*> texts) const {
    for (std::string* text : texts) *text = text::Cut(ValidText(*text), limits.text_bytes_max);
  }
  // Limits the texts of a workflow. Ignores a wrong id or graph and stores the reason, since the
  // job itself is valid.
  void LimitWorkflow(const std::string& job_name, JobWorkflow& workflow) const {
    const auto cut = [](std::string& text, std::size_t bytes_max) {
      text = text::Cut(ValidText(text), bytes_max);
    };
    workflow.id = ValidText(workflow.id);
    if (workflow.id.empty() || workflow.id.size() > limits.id_bytes_max ||
        HasControls(workflow.id)) {
      workflow = {.rejected = fmt::format(
                      "the workflow of the job is ignored: its id has {} bytes or control "
                      "characters; set an id of 1 to {} bytes without control characters",
                      workflow.id.size(), limits.id_bytes_max)};
      return;
    }
    if (workflow.name.empty()) workflow.name = workflow.id;
    if (workflow.node.empty()) workflow.node = job_name;
    cut(workflow.name, limits.workflow_name_bytes_max);
    cut(workflow.node, limits.workflow_node_bytes_max);
    std::erase_if(workflow.parent_job_ids,
                  [&](const std::string& id) { return id.size() > limits.id_bytes_max; });
    if (workflow.parent_job_ids.size() > limits.workflow_nodes_max) workflow.parent_job_ids.clear();
    for (std::string& id : workflow.parent_job_ids) id = ValidText(id);
    for (WorkflowNode& node : workflow.nodes) {
      cut(node.name, limits.workflow_node_bytes_max);
      for (std::string& name : node.after) cut(name, limits.workflow_node_bytes_max);
    }
    const std::string fault = GraphFault(workflow);
    if (fault.empty()) return;
    workflow.nodes.clear();
    workflow.rejected = fmt::format("the graph of workflow {} is ignored: {}", workflow.id, fault);
  }
  // Returns the first fault of a workflow's graph, or an empty string. O(nodes + edges).
  std::string GraphFault(const JobWorkflow& workflow) const {
    if (workflow.nodes.empty()) return "";
    std::size_t edges = 0;
    for (const WorkflowNode& node : workflow.nodes) edges += node.after.size();
    if (workflow.nodes.size() > limits.workflow_nodes_max || edges > limits.workflow_edges_max) {
      return fmt::format("it has {} nodes and {} edges; this master accepts at most {} and {}",
                         workflow.nodes.size(), edges, limits.workflow_nodes_max,
                         limits.workflow_edges_max);
    }
    bool has_own = false;
    Plan plan = {.id = workflow.id};
    for (const WorkflowNode& node : workflow.nodes) {
      if (node.name.empty()) return "a node has no name";
      has_own = has_own || node.name == workflow.node;
      plan.jobs.push_back({.name = node.name, .after = node.after});
    }
    if (!has_own) return fmt::format("the node of the job, {}, is missing", workflow.node);
    const absl::Status checked = CheckPlan(plan);
    if (checked.ok()) return "";
    const auto [path, description] = WrongFieldOf(checked);
    constexpr std::string_view kJobs = "jobs";
    return fmt::format("nodes{}: {}", path.substr(std::min(kJobs.size(), path.size())),
                       description);
  }
  void CheckAttempt(const AttemptId& id, Checks& check) const {
    check.StageIsOfSender("attempt.stage", id.stage);
    check.AtMost("attempt.index", id.index, limits.task_index_max);
  }
  void CheckGroup(std::string& group, Checks& check) const {
    if (group.empty()) check.Refuse("group is missing; send the group of its stages");
    Texts({&group});
  }
  void CheckStage(StageOpened& stage, Checks& check) const {
    const auto at_most = [&](const char* what, std::size_t value, std::size_t max) {
      if (value <= max) return;
      check.Refuse("stage {}: {} is {}; send at most {}", stage.stage, what, value, max);
    };
    check.StageIsOfSender("stage", stage.stage);
    for (const std::uint32_t parent : stage.parents) check.StageIsOfSender("parent", parent);
    const std::uint32_t tasks = stage.task_count.value_or(0);
    at_most("task_count", tasks, limits.task_index_max);
    at_most("index_count", stage.index_count.value_or(0), limits.task_index_max);
    at_most("partition_count", stage.partition_count.value_or(0), limits.partitions_max);
    at_most("size of signature in bytes", stage.signature.size(), limits.id_bytes_max);
    at_most("number of parents", stage.parents.size(), limits.array_items_max);
    if (std::count(stage.parents.begin(), stage.parents.end(), stage.stage) > 0) {
      check.Refuse("stage {} is among its own parents; send the stages that it reads from",
                   stage.stage);
    }
    if (stage.index_count.value_or(tasks) < tasks) {
      check.Refuse(
          "stage {}: index_count is {}, but it has {} tasks; send at least as many indexes",
          stage.stage, *stage.index_count, tasks);
    }
    CheckSizes(stage, "task_bytes", stage.task_bytes, check);
    CheckSizes(stage, "task_records", stage.task_records, check);
    Texts({&stage.name, &stage.signature, &stage.group, &stage.pool});
    Limit(stage.opened_at);
  }
};

}  // namespace

absl::Status CheckStageCount(std::size_t stages, const EventLimits& limits) {
  Checks check("job opened");
  if (stages > limits.stages_max) {
    check.Refuse("{} stages; send at most {} in one event, and the others as separate events",
                 stages, limits.stages_max);
  }
  return check.status();
}

absl::Status CheckBody(const EventLimits& limits, EventBody& body) {
  return std::visit(BodyChecker{limits}, body);
}

absl::Status RefusedEvent(std::uint64_t sequence, const std::string& source_id,
                          const std::string& why) {
  return absl::InvalidArgumentError(fmt::format("event {} of {}: {}", sequence, source_id, why));
}

namespace {

// Earlier versions accepted ids with control characters, so logs may contain them.
absl::Status CheckIds(const ReceivedEvent& received, const EventLimits& limits,
                      bool may_have_controls) {
  Checks check("event");
  const auto id = [&](const char* field, const std::string& text, std::size_t least,
                      std::size_t most) {
    if (text.size() >= least && text.size() <= most) return;
    check.Refuse("{} has {} bytes; send {} to {}", field, text.size(), least, most);
  };
  id("source_id", received.source_id, 1, limits.id_bytes_max / 2);
  id("job_id", received.job_id, 1, limits.id_bytes_max);
  if (!may_have_controls && HasControls(received.job_id)) {
    check.Refuse("job_id contains control characters; remove them");
  }
  id("run_uid", received.run_uid, 0, limits.id_bytes_max / 2);
  return check.status();
}

}  // namespace

absl::Status CheckSource(const ReceivedEvent& received, const EventLimits& limits) {
  return CheckIds(received, limits, /*may_have_controls=*/false);
}

absl::Status CheckPlace(const ReceivedEvent& received, const EventLimits& limits) {
  if (absl::Status ids = CheckIds(received, limits, /*may_have_controls=*/true); !ids.ok()) {
    return ids;
  }
  if (received.sequence > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("an event of {}: its sequence is 0; count from 1", received.source_id));
}

absl::StatusOr<Event> CheckEvent(const Event& event, absl::Time arrived_at,
                                 const EventLimits& limits) {
  const ReceivedEvent named = {.job_id = ValidText(event.job_id),
                               .run_uid = ValidText(event.run_uid),
                               .source_id = ValidText(event.source_id),
                               .sequence = event.sequence};
  if (absl::Status place = CheckPlace(named, limits); !place.ok()) return place;
  Event checked = event;
  checked.job_id = named.job_id;
  checked.run_uid = named.run_uid;
  checked.source_id = named.source_id;
  checked.arrived_at = arrived_at;
  if (const absl::Status body = CheckBody(limits, checked.body); !body.ok()) {
    return RefusedEvent(event.sequence, named.source_id, std::string(body.message()));
  }
  return checked;
}

}  // namespace tidemark::wire
