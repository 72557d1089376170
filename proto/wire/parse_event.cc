#include "proto/wire/parse_event.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "proto/wire/count_fields.h"
#include "proto/wire/parse_profile.h"
#include "proto/wire/task_codec.h"
#include "proto/wire/time_use_codec.h"
#include "proto/wire/valid_text.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

// Cuts between characters, since an incomplete character is not valid in a proto3 string.
std::string Cut(const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

SizePrecision ParsePrecision(v1::SizePrecision precision) {
  switch (precision) {
    case v1::SIZE_PRECISION_EXACT:
      return SizePrecision::kExact;
    case v1::SIZE_PRECISION_ROUNDED:
      return SizePrecision::kRounded;
    case v1::SIZE_PRECISION_ESTIMATED:
      return SizePrecision::kEstimated;
    default:
      return SizePrecision::kUnknown;
  }
}

StageKind ParseKind(v1::StageKind kind) {
  switch (kind) {
    case v1::STAGE_KIND_MAP:
      return StageKind::kMap;
    case v1::STAGE_KIND_REDUCE:
      return StageKind::kReduce;
    case v1::STAGE_KIND_UNSPECIFIED:
      return StageKind::kUnknown;
    default:
      return StageKind::kGeneric;
  }
}

void CheckStage(const v1::StageOpened& untrusted, const EventLimits& limits, Checks& check) {
  const auto stage = untrusted.stage();
  const auto at_most = [&](const char* what, std::size_t value, std::size_t max) {
    if (value > max) check.Refuse("stage {}: {} is {}; send at most {}", stage, what, value, max);
  };
  check.StageIsOfSender("stage", stage);
  for (const std::uint32_t parent : untrusted.parents()) check.StageIsOfSender("parent", parent);
  at_most("task_count", untrusted.task_count(), limits.task_index_max);
  at_most("index_count", untrusted.index_count(), limits.task_index_max);
  at_most("partition_count", untrusted.partition_count(), limits.partitions_max);
  at_most("bytes of signature", untrusted.signature().size(), limits.id_bytes_max);
  at_most("number of parents", static_cast<std::size_t>(untrusted.parents_size()),
          limits.array_items_max);
  if (std::count(untrusted.parents().begin(), untrusted.parents().end(), stage) > 0) {
    check.Refuse("stage {} is among its own parents; send the stages it reads from", stage);
  }
  if (untrusted.has_index_count() && untrusted.index_count() < untrusted.task_count()) {
    check.Refuse("stage {}: index_count is {}, but it has {} tasks; send at least as many indexes",
                 stage, untrusted.index_count(), untrusted.task_count());
  }
  const auto sizes = [&](const char* field, int size) {
    if (size == 0) return;
    constexpr const char* kInstead = "send task_count, and one size for each task";
    const std::uint32_t indexes =
        untrusted.has_index_count() ? untrusted.index_count() : untrusted.task_count();
    if (!untrusted.has_task_count()) {
      check.Refuse("stage {} has {} {} but no task_count; {}", stage, size, field, kInstead);
    } else if (static_cast<std::uint32_t>(size) != indexes) {
      check.Refuse("stage {} has {} {} but {} {}; {}", stage, size, field, indexes,
                   untrusted.has_index_count() ? "indexes" : "tasks", kInstead);
    }
  };
  sizes("task_bytes", untrusted.task_bytes_size());
  sizes("task_records", untrusted.task_records_size());
}

StageOpened ParseStage(const v1::StageOpened& untrusted, const EventLimits& limits, Checks& check) {
  CheckStage(untrusted, limits, check);
  StageOpened stage;
  if (!check.ok()) return stage;
  stage.stage = untrusted.stage();
  stage.attempt = untrusted.attempt();
  stage.name = Cut(untrusted.name(), limits.text_bytes_max);
  stage.signature = untrusted.signature();
  stage.parents.assign(untrusted.parents().begin(), untrusted.parents().end());
  stage.group = Cut(untrusted.group(), limits.text_bytes_max);
  stage.kind = ParseKind(untrusted.kind());
  if (untrusted.has_task_count()) stage.task_count = untrusted.task_count();
  stage.skipped = untrusted.skipped();
  stage.pool = Cut(untrusted.pool(), limits.text_bytes_max);
  stage.task_bytes.assign(untrusted.task_bytes().begin(), untrusted.task_bytes().end());
  stage.task_records.assign(untrusted.task_records().begin(), untrusted.task_records().end());
  stage.size_precision = ParsePrecision(untrusted.size_precision());
  if (untrusted.has_slots()) stage.slots = untrusted.slots();
  if (untrusted.has_partition_count()) stage.partition_count = untrusted.partition_count();
  if (untrusted.has_has_combiner()) stage.has_combiner = untrusted.has_combiner();
  if (untrusted.has_is_grouping_opaque()) stage.is_grouping_opaque = untrusted.is_grouping_opaque();
  if (untrusted.has_opened_at()) stage.opened_at = absl::FromUnixNanos(untrusted.opened_at());
  if (untrusted.has_index_count()) stage.index_count = untrusted.index_count();
  stage.work = untrusted.work();
  return stage;
}

absl::Status CheckStageCount(std::size_t count, const EventLimits& limits) {
  Checks check("job opened");
  if (count > limits.stages_max) {
    check.Refuse("{} stages; send at most {} in one event, the others as events of their own",
                 count, limits.stages_max);
  }
  return check.status();
}

absl::StatusOr<EventBody> ParseJobOpened(const v1::JobOpened& untrusted,
                                         const EventLimits& limits) {
  const auto stages = static_cast<std::size_t>(untrusted.stages_size());
  if (absl::Status few = CheckStageCount(stages, limits); !few.ok()) return few;
  Checks check("job opened");
  JobOpened job;
  job.name = Cut(untrusted.name(), limits.text_bytes_max);
  job.engine = Cut(untrusted.engine(), limits.text_bytes_max);
  job.application_id = Cut(untrusted.application_id(), limits.text_bytes_max);
  job.user = Cut(untrusted.user(), limits.text_bytes_max);
  job.queue = Cut(untrusted.queue(), limits.text_bytes_max);
  if (untrusted.has_submitted_at()) {
    job.submitted_at = absl::FromUnixNanos(untrusted.submitted_at());
  }
  if (untrusted.has_deadline_at()) job.deadline = absl::FromUnixNanos(untrusted.deadline_at());
  job.application_master_attempt = untrusted.application_master_attempt();
  for (const v1::Parameter& parameter : untrusted.parameters()) {
    if (job.parameters.size() == limits.parameters_max) break;
    if (parameter.name().empty()) continue;
    job.parameters.try_emplace(Cut(parameter.name(), limits.parameter_bytes_max),
                               Cut(parameter.value(), limits.parameter_bytes_max));
  }
  job.stages.reserve(stages);
  for (const v1::StageOpened& stage : untrusted.stages()) {
    if (!check.ok()) break;
    job.stages.push_back(ParseStage(stage, limits, check));
  }
  if (!check.ok()) return check.status();
  return job;
}

absl::StatusOr<EventBody> ParseStageOpened(const v1::StageOpened& untrusted,
                                           const EventLimits& limits) {
  Checks check("stage opened");
  StageOpened stage = ParseStage(untrusted, limits, check);
  if (!check.ok()) return check.status();
  return stage;
}

// Parses the common fields of ends of jobs, stages and groups.
template <typename Message, typename Closed>
absl::StatusOr<EventBody> ParseEnd(const char* what, const Message& untrusted,
                                   const EventLimits& limits, Closed closed) {
  switch (untrusted.outcome()) {
    case v1::JOB_OUTCOME_UNSPECIFIED:
      return absl::InvalidArgumentError(
          fmt::format("{} closed: outcome is missing; send how the {} ended", what, what));
    case v1::JOB_OUTCOME_SUCCEEDED:
      closed.outcome = JobOutcome::kSucceeded;
      break;
    case v1::JOB_OUTCOME_FAILED:
      closed.outcome = JobOutcome::kFailed;
      break;
    case v1::JOB_OUTCOME_KILLED:
      closed.outcome = JobOutcome::kKilled;
      break;
    case v1::JOB_OUTCOME_UNKNOWN:
      closed.outcome = JobOutcome::kUnknown;
      break;
    default:
      closed.outcome = JobOutcome::kUnknown;
      closed.message = fmt::format(
          "a newer version of Tidemark reports outcome {}, which this master does not understand; "
          "update the master",
          static_cast<int>(untrusted.outcome()));
  }
  if (!untrusted.message().empty()) {
    closed.message = Cut(untrusted.message(), limits.text_bytes_max);
  }
  if (untrusted.has_closed_at()) closed.at = absl::FromUnixNanos(untrusted.closed_at());
  return closed;
}

absl::StatusOr<EventBody> ParseStageClosed(const v1::StageClosed& untrusted,
                                           const EventLimits& limits) {
  Checks check("stage closed");
  check.StageIsOfSender("stage", untrusted.stage());
  if (!check.ok()) return check.status();
  return ParseEnd("stage", untrusted, limits,
                  StageClosed{.stage = untrusted.stage(), .attempt = untrusted.attempt()});
}

absl::Status CheckGroup(const char* what, const std::string& group) {
  Checks check(what);
  if (group.empty()) check.Refuse("group is missing; send the group of its stages");
  return check.status();
}

absl::StatusOr<EventBody> ParseGroupOpened(const v1::GroupOpened& untrusted,
                                           const EventLimits& limits) {
  absl::Status named = CheckGroup("group opened", untrusted.group());
  if (!named.ok()) return named;
  Checks check("group opened");
  check.ItemsAtMost("planned_task_counts",
                    static_cast<std::size_t>(untrusted.planned_task_counts_size()),
                    limits.stages_max);
  for (const std::uint32_t tasks : untrusted.planned_task_counts()) {
    check.AtMost("planned_task_counts", tasks, limits.task_index_max);
  }
  if (!check.ok()) return check.status();
  GroupOpened group = {.group = Cut(untrusted.group(), limits.text_bytes_max),
                       .name = Cut(untrusted.name(), limits.text_bytes_max)};
  if (untrusted.has_opened_at()) group.opened_at = absl::FromUnixNanos(untrusted.opened_at());
  group.planned_task_counts.assign(untrusted.planned_task_counts().begin(),
                                   untrusted.planned_task_counts().end());
  return group;
}

absl::StatusOr<EventBody> ParseGroupClosed(const v1::GroupClosed& untrusted,
                                           const EventLimits& limits) {
  absl::Status named = CheckGroup("group closed", untrusted.group());
  if (!named.ok()) return named;
  GroupClosed closed = {.group = Cut(untrusted.group(), limits.text_bytes_max)};
  return ParseEnd("group", untrusted, limits, std::move(closed));
}

EventBody ParseExecutor(const v1::ExecutorOpened& untrusted, const EventLimits& limits) {
  ExecutorOpened executor;
  executor.executor = untrusted.executor();
  executor.host = Cut(untrusted.host(), limits.text_bytes_max);
  executor.rack = Cut(untrusted.rack(), limits.text_bytes_max);
  executor.container = Cut(untrusted.container(), limits.text_bytes_max);
  executor.slots = untrusted.slots();
  return executor;
}

absl::StatusOr<EventBody> ParseAttemptChanged(const v1::AttemptChanged& untrusted,
                                              const EventLimits& limits) {
  AttemptChanged changed;
  Checks check("attempt changed", &changed.attempt);
  changed.attempt = ParseAttempt(untrusted, limits, check);
  if (untrusted.state() == v1::ATTEMPT_STATE_UNSPECIFIED) {
    check.Refuse("state is missing; send the state that it entered");
  }
  if (!check.ok()) return check.status();
  const std::optional<AttemptState> state = DecodeAttemptState(untrusted.state());
  if (!state) return UnknownEvent{};
  changed.state = *state;
  if (untrusted.has_changed_at()) changed.at = absl::FromUnixNanos(untrusted.changed_at());
  if (untrusted.has_executor()) changed.executor = untrusted.executor();
  changed.speculative = untrusted.speculative();
  if (untrusted.has_input_bytes()) changed.input_bytes = untrusted.input_bytes();
  if (untrusted.has_input_records()) changed.input_records = untrusted.input_records();
  changed.input_name = Cut(untrusted.input_name(), limits.text_bytes_max);
  changed.failure = Cut(untrusted.failure(), limits.text_bytes_max);
  changed.task_failed = untrusted.task_failed();
  return changed;
}

absl::StatusOr<EventBody> ParseHeartbeat(const v1::TaskHeartbeat& untrusted,
                                         const EventLimits& limits) {
  TaskHeartbeat heartbeat;
  Checks check("task heartbeat", &heartbeat.attempt);
  heartbeat.attempt = ParseAttempt(untrusted, limits, check);
  if (!check.ok()) return check.status();
  heartbeat.bytes_done = untrusted.bytes_done();
  heartbeat.records_done = untrusted.records_done();
  heartbeat.bytes_emitted = untrusted.bytes_emitted();
  heartbeat.time = ParseTimes(untrusted);
  heartbeat.input_is_read_first = untrusted.input_is_read_first();
  return heartbeat;
}

}  // namespace

