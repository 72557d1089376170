// Exit codes of the command.
#pragma once

#include "absl/status/status.h"

namespace tidemark::cli {

enum ExitCode : int {
  kSuccess = 0,
  kJobFailed = 1,          // or was killed or abandoned; or output was lost
  kUsage = 2,              // an option, a file, or a plan that the master refuses
  kMasterUnreachable = 3,  // or it does not answer, or has no room for the call
  kLogTorn = 4,            // or damaged; all that can be read was shown
  kNotFound = 5,           // no such job or application
  kDenied = 6,             // the master wants another token or certificate
  kTimeLimit = 7,          // of --timeout
  kInterrupted = 130,      // as shells report it: 128 + SIGINT
  kReaderGone = 141,       // 128 + SIGPIPE
};

// The code for an error of a call to a master.
inline ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kSuccess;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      return kUsage;
    case absl::StatusCode::kNotFound:
      return kNotFound;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kDenied;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    default:
      return kMasterUnreachable;
  }
}

// Of a job that this command was to run.
inline ExitCode ExitCodeOfRun(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kSuccess;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    case absl::StatusCode::kUnavailable:
      return kMasterUnreachable;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
      return kUsage;
    default:
      return kJobFailed;
  }
}

}  // namespace tidemark::cli
