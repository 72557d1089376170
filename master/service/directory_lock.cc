#include "master/service/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "master/store/disk.h"

namespace tidemark::service {

absl::StatusOr<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  const std::string path = directory + "/LOCK";
  DirectoryLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.fd_ < 0) return absl::ErrnoToStatus(errno, fmt::format("{}: cannot open", path));
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    const pid_t holder = store::LockHolderOf(path);
    return absl::UnavailableError(
        fmt::format("data directory {} is in use by another master{}", directory,
                    holder > 0 ? fmt::format(" (process {})", holder) : ""));
  }
  return absl::ErrnoToStatus(errno, fmt::format("{}: cannot lock", path));
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace tidemark::service