absl::StatusOr<EventBody> ParseBody(const v1::Event& untrusted, const EventLimits& limits) {
  switch (untrusted.event_case()) {
    case v1::Event::kJobOpened:
      return ParseJobOpened(untrusted.job_opened(), limits);
    case v1::Event::kJobClosed:
      return ParseEnd("job", untrusted.job_closed(), limits, JobClosed{});
    case v1::Event::kStageOpened:
      return ParseStageOpened(untrusted.stage_opened(), limits);
    case v1::Event::kExecutorOpened:
      return ParseExecutor(untrusted.executor_opened(), limits);
    case v1::Event::kAttemptChanged:
      return ParseAttemptChanged(untrusted.attempt_changed(), limits);
    case v1::Event::kTaskHeartbeat:
      return ParseHeartbeat(untrusted.task_heartbeat(), limits);
    case v1::Event::kMapProfile:
      return ParseMapProfile(untrusted.map_profile(), limits);
    case v1::Event::kReduceProfile:
      return ParseReduceProfile(untrusted.reduce_profile(), limits);
    case v1::Event::kStageClosed:
      return ParseStageClosed(untrusted.stage_closed(), limits);
    case v1::Event::kGroupOpened:
      return ParseGroupOpened(untrusted.group_opened(), limits);
    case v1::Event::kGroupClosed:
      return ParseGroupClosed(untrusted.group_closed(), limits);
    case v1::Event::kExecutorClosed:
      return ExecutorClosed{.executor = untrusted.executor_closed().executor()};
    case v1::Event::EVENT_NOT_SET:
      break;
  }
  if (untrusted.GetReflection()->GetUnknownFields(untrusted).empty()) {
    return absl::InvalidArgumentError("it is empty; set one of its fields");
  }
  return UnknownEvent{};
}

