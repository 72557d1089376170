// Asks a master, over gRPC, and waits for the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/client_security.h"
#include "tidemark/snapshot.h"

namespace grpc {
class ClientContext;
}

namespace tidemark::cli {

// Statuses are the master's own: NotFound (no such job), Unavailable (it cannot be reached or is
// shutting down), ... Thread-safe.
class MasterClient {
 public:
  // Does not connect yet. `address` is host:port or unix:PATH. A file that cannot be used shows in
  // every call.
  explicit MasterClient(const std::string& address, const ClientSecurity& security = {});
  ~MasterClient();
  MasterClient(const MasterClient&) = delete;
  MasterClient& operator=(const MasterClient&) = delete;

  const std::string& address() const { return address_; }

  // Whether it is a master in good health: grpc.health.v1 of its IngestService. It wants no token.
  // NotFound or Unimplemented: what answers is no master.
  absl::StatusOr<bool> TakesReports() const;
  // Cancelled: `stop` is requested before the answer is there.
  absl::StatusOr<Snapshot> GetJob(const std::string& job_id, std::stop_token stop = {}) const;
  // All of them, newest job first. Cancelled: likewise.
  absl::StatusOr<std::vector<Snapshot>> ListJobs(std::stop_token stop = {}) const;
  // Calls `on_snapshot` with each snapshot after `after_sequence` until the final one (OK), until
  // it returns false or `stop` is requested (Cancelled), or until the master goes away. With a
  // `run_uid` only that run of the job; NotFound: the id names another.
  absl::Status WatchJob(const std::string& job_id, const std::string& run_uid,
                        std::uint64_t after_sequence,
                        const std::function<bool(const Snapshot&)>& on_snapshot,
                        std::stop_token stop = {}) const;

 private:
  struct Stub;
  // OK if the call may be made, with its token.
  absl::Status Prepare(grpc::ClientContext& context) const;

  const std::string address_;
  const ClientSecurity security_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace tidemark::cli
