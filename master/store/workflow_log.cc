#include "master/store/workflow_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "absl/strings/string_view.h"
#include "master/store/event_log.h"
#include "master/store/log_record.h"
#include "master/workflow/check_workflow.h"
#include "proto/wire/message_time.h"
#include "proto/wire/workflow_codec.h"
#include "tidemark/v1/workflow_log.pb.h"

namespace tidemark::store {
namespace {

constexpr absl::string_view kMagic = "TIDEWFL1";

void EncodeRecord(const v1::WorkflowLogRecord& record, std::string& out) {
  EncodeFramed(record.SerializeAsString(), out);
}

void EncodeFacts(const std::string& name, const workflow::JobFacts& facts,
                 v1::LoggedWorkflowJob& job) {
  job.set_job_name(name);
  job.set_state(static_cast<v1::WorkflowJobState>(static_cast<int>(facts.state) + 1));
  if (facts.started_at) wire::EncodeTime(*facts.started_at, *job.mutable_started_at());
  if (facts.ended_at) wire::EncodeTime(*facts.ended_at, *job.mutable_ended_at());
  job.set_failed_attempts(facts.failed_attempts);
  job.set_message(facts.message);
  if (facts.expected) wire::EncodeDuration(*facts.expected, *job.mutable_expected_time());
}

// A log of our own is not a stranger's: what cannot be is left out.
absl::Time InstantOf(const google::protobuf::Timestamp& message) {
  return wire::ParseTime(message, "workflow log").value_or(absl::UnixEpoch());
}

workflow::JobFacts FactsOf(const v1::LoggedWorkflowJob& job) {
  workflow::JobFacts facts = {.failed_attempts = job.failed_attempts(), .message = job.message()};
  const int state = static_cast<int>(job.state()) - 1;
  if (state >= 0 && state <= static_cast<int>(WorkflowJobState::kFailed)) {
    facts.state = static_cast<WorkflowJobState>(state);
  }
  if (job.has_started_at()) facts.started_at = InstantOf(job.started_at());
  if (job.has_ended_at()) facts.ended_at = InstantOf(job.ended_at());
  if (job.has_expected_time()) {
    facts.expected =
        wire::ParseElapsed(job.expected_time(), "workflow log").value_or(absl::ZeroDuration());
  }
  return facts;
}

// Reads one record after the other out of the bytes of a log.
class Records {
 public:
  explicit Records(absl::string_view bytes) : bytes_(bytes), at_(kMagic.size()) {}

  bool Next(v1::WorkflowLogRecord& record) {
    if (at_ == bytes_.size()) return false;
    if (bytes_.size() - at_ < kFrameBytes) return Damaged("torn record");
    const Frame frame = ReadFrame(bytes_.data() + at_);
    if (frame.length > bytes_.size() - at_ - kFrameBytes) return Damaged("torn record");
    const absl::string_view payload = bytes_.substr(at_ + kFrameBytes, frame.length);
    if (LogChecksum(payload) != frame.checksum) return Damaged("wrong checksum");
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      return Damaged("unreadable record");
    }
    at_ += kFrameBytes + frame.length;
    return true;
  }

  std::size_t offset() const { return at_; }
  const char* damage() const { return damage_; }  // null: none

 private:
  bool Damaged(const char* what) {
    damage_ = what;
    return false;
  }

  const absl::string_view bytes_;
  std::size_t at_;
  const char* damage_ = nullptr;
};

void Replay(const v1::WorkflowLogRecord& record, workflow::LiveWorkflow& live) {
  if (record.has_attached()) {
    live.Attach(record.attached().job_name(), record.attached().job_id()).IgnoreError();
  } else if (record.has_tick()) {
    for (const v1::LoggedWorkflowJob& job : record.tick().jobs()) {
      live.RestoreFacts(job.job_name(), FactsOf(job));
    }
    live.RestoreTick(record.tick().sequence(), InstantOf(record.tick().at()),
                     record.tick().fraction_done());
  } else if (record.has_end()) {
    absl::StatusOr<WorkflowSnapshot> final = wire::ParseWorkflowSnapshot(record.end().snapshot());
    if (final.ok() && final->is_final()) live.RestoreEnd(*std::move(final));
  }
}

}  // namespace

