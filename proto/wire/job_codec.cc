#include "proto/wire/job_codec.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <utility>

#include "proto/wire/fields.h"
#include "proto/wire/job_fields.h"
#include "proto/wire/message_json.h"
#include "proto/wire/valid_text.h"
#include "tidemark/v1/job.pb.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark {

template <class Io, wire::ConstOrNot<JobFilter> V>
void Fields(Io& io, V& filter) {
  io("states", filter.states);
  io("kinds", filter.kinds);
  io("user", filter.user);
  io("queue", filter.queue);
  io("name_prefix", filter.name_prefix);
  io("workflow_id", filter.workflow_id);
}

template <class Io, wire::ConstOrNot<PlanState::Stage> V>
void Fields(Io& io, V& stage) {
  io("id", stage.id);
  io.Amount("task_count", stage.tasks);
  io("task_time", stage.task_time);
  io("bottleneck", stage.bottleneck);
}

template <class Io, wire::ConstOrNot<PlanState> V>
void Fields(Io& io, V& state) {
  io("starts_in", state.starts_in);
  io("ends_in", state.ends_in);
  io("stages", state.stages);
}

namespace wire {
namespace {

// The same limit as that of CheckPlan().
constexpr std::uint32_t kSlotsMax = 1'000'000;
// Chosen by hand. Larger factors are assumed to be typing errors.
constexpr double kDataFactorMax = 1e6;

absl::Status CheckCount(const char* field, std::uint32_t count) {
  if (count >= 1 && count <= kSlotsMax) return absl::OkStatus();
  return FieldError(field, fmt::format("must be from 1 to {}, not {}", kSlotsMax, count));
}

absl::Status CheckList(const char* field, int size, int size_max) {
  if (size <= size_max) return absl::OkStatus();
  return FieldError(field, fmt::format("must be at most {}, not {}", size_max, size));
}

}  // namespace

void EncodeJobFilter(const JobFilter& filter, v1::JobFilter& message) {
  EncodeFields(filter, message);
}

void EncodeScenario(const Scenario& scenario, v1::Scenario& message) {
  if (scenario.slots) message.set_slots(*scenario.slots);
  if (scenario.data_factor) message.set_data_factor(*scenario.data_factor);
  if (scenario.policy) message.set_policy(static_cast<v1::SchedulingPolicy>(*scenario.policy));
  if (scenario.executors) message.set_executors(*scenario.executors);
}

void EncodePlanState(const PlanState& state, v1::PlanState& message) {
  EncodeFields(state, message);
}

absl::StatusOr<PlanState> ParsePlanState(const v1::PlanState& untrusted) {
  return Parse<PlanState>(untrusted, /*is_strict=*/true);
}

absl::Status CheckText(std::string_view field, std::string_view untrusted) {
  if (untrusted.size() <= kTextBytesMax) return absl::OkStatus();
  return FieldError(
      field, fmt::format("must have at most {} bytes, not {}", kTextBytesMax, untrusted.size()));
}

absl::Status CheckId(std::string_view field, std::string_view untrusted) {
  return untrusted.empty() ? FieldError(field, "is missing") : CheckText(field, untrusted);
}

absl::StatusOr<JobFilter> ParseJobFilter(const v1::JobFilter& untrusted) {
  if (absl::Status ok = CheckList("states", untrusted.states_size(), v1::JobState_ARRAYSIZE);
      !ok.ok()) {
    return ok;
  }
  if (absl::Status ok = CheckList("kinds", untrusted.kinds_size(), v1::JobKind_ARRAYSIZE);
      !ok.ok()) {
    return ok;
  }
  const std::pair<const char*, const std::string*> texts[] = {
      {"user", &untrusted.user()},
      {"queue", &untrusted.queue()},
      {"name_prefix", &untrusted.name_prefix()},
      {"workflow_id", &untrusted.workflow_id()}};
  for (const auto& [field, text] : texts) {
    if (absl::Status ok = CheckText(field, *text); !ok.ok()) return ok;
  }
  return Parse<JobFilter>(untrusted, /*is_strict=*/true);
}

absl::StatusOr<Scenario> ParseScenario(const v1::Scenario& untrusted) {
  Scenario scenario;
  if (untrusted.has_slots()) {
    scenario.slots = untrusted.slots();
    if (absl::Status ok = CheckCount("slots", *scenario.slots); !ok.ok()) return ok;
  }
  if (untrusted.has_executors()) {
    scenario.executors = untrusted.executors();
    if (absl::Status ok = CheckCount("executors", *scenario.executors); !ok.ok()) return ok;
    if (scenario.slots) return FieldError("executors", "must be omitted if slots are set");
  }
  if (untrusted.has_data_factor()) {
    scenario.data_factor = untrusted.data_factor();
    if (!(untrusted.data_factor() > 0 && untrusted.data_factor() <= kDataFactorMax)) {
      return FieldError("data_factor",
                        fmt::format("must be positive and at most {:.12g}, not {:.12g}",
                                    kDataFactorMax, untrusted.data_factor()));
    }
  }
  if (!v1::SchedulingPolicy_IsValid(untrusted.policy())) {
    return FieldError("policy", fmt::format("must be a value that this version supports, not {}",
                                            static_cast<int>(untrusted.policy())));
  }
  if (untrusted.policy() != v1::SCHEDULING_POLICY_UNSPECIFIED) {
    scenario.policy = static_cast<SchedulingPolicy>(untrusted.policy());
  }
  return scenario;
}

absl::StatusOr<View> ParseView(int untrusted, View otherwise) {
  if (!v1::View_IsValid(untrusted)) {
    return FieldError("view",
                      fmt::format("must be a value that this version supports, not {}", untrusted));
  }
  const View view = static_cast<View>(untrusted);
  return view == View::kUnknown ? otherwise : view;
}

}  // namespace wire
}  // namespace tidemark

