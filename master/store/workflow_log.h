// The log of one workflow: what a master needs to go on with it after it was killed. Its start and
// its frames are those of event logs (docs/event-log.md), with a magic of its own.
//
// Encode...() append to `out` and are functions of their arguments. O(size of the record).
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

// 7 and not 5: two bits from each of 1, 2 and 4, which were written before.
inline constexpr LogKind kWorkflowLog = {"workflow log", "TIDEWFL7"};
inline constexpr const char* kWorkflowLogExtension = ".tidemark-workflow";
// The file for a workflow in `directory`; as EventLogPath().
std::string WorkflowLogPath(const std::string& directory, const std::string& workflow_id);

// The beginning of every such log, with the submission twice. `name_space`: which ids the caller
// that handed it in might report, as patterns with blanks between them; empty: not restricted.
void EncodeSubmission(const Plan& plan, const std::string& name_space, absl::Time at, LogKey key,
                      std::string& out);
void EncodeAttachment(const std::string& job_name, const std::string& job_id, absl::Time at,
                      LogKey key, std::string& out);
void EncodeChange(const PlanChange& change, absl::Time at, LogKey key, std::string& out);
// `snapshot` is the newest; `facts` are new, by name of the job.
void EncodeWorkflowTick(const Snapshot& snapshot,
                        const std::vector<std::pair<std::string, workflow::JobFacts>>& facts,
                        LogKey key, std::string& out);
// The final one was made, in place of its tick.
void EncodeWorkflowEnd(const Snapshot& final, LogKey key, std::string& out);

struct RestoredWorkflow {
  workflow::LiveWorkflow live;  // its newest snapshot has the number and instant of the last tick
  absl::Time submitted_at;
  std::string name_space;          // as EncodeSubmission() was given it
  std::uint64_t log_bytes = 0;     // where the log goes on; what follows is to be cut off
  LogKey key = LogKey::kNone;      // with which it does
  std::vector<LogDamage> damages;  // what could not be read, as `live` was told
  absl::Status torn;               // DataLoss: what comes after log_bytes is a torn record
};

// NotFound, PermissionDenied, ...: the file. InvalidArgument: not such a log. DataLoss: nothing of
// it can be used. O(records).
absl::StatusOr<RestoredWorkflow> RestoreWorkflow(const std::string& path,
                                                 const workflow::LiveWorkflowOptions& options);

}  // namespace tidemark::store
