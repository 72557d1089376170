// What the command tells the shell.
#pragma once

namespace tidemark::cli {

enum ExitCode : int {
  kSuccess = 0,
  kJobFailed = 1,  // or was killed or abandoned; or output was lost
  kUsage = 2,      // an option, a file or a job that does not exist
  kMasterUnreachable = 3,
  kLogTorn = 4,        // or damaged; all that can be read was shown
  kInterrupted = 130,  // as shells report it: 128 + SIGINT
  kReaderGone = 141,   // 128 + SIGPIPE
};

}  // namespace tidemark::cli
