#include "master/store/workflow_log.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "absl/strings/string_view.h"
#include "master/forecast/dag/live_workflow.h"
#include "master/store/event_log.h"
#include "master/store/record_reader.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/message_time.h"
#include "proto/wire/plan_codec.h"
#include "proto/wire/task_codec.h"
#include "tidemark/storage/v1/workflow_log.pb.h"

namespace tidemark::store {

namespace pb = storage::v1;

namespace {

void EncodeRecord(const pb::WorkflowLogRecord& record, LogKey key, std::string& out) {
  EncodeFramed(record.SerializeAsString(), key, out);
}

// The enums of messages and values have equal numbers.
static_assert(static_cast<int>(ChildState::kPending) == v1::CHILD_STATE_PENDING);
static_assert(static_cast<int>(ChildState::kCancelled) == v1::CHILD_STATE_CANCELLED);

void EncodeFacts(const std::string& name, const dag::JobFacts& facts, pb::LoggedWorkflowJob& job) {
  job.set_job_name(name);
  job.set_state(static_cast<v1::ChildState>(facts.state));
  if (facts.started_at) wire::EncodeTime(*facts.started_at, *job.mutable_started_at());
  if (facts.ended_at) wire::EncodeTime(*facts.ended_at, *job.mutable_ended_at());
  job.set_failed_attempts(facts.failed_attempts);
  job.set_message(facts.message);
  if (facts.expected) wire::EncodeDuration(*facts.expected, *job.mutable_expected_time());
}

// The master wrote this log itself, so an invalid value is replaced and causes no error.
absl::Time InstantOf(const google::protobuf::Timestamp& message) {
  return wire::ParseTime(message, "workflow log").value_or(absl::UnixEpoch());
}

dag::JobFacts FactsOf(const pb::LoggedWorkflowJob& job) {
  dag::JobFacts facts = {.failed_attempts = job.failed_attempts(), .message = job.message()};
  if (v1::ChildState_IsValid(job.state()) && job.state() != v1::CHILD_STATE_UNSPECIFIED) {
    facts.state = static_cast<ChildState>(job.state());
  }
  if (job.has_started_at()) facts.started_at = InstantOf(job.started_at());
  if (job.has_ended_at()) facts.ended_at = InstantOf(job.ended_at());
  if (job.has_expected_time()) {
    facts.expected =
        wire::ParseElapsed(job.expected_time(), "workflow log").value_or(absl::ZeroDuration());
  }
  return facts;
}

// The plan was accepted under the limits that applied at that time.
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

absl::StatusOr<PlanChange> ChangeOf(const pb::LoggedChange& record) {
  v1::Plan part;
  *part.mutable_jobs() = record.add_jobs();
  absl::StatusOr<Plan> added = wire::ParsePartOfPlan(part);
  if (!added.ok()) return added.status();
  PlanChange change = {.add_jobs = std::move(added->jobs),
                       .cancel_jobs = {record.cancel_jobs().begin(), record.cancel_jobs().end()},
                       .cancel = record.cancel(),
                       .close = record.close()};
  if (record.has_deadline_at()) change.deadline = InstantOf(record.deadline_at());
  return change;
}

// Replays a record. Returns an error if the record can no longer be applied.
absl::Status Replay(const pb::WorkflowLogRecord& record, dag::LiveWorkflow& live) {
  if (record.has_attached()) {
    return live.Attach(record.attached().job_name(), record.attached().job_id()).status();
  }
  if (record.has_changed()) {
    const absl::StatusOr<PlanChange> change = ChangeOf(record.changed());
    return change.ok() ? live.Update(*change, kNoLimit).status() : change.status();
  }
  if (record.has_tick()) {
    for (const pb::LoggedWorkflowJob& job : record.tick().jobs()) {
      live.RestoreFacts(job.job_name(), FactsOf(job));
    }
    live.RestoreTick(record.tick().sequence(), InstantOf(record.tick().at()),
                     record.tick().fraction_done());
  } else if (record.has_end()) {
    absl::StatusOr<Snapshot> final = wire::ParseSnapshot(record.end().snapshot());
    if (!final.ok()) return final.status();
    if (!final->is_final) return absl::DataLossError("no final snapshot");
    // The record is valid without forecasts.
    auto forecasts = wire::ParseForecasts(record.end().forecasts());
    live.RestoreEnd(*std::move(final),
                    forecasts.ok() ? *std::move(forecasts) : std::vector<PastForecast>());
  }
  return absl::OkStatus();
}

}  // namespace

std::string WorkflowLogPath(const std::string& directory, const std::string& workflow_id) {
  std::string path = EventLogPath(directory, workflow_id);
  path.resize(path.size() - absl::string_view(kEventLogExtension).size());
  return path + kWorkflowLogExtension;
}

void EncodeSubmission(const Plan& plan, const std::string& name_space,
                      const std::string& reported_id, absl::Time at, LogKey key, std::string& out) {
  EncodeStart(kWorkflowLog, key, out);
  pb::WorkflowLogRecord record;
  wire::EncodeTime(at, *record.mutable_submitted()->mutable_at());
  wire::EncodePlan(plan, *record.mutable_submitted()->mutable_plan());
  record.mutable_submitted()->set_name_space(name_space);
  if (reported_id != plan.id) record.mutable_submitted()->set_reported_id(reported_id);
  for (int copies = 0; copies < 2; ++copies) EncodeRecord(record, key, out);
}

void EncodeAttachment(const std::string& job_name, const std::string& job_id, absl::Time at,
                      LogKey key, std::string& out) {
  pb::WorkflowLogRecord record;
  wire::EncodeTime(at, *record.mutable_attached()->mutable_at());
  record.mutable_attached()->set_job_name(job_name);
  record.mutable_attached()->set_job_id(job_id);
  EncodeRecord(record, key, out);
}

void EncodeChange(const PlanChange& change, absl::Time at, LogKey key, std::string& out) {
  pb::WorkflowLogRecord record;
  pb::LoggedChange& changed = *record.mutable_changed();
  wire::EncodeTime(at, *changed.mutable_at());
  v1::Plan added;
  wire::EncodePlan({.jobs = change.add_jobs}, added);
  *changed.mutable_add_jobs() = std::move(*added.mutable_jobs());
  for (const std::string& name : change.cancel_jobs) changed.add_cancel_jobs(name);
  changed.set_cancel(change.cancel);
  changed.set_close(change.close);
  if (change.deadline) wire::EncodeTime(*change.deadline, *changed.mutable_deadline_at());
  EncodeRecord(record, key, out);
}

void EncodeWorkflowTick(const Snapshot& snapshot,
                        const std::vector<std::pair<std::string, dag::JobFacts>>& facts, LogKey key,
                        std::string& out) {
  pb::WorkflowLogRecord record;
  pb::LoggedWorkflowTick& tick = *record.mutable_tick();
  tick.set_sequence(snapshot.sequence);
  wire::EncodeTime(snapshot.at, *tick.mutable_at());
  tick.set_fraction_done(snapshot.estimate.fraction_done);
  for (const auto& [name, of_job] : facts) EncodeFacts(name, of_job, *tick.add_jobs());
  EncodeRecord(record, key, out);
}

void EncodeWorkflowEnd(const Snapshot& final, const std::vector<PastForecast>& forecasts,
                       LogKey key, std::string& out) {
  pb::WorkflowLogRecord record;
  wire::EncodeForecasts(forecasts, *record.mutable_end()->mutable_forecasts());
  wire::EncodeSnapshot(final, *record.mutable_end()->mutable_snapshot());
  EncodeRecord(record, key, out);
}

absl::StatusOr<RestoredWorkflow> RestoreWorkflow(const std::string& path,
                                                 const dag::LiveWorkflowOptions& options) {
  auto opened = RecordReader::Open(path, kWorkflowLog);
  if (!opened.ok()) return opened.status();
  RecordReader& records = **opened;
  const auto unusable = [&](const char* why) {
    return absl::DataLossError(fmt::format("workflow log {}: {}", path, why));
  };
  std::optional<RestoredWorkflow> restored;
  std::vector<LogDamage> damages;
  absl::Status torn;
  LogDamage copy;  // damage in the second copy of the submission
  pb::WorkflowLogRecord record;
  while (true) {
    const absl::StatusOr<RecordReader::Found> found = records.Next();
    if (!found.ok() && !absl::IsDataLoss(found.status())) return found.status();
    if (!found.ok()) torn = found.status();
    if (!found.ok() || *found == RecordReader::Found::kEnd) break;
    const absl::string_view payload = records.payload();
    const bool is_record = *found == RecordReader::Found::kRecord;
    if (!is_record || !record.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ||
        (restored && !Replay(record, restored->live).ok())) {
      const std::uint64_t bytes = kFrameBytes + payload.size();
      damages.push_back(is_record
                            ? RecordReader::DamageOf(records.offset() - bytes, bytes, /*records=*/1)
                            : records.damage());
      // Before the submission, only its first copy can be damaged.
      const LogDamage& damage = damages.back();
      const bool is_copy = damage.at == copy.at && damage.bytes == copy.bytes;
      if (!restored || is_copy) damages.back() = {.at = damage.at, .bytes = damage.bytes};
      if (restored) restored->live.NoteDamage(damages.back());
      continue;
    }
    if (restored) continue;
    if (!record.has_submitted()) break;
    absl::StatusOr<Plan> plan = wire::ParsePartOfPlan(record.submitted().plan());
    if (!plan.ok()) return unusable("its plan cannot be read");
    if (!dag::CheckWorkflow(*plan, kNoLimit).ok()) return unusable("its plan is invalid");
    copy = {.at = records.offset(), .bytes = kFrameBytes + payload.size()};
    const absl::Time submitted_at = InstantOf(record.submitted().at());
    const std::string& reported_id = record.submitted().reported_id();
    std::string reported = reported_id.empty() ? plan->id : reported_id;
    restored.emplace(
        RestoredWorkflow{.live = dag::LiveWorkflow(*std::move(plan), submitted_at, options),
                         .submitted_at = submitted_at,
                         .name_space = record.submitted().name_space(),
                         .reported_id = std::move(reported),
                         .key = records.key(),
                         .damages = {},
                         .torn = absl::OkStatus()});
  }
  if (!restored) return unusable("ends before its plan");
  restored->log_bytes = records.offset();
  restored->damages = std::move(damages);
  restored->torn = std::move(torn);
  return *std::move(restored);
}

}  // namespace tidemark::store