absl::Status CheckSource(const ReceivedEvent& received, const EventLimits& limits) {
  Checks check("event");
  const auto id = [&](const char* field, const std::string& text, std::size_t least,
                      std::size_t most) {
    if (text.size() >= least && text.size() <= most) return;
    check.Refuse("{} has {} bytes; send {} to {}", field, text.size(), least, most);
  };
  id("source_id", received.source_id, 1, limits.id_bytes_max / 2);
  id("job_id", received.job_id, 1, limits.id_bytes_max);
  id("run_uid", received.run_uid, 0, limits.id_bytes_max / 2);
  return check.status();
}

absl::Status CheckPlace(const ReceivedEvent& received, const EventLimits& limits) {
  if (absl::Status source = CheckSource(received, limits); !source.ok()) return source;
  if (received.sequence > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("an event of {}: its sequence is 0; count from 1", received.source_id));
}

namespace {

// Checks the body of an event that was made in this process, and makes its texts valid.
struct BodyChecker {
  const EventLimits& limits;
  Checks& check;

  void Text(std::string& text) const { text = Cut(ValidText(text), limits.text_bytes_max); }
  // Limits an instant to those of a message.
  static void Instant(std::optional<absl::Time>& at) {
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (at) at = std::clamp(*at, absl::FromUnixNanos(kMin), absl::FromUnixNanos(kMax));
  }
  // Limits a duration to those of a message.
  static void Span(absl::Duration& span) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    span = std::clamp(span, absl::ZeroDuration(), absl::Nanoseconds(kMax));
  }
  // Rounds to whole microseconds, as messages do: a restored job must have the same times.
  static void Spans(TimeUse& time) {
    const auto cut = [](std::optional<absl::Duration>& span) {
      if (!span) return;
      Span(*span);
      span = absl::Trunc(*span, absl::Microseconds(1));
    };
    cut(time.cpu);
    for (const WaitReason reason : kWaitReasons) cut(time.waits[reason]);
  }
  void Attempt(const AttemptId& id) const {
    check.StageIsOfSender("attempt.stage", id.stage);
    check.AtMost("attempt.index", id.index, limits.task_index_max);
  }
  // Checks that each bin or point holds key groups, and all together at most `groups_done`.
  void Counts(const char* field, const auto& items, std::uint64_t groups_done) const {
    for (const auto& item : items) {
      if (item.count == 0 || item.count > groups_done) {
        return check.Refuse("{} must be above 0 and must add up to at most groups_done", field);
      }
      groups_done -= item.count;
    }
  }
  void operator()(JobOpened& job) const {
    for (std::string* text : {&job.name, &job.engine, &job.application_id, &job.user, &job.queue}) {
      Text(*text);
    }
    Instant(job.submitted_at);
    Instant(job.deadline);
    std::map<std::string, std::string> parameters;
    for (const auto& [name, value] : job.parameters) {
      if (parameters.size() == limits.parameters_max) break;
      if (name.empty()) continue;
      parameters.try_emplace(Cut(ValidText(name), limits.parameter_bytes_max),
                             Cut(ValidText(value), limits.parameter_bytes_max));
    }
    job.parameters = std::move(parameters);
    check.ItemsAtMost("stages", job.stages.size(), limits.stages_max);
    for (StageOpened& stage : job.stages) (*this)(stage);
  }
  void operator()(StageOpened& stage) const {
    check.StageIsOfSender("stage", stage.stage);
    for (const std::uint32_t parent : stage.parents) check.StageIsOfSender("parent", parent);
    check.AtMost("task_count", stage.task_count.value_or(0), limits.task_index_max);
    check.AtMost("index_count", stage.index_count.value_or(0), limits.task_index_max);
    check.AtMost("partition_count", stage.partition_count.value_or(0), limits.partitions_max);
    check.AtMost("bytes of signature", stage.signature.size(), limits.id_bytes_max);
    check.ItemsAtMost("parents", stage.parents.size(), limits.array_items_max);
    const std::uint32_t tasks = stage.task_count.value_or(0);
    const std::uint32_t indexes = stage.index_count.value_or(tasks);
    const auto is_listed = [&](const std::vector<std::uint64_t>& sizes) {
      return sizes.empty() || (stage.task_count && sizes.size() == indexes);
    };
    if (indexes < tasks || !is_listed(stage.task_bytes) || !is_listed(stage.task_records)) {
      check.Refuse("stage {}: send task_count, at least as many indexes, and one size for each",
                   stage.stage);
    }
    if (std::count(stage.parents.begin(), stage.parents.end(), stage.stage) > 0) {
      check.Refuse("stage {} is among its own parents", stage.stage);
    }
    for (std::string* text : {&stage.name, &stage.signature, &stage.group, &stage.pool}) {
      Text(*text);
    }
    Instant(stage.opened_at);
  }
  void operator()(ExecutorOpened& executor) const {
    for (std::string* text : {&executor.host, &executor.rack, &executor.container}) Text(*text);
  }
  void operator()(AttemptChanged& changed) const {
    Attempt(changed.attempt);
    Instant(changed.at);
    Text(changed.input_name);
    Text(changed.failure);
  }
  void operator()(TaskHeartbeat& heartbeat) const {
    Attempt(heartbeat.attempt);
    Spans(heartbeat.time);
  }
  void operator()(MapProfile& profile) const {
    Attempt(profile.attempt);
    check.ItemsAtMost("partitions", profile.partitions.size(), limits.partitions_max);
    std::set<std::uint32_t> partitions;
    std::size_t explicit_keys = 0;
    std::size_t sampled_keys = 0;
    for (const PartitionProfile& partition : profile.partitions) {
      check.AtMost("partition", partition.partition, limits.partitions_max - std::size_t{1});
      explicit_keys += partition.explicit_keys.size();
      sampled_keys += partition.sampled_keys.size();
      std::uint64_t rest = partition.total_bytes;
      bool is_within = partition.implicit_bytes <= rest;
      if (is_within) rest -= partition.implicit_bytes;
      for (const ExplicitKey& key : partition.explicit_keys) {
        is_within = is_within && key.size_bytes <= rest;
        if (is_within) rest -= key.size_bytes;
      }
      if (!is_within || partition.scanned_bytes.value_or(0) > partition.total_bytes) {
        check.Refuse("partition {}: total_bytes must include all other bytes", partition.partition);
      }
      if (!partitions.insert(partition.partition).second) {
        check.Refuse("partition {} appears twice", partition.partition);
      }
    }
    check.ItemsAtMost("explicit_key_hashes", explicit_keys, limits.array_items_max);
    check.ItemsAtMost("sampled_key_hashes", sampled_keys, limits.array_items_max);
  }
  void operator()(ReduceProfile& profile) const {
    Attempt(profile.attempt);
    check.ItemsAtMost("point_bytes", profile.points.size(), limits.array_items_max);
    check.ItemsAtMost("bin_indexes", profile.bins.size(), limits.array_items_max);
    check.ItemsAtMost("finished_key_hashes", profile.finished_keys.size(), limits.array_items_max);
    Instant(profile.last_group_finished_at);
    Span(profile.reduce_time);
    for (GroupPoint& point : profile.points) Span(point.total_time);
    for (FinishedKey& key : profile.finished_keys) Span(key.time);
    if (profile.running_group) Span(profile.running_group->elapsed);
    if (profile.processor_use) {
      Span(profile.processor_use->watched);
      Span(profile.processor_use->waited);
    }
    Spans(profile.time);
    check.AtMost("dropped_points", profile.dropped_points, profile.groups_done);
    Counts("point_counts", profile.points, profile.groups_done);
    Counts("bin_counts", profile.bins, profile.groups_done);
    std::set<std::uint32_t> bins;
    for (const GroupBin& bin : profile.bins) {
      if (!bins.insert(bin.bin).second) check.Refuse("bin {} appears twice", bin.bin);
      check.AtMost("bin_indexes", bin.bin, kSizeBins - 1);
      const bool is_sum = std::isfinite(bin.seconds) && std::isfinite(bin.seconds_squared) &&
                          bin.seconds >= 0 && bin.seconds_squared >= 0;
      if (!is_sum) check.Refuse("bin {}: send finite sums of zero or more", bin.bin);
    }
  }
  void operator()(JobClosed& closed) const {
    Text(closed.message);
    Instant(closed.at);
  }
  void operator()(StageClosed& closed) const {
    check.StageIsOfSender("stage", closed.stage);
    Text(closed.message);
    Instant(closed.at);
  }
  void operator()(GroupOpened& group) const {
    if (group.group.empty()) check.Refuse("group is missing; send the group of its stages");
    check.ItemsAtMost("planned_task_counts", group.planned_task_counts.size(), limits.stages_max);
    for (const std::uint32_t tasks : group.planned_task_counts) {
      check.AtMost("planned_task_counts", tasks, limits.task_index_max);
    }
    Text(group.group);
    Text(group.name);
    Instant(group.opened_at);
  }
  void operator()(GroupClosed& closed) const {
    if (closed.group.empty()) check.Refuse("group is missing; send the group of its stages");
    Text(closed.group);
    Text(closed.message);
    Instant(closed.at);
  }
  void operator()(ExecutorClosed&) const {}
  void operator()(UnknownEvent&) const {}
};

}  // namespace

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
  const std::string what = fmt::format("event {} of {}", event.sequence, named.source_id);
  Checks check(what.c_str());
  std::visit(BodyChecker{limits, check}, checked.body);
  if (!check.ok()) return check.status();
  return checked;
}

