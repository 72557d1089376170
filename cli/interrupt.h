// Ctrl-C.
#pragma once

#include <atomic>

namespace tidemark::cli {

// From now on the first SIGINT, SIGTERM or SIGHUP sets the flag that is returned, and the second
// ends the process at once. Signals that are ignored stay so. For one caller in a process.
const std::atomic<bool>& StopOnInterrupt();

// Writing to a pipe without a reader fails instead of ending the process. Programs started from
// here are not affected.
void SurviveClosedPipes();

}  // namespace tidemark::cli
