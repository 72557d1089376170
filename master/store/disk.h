// The disk under a journal: files that grow and become durable. It is an interface so that tests
// can simulate a full disk, faults and a loss of power.
//
// Not thread-safe unless stated otherwise: one thread writes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tidemark::store {

class AppendFile {
 public:
  virtual ~AppendFile() = default;
  // Writes all of `bytes` at `offset`: at the end, or earlier to repeat a failed write.
  // ResourceExhausted: the disk is full. After an error, any part of them may be written.
  virtual absl::Status WriteAt(std::uint64_t offset, absl::string_view bytes) = 0;
};

class Disk {
 public:
  virtual ~Disk() = default;
  // Creates an empty file, which replaces any file of that name. Unavailable: it is being written.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Create(const std::string& path) = 0;
  // Opens an existing file and keeps its contents. Unavailable: it is being written.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Open(const std::string& path) = 0;
  // Returns OK if there is no such file. Unavailable: it is being written.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Returns the free space for the directory, in bytes. Thread-safe.
  virtual absl::StatusOr<std::uint64_t> FreeBytes(const std::string& directory) = 0;
  // Returns OK after all data written to `files`, which this disk has opened, survives a loss of
  // power.
  virtual absl::Status Sync(const std::vector<AppendFile*>& files) = 0;
};

// Returns the file system as a disk. Only their owner may read its files. It locks each open file,
// so that one process writes it at a time. It calls fdatasync for each file, or syncfs for many. If
// `sync` is false, the operating system decides when to write: a crash of the host, unlike one of
// the process, may then lose the newest bytes.
std::unique_ptr<Disk> MakeFileDisk(bool sync);

// Opens a file for writing with the flags and the mode of open() and locks it as such a disk does.
// Returns a descriptor that the caller closes, which releases the lock. Locks belong to the open
// file description: closing another descriptor of the file releases none. Devices, pipes and file
// systems without locks are opened without one. Unavailable: the file is being written.
absl::StatusOr<int> OpenForWriting(const std::string& path, int flags, mode_t mode = 0);

// Returns OK if no process writes the file through OpenForWriting() or such a disk. Unavailable
// names the process that does.
absl::Status CheckNotWritten(const std::string& path);

// Returns the process that writes the file through OpenForWriting() or such a disk. Returns nullopt
// if no process does or the file system has no locks, and 0 if the process is not visible here.
std::optional<pid_t> WriterOf(const std::string& path);

// Returns a process that holds a lock on the file, or 0 if none is visible here. Reads /proc.
pid_t LockHolderOf(const std::string& path);

// Creates an empty file that only its owner may read, unless it exists, for a writer that opens it
// by other means. Ignores errors: the writer will report them.
void MakePrivateFile(const std::string& path);

// Keeps a second master out of a data directory. The lock is held while the object exists and the
// process runs.
class DirectoryLock {
 public:
  // Unavailable: another process holds the lock. Other errors: the directory cannot be used.
  static absl::StatusOr<DirectoryLock> Acquire(const std::string& directory);

  DirectoryLock() = default;  // holds no lock
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace tidemark::store