absl::StatusOr<Event> ParseEvent(const ReceivedEvent& received, absl::Time arrived_at,
                                 const EventLimits& limits) {
  if (absl::Status place = CheckPlace(received, limits); !place.ok()) return place;
  const auto refused = [&](const std::string& why) {
    return absl::InvalidArgumentError(
        fmt::format("event {} of {}: {}", received.sequence, received.source_id, why));
  };
  if (!received.sent_at) return refused("sent_at is missing; send the time of sending");
  // A stage takes at least two bytes.
  if (received.body.size() > 2 * limits.stages_max) {
    const std::size_t stages = CountFields(
        received.body, {v1::Event::kJobOpenedFieldNumber, v1::JobOpened::kStagesFieldNumber});
    if (absl::Status few = CheckStageCount(stages, limits); !few.ok()) {
      return refused(std::string(few.message()));
    }
  }
  ReusedMessage<v1::Event> message;
  if (!message.Parse(received.body)) return refused("is not a tidemark.v1.Event");
  absl::StatusOr<EventBody> body = ParseBody(*message, limits);
  if (!body.ok()) return refused(std::string(body.status().message()));

  Event event;
  event.job_id = received.job_id;
  event.run_uid = received.run_uid;
  event.source_id = received.source_id;
  event.sequence = received.sequence;
  event.sent_at = *received.sent_at;
  event.arrived_at = arrived_at;
  event.dropped_events = received.dropped_events;
  event.body = *std::move(body);
  return event;
}

}  // namespace tidemark::wire
