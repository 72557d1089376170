// Asks a master, and reports what went wrong.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "cli/command_line.h"
#include "cli/exit_code.h"
#include "tidemark/client.h"

namespace tidemark::cli {

// Calls `ask` with the master and returns its exit code, or that of its error, which is told.
int AtMaster(const MasterArguments& arguments,
             const std::function<absl::StatusOr<int>(const Client&)>& ask);

// What a job, or with `query` that one of it, waited for; else in a few words why the master does
// not say.
absl::StatusOr<Explanation> WaitsOf(const std::string& job_id, const std::string& query,
                                    const Client& master, std::stop_token stop = {});

// Says that the master has no such job, and which was meant or is there. kNotFound.
ExitCode NoSuchJob(const std::string& job_id, const Client& master);

}  // namespace tidemark::cli
