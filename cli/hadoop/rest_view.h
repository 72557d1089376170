// Fetches and parses the answers of Hadoop's web services: the resource manager's
// /ws/v1/cluster/apps and the application master's /ws/v1/mapreduce/jobs.
//
// Missing fields, and fields of another type, keep their defaults, since versions differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::cli {

// An HTTP client for web services. Reuses one connection while it works. Not thread-safe.
class WebClient {
 public:
  WebClient();
  ~WebClient();
  WebClient(const WebClient&) = delete;
  WebClient& operator=(const WebClient&) = delete;

  // Returns the JSON response to GET, at most 64 MiB and within ten seconds. Follows up to five
  // redirections, which standby resource managers send, but none from https to http. Fails with
  // NotFound for status 404 or 410, and with PermissionDenied for 401 or 403. Fails with
  // Unavailable for any other status but 200, no response, a protocol other than HTTP, or too many
  // redirections.
  absl::StatusOr<std::string> Get(const std::string& url);

 private:
  struct Handle;
  const std::unique_ptr<Handle> handle_;
};

// An application, as the resource manager reports it.
struct RestApplication {
  std::string name;
  std::string type;          // such as "MAPREDUCE"; empty if not reported
  std::string queue;         // empty if not reported
  std::string state;         // YARN's term, such as "ACCEPTED"
  std::string final_status;  // YARN's term, such as "UNDEFINED"
  bool is_over = false;
  JobOutcome outcome = JobOutcome::kUnknown;  // valid if is_over
  std::string diagnostics;
  std::optional<absl::Time> started_at;  // submission time
  std::optional<absl::Time> finished_at;
};

struct RestJob {
  std::string id;
  std::string name;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> finished_at;
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  std::string state;                  // Hadoop's term, such as "INITED"
  std::optional<JobOutcome> outcome;  // empty while the job runs
  std::string diagnostics;
};

enum class RestState : std::uint8_t { kWaiting, kRunning, kSucceeded, kFailed, kKilled };

struct RestAttempt {
  AttemptId id;
  RestState state = RestState::kWaiting;
  double fraction_done = 0;  // for a reduce attempt, one third each for shuffle, sort and reduce
  std::string host;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> sorted_at;  // for a reduce attempt, the start of its first reduce call
  std::optional<absl::Time> finished_at;
  std::string diagnostics;
};

struct RestTask {
  std::string id;
  std::uint32_t stage = kMapStage;
  std::uint32_t index = 0;
  RestState state = RestState::kWaiting;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> finished_at;
  std::uint32_t successful_attempt = 0;  // valid if the task has succeeded
};

// Returns the first line of diagnostics that is not empty, cut to 300 bytes.
std::string FirstLine(std::string_view text);

// Each function parses one response. Pure. Returns InvalidArgument if the text is not such a
// response.
absl::StatusOr<RestApplication> ParseRestApplication(std::string_view json);
absl::StatusOr<std::vector<RestJob>> ParseRestJobs(std::string_view json);
// Tasks and attempts with invalid ids are omitted.
absl::StatusOr<std::vector<RestTask>> ParseRestTasks(std::string_view json);
absl::StatusOr<std::vector<RestAttempt>> ParseRestAttempts(std::string_view json);

}  // namespace tidemark::cli