namespace tidemark::wire {

namespace {

template <typename T>
bool IsEmptyOrHas(const std::vector<T>& wanted, T value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool IsEmptyOrIs(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

}  // namespace

Snapshot WithoutParts(const Snapshot& snapshot) {
  return {.job_id = snapshot.job_id,
          .run_uid = snapshot.run_uid,
          .sequence = snapshot.sequence,
          .base_sequence = snapshot.base_sequence,
          .at = snapshot.at,
          .state = snapshot.state,
          .is_final = snapshot.is_final,
          .message = snapshot.message,
          .info = snapshot.info,
          .started_at = snapshot.started_at,
          .ended_at = snapshot.ended_at,
          .estimate = snapshot.estimate,
          .counts = snapshot.counts,
          .silent_since = snapshot.silent_since,
          .notes = snapshot.notes,
          .deadline = snapshot.deadline,
          .late_probability = snapshot.late_probability,
          .estimate_raised = snapshot.estimate_raised,
          .idle_since = snapshot.idle_since,
          .headline_group = snapshot.headline_group,
          .may_grow = snapshot.may_grow,
          .throughput = snapshot.throughput,
          .named_tasks = snapshot.named_tasks,
          .indicators = snapshot.indicators,
          .coverage = snapshot.coverage,
          .errors = snapshot.errors};
}

Snapshot WithView(const Snapshot& snapshot, View view) {
  if (view == View::kUnknown || view == View::kFull) return snapshot;
  Snapshot viewed = view == View::kStages ? snapshot : WithoutParts(snapshot);
  if (view == View::kBasic) {
    for (const Group& group : snapshot.groups) {
      if (group.group == snapshot.headline_group) viewed.groups = {group};
    }
  }
  viewed.named_tasks.clear();
  viewed.indicators.clear();
  viewed.coverage.reset();
  // Callers of lists also need the error of the displayed indicator.
  const std::string& shown = viewed.estimate.indicator;
  std::erase_if(viewed.errors, [&](const IndicatorError& error) {
    return error.indicator != (shown.empty() ? "tidemark" : shown);
  });
  return viewed;
}

bool Matches(const JobFilter& filter, const Snapshot& snapshot) {
  static const auto* const kUnknown = new JobInfo();
  const JobInfo& info = snapshot.info ? *snapshot.info : *kUnknown;
  const std::string& name = info.name.empty() ? snapshot.job_id : info.name;
  return IsEmptyOrHas(filter.states, snapshot.state) && IsEmptyOrHas(filter.kinds, info.kind) &&
         IsEmptyOrIs(filter.user, info.user) && IsEmptyOrIs(filter.queue, info.queue) &&
         IsEmptyOrIs(filter.workflow_id, info.workflow_id) && name.starts_with(filter.name_prefix);
}

namespace {

// Returns true if the keys are unique and in ascending order.
template <typename T, typename Key>
bool IsSorted(const std::vector<T>& values, Key key) {
  return std::adjacent_find(values.begin(), values.end(), [&](const T& a, const T& b) {
           return !(key(a) < key(b));
         }) == values.end();
}

absl::Status CheckOrder(const Snapshot& snapshot) {
  const auto id = [](const auto& stage) { return stage.id; };
  const char* const sorted = "must be sorted by id, each id once";
  if (!IsSorted(snapshot.stage_infos, id)) return FieldError("stage_infos", sorted);
  if (!IsSorted(snapshot.stages, id)) return FieldError("stages", sorted);
  if (!IsSorted(snapshot.children, [](const Child& child) { return child.number; })) {
    return FieldError("children", "must be sorted by number, each number once");
  }
  // In a delta, each list contains only changes.
  const bool is_whole = snapshot.base_sequence == 0;
  if (is_whole && !std::ranges::equal(snapshot.stages, snapshot.stage_infos, {}, id, id)) {
    return FieldError("stage_infos", "must have the same stages as field stages");
  }
  if (!IsSorted(snapshot.groups, [](const Group& group) { return group.group; })) {
    return FieldError("groups", "must be sorted by group, each group once");
  }
  return absl::OkStatus();
}

}  // namespace

void EncodeSnapshot(const Snapshot& snapshot, v1::Snapshot& message) { Encode(snapshot, message); }

void EncodeSnapshot(const Snapshot& snapshot, View view, v1::Snapshot& message) {
  const bool is_all = view == View::kUnknown || view == View::kFull;
  if (is_all) return Encode(snapshot, message);
  Encode(WithView(snapshot, view), message);
}

absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message) {
  absl::StatusOr<Snapshot> snapshot = Parse<Snapshot>(message, /*is_strict=*/false);
  if (!snapshot.ok()) return snapshot;
  if (absl::Status order = CheckOrder(*snapshot); !order.ok()) return order;
  return snapshot;
}

std::string SnapshotJson(const Snapshot& snapshot) {
  v1::Snapshot message;
  Encode(snapshot, message);
  return MessageJson(message);
}

namespace {

using google::protobuf::internal::WireFormatLite;
using Input = google::protobuf::io::CodedInputStream;

constexpr std::uint32_t TagOf(int field, WireFormatLite::WireType type) {
  return WireFormatLite::MakeTag(field, type);
}

// Reads only base_sequence from the snapshot, whose size is next in `input`.
bool ReadBaseSequence(Input& input, std::uint64_t& base_sequence) {
  int bytes = 0;
  if (!input.ReadVarintSizeAsInt(&bytes) || bytes > input.BytesUntilLimit()) return false;
  const Input::Limit limit = input.PushLimit(bytes);
  while (const std::uint32_t tag = input.ReadTag()) {
    const bool is_base =
        tag == TagOf(v1::Snapshot::kBaseSequenceFieldNumber, WireFormatLite::WIRETYPE_VARINT);
    const bool is_read =
        is_base ? input.ReadVarint64(&base_sequence) : WireFormatLite::SkipField(&input, tag);
    if (!is_read) return false;
  }
  const bool is_whole = input.ConsumedEntireMessage() && input.BytesUntilLimit() == 0;
  input.PopLimit(limit);
  return is_whole;
}

bool ReadField(std::uint32_t tag, Input& input, WatchResponseHead& head) {
  using Response = v1::WatchJobResponse;
  switch (tag) {
    case TagOf(Response::kSnapshotFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED):
      return ReadBaseSequence(input, head.base_sequence);
    case TagOf(Response::kSkippedSnapshotsFieldNumber, WireFormatLite::WIRETYPE_VARINT):
      return input.ReadVarint64(&head.skipped_snapshots);
    case TagOf(Response::kResumeTokenFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED):
      return WireFormatLite::ReadString(&input, &head.resume_token);
    case TagOf(Response::kRestartedFieldNumber, WireFormatLite::WIRETYPE_VARINT): {
      std::uint64_t restarted = 0;
      if (!input.ReadVarint64(&restarted)) return false;
      head.restarted = restarted != 0;
      return true;
    }
    default:
      return WireFormatLite::SkipField(&input, tag);
  }
}

}  // namespace

std::optional<WatchResponseHead> ReadWatchResponseHead(absl::string_view response) {
  Input input(reinterpret_cast<const std::uint8_t*>(response.data()),
              static_cast<int>(response.size()));
  WatchResponseHead head;
  while (const std::uint32_t tag = input.ReadTag()) {
    if (!ReadField(tag, input, head)) return std::nullopt;
  }
  if (!input.ConsumedEntireMessage()) return std::nullopt;
  return head;
}

}  // namespace tidemark::wire
