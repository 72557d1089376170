// Keeps a second master out of a data directory.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace tidemark::service {

// Held as long as the object lives; the end of the process frees it in any case.
class DirectoryLock {
 public:
  // Unavailable: another process holds it. Other errors: the directory cannot be used.
  static absl::StatusOr<DirectoryLock> Take(const std::string& directory);

  DirectoryLock() = default;  // of nothing
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace tidemark::service
