// A command of another program, such as `hadoop jar` or `spark-submit`, whose jobs are shown while
// it runs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/command_line.h"

namespace tidemark::cli {

// What an engine's command needs so that its jobs report.
struct CommandLaunch {
  std::vector<std::string> command;
  std::map<std::string, std::string> variables;  // set anew in its environment
};

// What is the engine's own about it.
struct CommandEngine {
  // What to run so that the jobs report to this master. The folder is empty and lasts as long as
  // the command. An error says what the user has to do.
  std::function<absl::StatusOr<CommandLaunch>(const std::string& master,
                                              const std::string& directory)>
      launch;
  // The ids of jobs that a line of the command names.
  std::function<std::vector<std::string>(std::string_view line)> ids_in;
  // Processes a line of the command. Thread-safe, like the next function.
  std::function<void(std::string_view line)> on_line;
  // Returns how a job ended that did not report its end, in words that follow its name. Called
  // after the command has ended with this exit code.
  std::function<std::string(const std::string& job_id, int exit_code)> ending_of;
  std::string silent_job;  // of one that is named and does not report: where its reasons are
  std::string no_job;      // of a command that succeeded and of which no job reported
};

// Runs the command, with a master of our own unless arguments.master names one, and shows its jobs.
// Returns its exit code, or an ExitCode of ours where it could not be started.
int RunWatched(const WatchedCommandArguments& arguments, const CommandEngine& engine);

}  // namespace tidemark::cli
