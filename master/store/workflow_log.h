// The log of one workflow, from which a restarted master continues the workflow. It has the start
// and the frames of event logs (docs/internals/event-log.md), but its own magic.
//
// Encode...() functions append to `out`. O(size of the record).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/forecast/dag/live_workflow.h"
#include "master/store/log_record.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"

namespace tidemark::store {

// 7 instead of 5, since 7 differs in two bits from each of 1, 2 and 4, which earlier versions
// wrote.
inline constexpr LogKind kWorkflowLog = {"workflow log", "TIDEWFL7"};
inline constexpr const char* kWorkflowLogExtension = ".tidemark-workflow";
// Returns the file for a workflow in `directory`, named like in EventLogPath().
std::string WorkflowLogPath(const std::string& directory, const std::string& workflow_id);

// Encodes the beginning of a workflow log, with the submission twice. `name_space` contains
// patterns of the IDs that the submitting caller may report, separated by blanks; empty means all.
// `reported_id` is the id that the jobs of an open workflow report.
void EncodeSubmission(const Plan& plan, const std::string& name_space,
                      const std::string& reported_id, absl::Time at, LogKey key, std::string& out);
void EncodeAttachment(const std::string& job_name, const std::string& job_id, absl::Time at,
                      LogKey key, std::string& out);
void EncodeChange(const PlanChange& change, absl::Time at, LogKey key, std::string& out);
// Encodes a tick. `snapshot` is the newest snapshot, and `facts` contains the new facts by job
// name.
void EncodeWorkflowTick(const Snapshot& snapshot,
                        const std::vector<std::pair<std::string, dag::JobFacts>>& facts, LogKey key,
                        std::string& out);
// Encodes the final snapshot, which replaces its tick, and the past forecasts.
void EncodeWorkflowEnd(const Snapshot& final, const std::vector<PastForecast>& forecasts,
                       LogKey key, std::string& out);

struct RestoredWorkflow {
  dag::LiveWorkflow live;  // newest() has the number and time of the last tick
  absl::Time submitted_at;
  std::string name_space;          // as passed to EncodeSubmission()
  std::string reported_id;         // as passed to EncodeSubmission(), or the id of the plan
  std::uint64_t log_bytes = 0;     // where the log continues; later bytes must be cut off
  LogKey key = LogKey::kNone;      // key with which the log continues
  std::vector<LogDamage> damages;  // unreadable parts, as reported to `live`
  absl::Status torn;               // DataLoss if the bytes after log_bytes are a torn record
};

// Fails with NotFound, PermissionDenied and other codes if the file cannot be opened. Fails with
// InvalidArgument if it is not a workflow log, and with DataLoss if no record is usable.
// O(records).
absl::StatusOr<RestoredWorkflow> RestoreWorkflow(const std::string& path,
                                                 const dag::LiveWorkflowOptions& options);

}  // namespace tidemark::store
