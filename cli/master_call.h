// Queries a master on behalf of a command, and converts the result to exit codes and error
// messages.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "cli/commands.h"
#include "tidemark/client.h"

namespace tidemark::cli {

enum ExitCode : int {
  kSuccess = 0,
  kJobFailed = 1,          // the job failed, was killed or was abandoned, or output was lost
  kUsage = 2,              // a wrong option or file, or a plan that the master rejects
  kMasterUnreachable = 3,  // the master is unreachable, does not answer, or lacks resources
  kLogTorn = 4,            // the log is torn or damaged; all readable events were shown
  kNotFound = 5,           // no such job or application
  kDenied = 6,             // the master requires another token or certificate
  kTimeLimit = 7,          // --timeout expired
  kInterrupted = 130,      // 128 + SIGINT, as shells report it
  kReaderGone = 141,       // 128 + SIGPIPE
};

// Returns the exit code for an error of a call to a master.
ExitCode ExitCodeOf(const absl::Status& status);

// Returns the exit code for a job that this command ran.
ExitCode ExitCodeOfRun(const absl::Status& status);

// Calls `ask` with the master and returns its exit code. On an error, prints its message and
// returns the error's exit code.
int AtMaster(const MasterArguments& arguments,
             const std::function<absl::StatusOr<int>(const Client&)>& ask);
// Like AtMaster() above, for a subject that was not found as a file and may be a job. If the master
// is unavailable, the message also states that the subject is not a file, unless it is empty.
int AtMaster(const MasterArguments& arguments, const std::string& subject,
             const std::function<absl::StatusOr<int>(const Client&)>& ask);

// Returns the message of a failed call without the text that gRPC adds.
std::string ReasonOf(const absl::Status& status);

// Returns why the call to the master at the address failed, and a remedy.
std::string DescribeMasterError(const std::string& address, const absl::Status& status);

// Returns the waits of a job, or of one of its queries. The message of an error is short.
absl::StatusOr<Explanation> WaitsOf(const std::string& job_id, const std::string& query,
                                    const Client& master, std::stop_token stop = {});

// Prints that the master has no such job, and similar or existing ids. Returns kNotFound.
ExitCode NoSuchJob(const std::string& job_id, const Client& master);
// Prints that there is neither such a file nor such a job, and similar or existing ids. Returns
// kNotFound.
ExitCode NoSuchFileOrJob(const std::string& subject, const Client& master);

// Prefix of the feature by which a master announces the address of its page.
inline constexpr const char* kPageFeature = "page=";

// Returns the address of a job's page, such as "http://127.0.0.1:7412/#/jobs/my-job". Returns an
// empty string if the master has no page or does not answer, or if this host cannot reach the page.
std::string PageOfJob(const ServerInfo& server, const std::string& master_address,
                      const std::string& job_id);
std::string PageOfJob(const Client& master, const std::string& job_id);

}  // namespace tidemark::cli
