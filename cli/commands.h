// The commands. Each returns an ExitCode.
#pragma once

#include "cli/command_line.h"

namespace tidemark::cli {

int Run(const RunArguments& arguments);
int Serve(const ServeArguments& arguments);
int ListJobs(const JobsArguments& arguments);
int Watch(const WatchArguments& arguments);
int Replay(const ReplayArguments& arguments);

}  // namespace tidemark::cli
