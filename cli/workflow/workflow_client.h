// Asks a master about workflows, over gRPC, and waits for the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/follow.h"
#include "tidemark/client_security.h"
#include "tidemark/workflow.h"

namespace tidemark::cli {

using WorkflowFollowCalls = BasicFollowCalls<WorkflowSnapshot>;

// Statuses are the master's own. Thread-safe.
class WorkflowClient {
 public:
  // Does not connect yet. A file that cannot be used shows in every call.
  explicit WorkflowClient(const std::string& address, const ClientSecurity& security = {});
  ~WorkflowClient();
  WorkflowClient(const WorkflowClient&) = delete;
  WorkflowClient& operator=(const WorkflowClient&) = delete;

  const std::string& address() const { return address_; }

  // Whether the master has a workflow of that id, running or ended.
  absl::StatusOr<bool> Knows(const std::string& workflow_id) const;
  absl::Status Submit(const WorkflowSpec& workflow) const;
  absl::Status Attach(const std::string& workflow_id, const std::string& job_name,
                      const std::string& job_id) const;
  // What would be of a workflow nobody has submitted. 0 slots, a data factor of 1: as it says.
  absl::StatusOr<WorkflowSnapshot> Estimate(const WorkflowSpec& workflow, std::uint32_t slots,
                                            double data_factor) const;
  // Calls `on_snapshot` with each snapshot after `after_sequence` until the final one (OK), until
  // it returns false or `stop` is requested (Cancelled), or until the master goes away.
  absl::Status Watch(const std::string& workflow_id, std::uint64_t after_sequence,
                     const std::function<bool(const WorkflowSnapshot&)>& on_snapshot,
                     const std::stop_token& stop = {}) const;
  // The final snapshot, through the master's absences; as FollowJob().
  absl::StatusOr<WorkflowSnapshot> Follow(const std::string& workflow_id,
                                          const FollowOptions& options,
                                          const WorkflowFollowCalls& calls,
                                          const std::stop_token& stop = {}) const;

 private:
  struct Stub;
  template <typename Request, typename Response, typename Call>
  absl::Status Ask(const Request& request, Response& response, Call call) const;

  const std::string address_;
  const ClientSecurity security_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace tidemark::cli
