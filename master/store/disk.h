// The disk under a journal, whose files grow and become durable. It is an interface so that tests
// can simulate a full disk, faults and power loss.
//
// Not thread-safe unless stated otherwise. Only one thread writes.
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
  // Writes all of `bytes` at `offset`, which is the end of the file or, when repeating a failed
  // write, an earlier position. Fails with ResourceExhausted if the disk is full. After an error,
  // any part of `bytes` may have been written.
  virtual absl::Status WriteAt(std::uint64_t offset, absl::string_view bytes) = 0;
};

class Disk {
 public:
  virtual ~Disk() = default;
  // Creates an empty file, which replaces any file of the same name. Fails with Unavailable if
  // another process is writing the existing file.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Create(const std::string& path) = 0;
  // Opens an existing file and keeps its contents. Fails with Unavailable if another process is
  // writing it.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Open(const std::string& path) = 0;
  // Returns OK if there is no such file. Fails with Unavailable if a process is writing it.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Returns the free space for the directory, in bytes. Thread-safe.
  virtual absl::StatusOr<std::uint64_t> FreeBytes(const std::string& directory) = 0;
  // Blocks until all data written to `files` survives a power loss. This disk must have opened the
  // files. Returns OK on success.
  virtual absl::Status Sync(const std::vector<AppendFile*>& files) = 0;
};

// Returns the file system as a disk. Only the owner of its files may read them. It locks each open
// file, so that only one process writes it at a time. It calls fdatasync for each file, or syncfs
// for many files. If `sync` is false, the operating system decides when to write. A crash of the
// host, unlike a crash of the process, may then lose the newest bytes.
std::unique_ptr<Disk> MakeFileDisk(bool sync);

// Opens a file for writing with the flags and mode of open(), and locks it like a file disk.
// Returns a descriptor that the caller must close, which releases the lock. Locks belong to the
// open file description, so closing another descriptor of the file does not release them. Devices,
// pipes, and files on file systems without locks are opened without a lock. Fails with Unavailable
// if a process is writing the file.
absl::StatusOr<int> OpenForWriting(const std::string& path, int flags, mode_t mode = 0);

// Returns OK if no process is writing the file through OpenForWriting() or a file disk. Otherwise
// fails with Unavailable and names the process.
absl::Status CheckNotWritten(const std::string& path);

// Returns the process that is writing the file through OpenForWriting() or a file disk. Returns
// nullopt if no process has a lock or the file system has no locks, and 0 if the process is not
// visible here.
std::optional<pid_t> WriterOf(const std::string& path);

// Returns a process that holds a lock on the file, or 0 if no such process is visible here. Reads
// /proc.
pid_t LockHolderOf(const std::string& path);

// Creates an empty file that only its owner may read, unless the file exists. For writers that open
// the file by other means. Ignores errors, which the writer will report.
void MakePrivateFile(const std::string& path);

// Keeps a second master out of a data directory. The lock is held while the object exists and the
// process runs.
class DirectoryLock {
 public:
  // Fails with Unavailable if another process holds the lock. Any other error means that the
  // directory cannot be used.
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