std::string WorkflowLogPath(const std::string& directory, const std::string& workflow_id) {
  std::string path = EventLogPath(directory, workflow_id);
  path.resize(path.size() - absl::string_view(kEventLogExtension).size());
  return path + kWorkflowLogExtension;
}

void EncodeSubmission(const WorkflowSpec& workflow, const std::string& name_space, absl::Time at,
                      std::string& out) {
  out.append(kMagic.data(), kMagic.size());
  v1::WorkflowLogRecord record;
  wire::EncodeTime(at, *record.mutable_submitted()->mutable_at());
  wire::EncodeWorkflow(workflow, *record.mutable_submitted()->mutable_workflow());
  record.mutable_submitted()->set_name_space(name_space);
  EncodeRecord(record, out);
}

void EncodeAttachment(const std::string& job_name, const std::string& job_id, absl::Time at,
                      std::string& out) {
  v1::WorkflowLogRecord record;
  wire::EncodeTime(at, *record.mutable_attached()->mutable_at());
  record.mutable_attached()->set_job_name(job_name);
  record.mutable_attached()->set_job_id(job_id);
  EncodeRecord(record, out);
}

void EncodeWorkflowTick(const WorkflowSnapshot& snapshot,
                        const std::vector<std::pair<std::size_t, workflow::JobFacts>>& facts,
                        std::string& out) {
  v1::WorkflowLogRecord record;
  v1::LoggedWorkflowTick& tick = *record.mutable_tick();
  tick.set_sequence(snapshot.sequence);
  wire::EncodeTime(snapshot.at, *tick.mutable_at());
  tick.set_fraction_done(snapshot.fraction_done);
  for (const auto& [index, of_job] : facts) {
    EncodeFacts(snapshot.jobs[index].name, of_job, *tick.add_jobs());
  }
  EncodeRecord(record, out);
}

void EncodeWorkflowEnd(const WorkflowSnapshot& final, std::string& out) {
  v1::WorkflowLogRecord record;
  wire::EncodeWorkflowSnapshot(final, *record.mutable_end()->mutable_snapshot());
  EncodeRecord(record, out);
}

absl::StatusOr<RestoredWorkflow> RestoreWorkflow(const std::string& path,
                                                 const workflow::LiveWorkflowOptions& options) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::ErrnoToStatus(errno == 0 ? ENOENT : errno,
                               fmt::format("workflow log {}: cannot open", path));
  }
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto unusable = [&](const char* why) {
    return absl::DataLossError(fmt::format("workflow log {}: {}", path, why));
  };
  if (absl::string_view(bytes).substr(0, kMagic.size()) != kMagic) {
    return unusable("not a workflow log of this version");
  }
  Records records(bytes);
  v1::WorkflowLogRecord record;
  if (!records.Next(record) || !record.has_submitted()) return unusable("ends before its workflow");
  absl::StatusOr<WorkflowSpec> spec = wire::ParseWorkflow(record.submitted().workflow());
  if (!spec.ok()) return unusable("its workflow cannot be read");
  // It was taken under the limits of its day.
  constexpr workflow::WorkflowLimits kAny = {.jobs_max = std::numeric_limits<std::size_t>::max()};
  if (!workflow::CheckWorkflow(*spec, kAny).ok()) return unusable("its workflow makes no sense");
  const absl::Time submitted_at = InstantOf(record.submitted().at());
  RestoredWorkflow restored{.live = workflow::LiveWorkflow(*std::move(spec), submitted_at, options),
                            .submitted_at = submitted_at,
                            .name_space = record.submitted().name_space(),
                            .damage = absl::OkStatus()};
  while (records.Next(record)) Replay(record, restored.live);
  restored.log_bytes = records.offset();
  if (records.damage() != nullptr) {
    restored.damage = absl::DataLossError(
        fmt::format("workflow log {}: {} at byte {}; everything before it is good", path,
                    records.damage(), records.offset()));
  }
  return restored;
}

}  // namespace tidemark::store
