// The disk under a journal: files that grow, and a promise that what was written stays. An
// interface so that tests can fill it, break it and pull its plug.
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
  // Writes all of `bytes` at `offset`: the end, or earlier to repeat what failed.
  // ResourceExhausted: the disk is full. After an error any part of them may be there.
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
  // Free space for the directory, in bytes. Thread-safe.
  virtual absl::StatusOr<std::uint64_t> FreeBytes(const std::string& directory) = 0;
  // Returns OK once everything written to `files`, all opened by this disk, survives a loss of
  // power.
  virtual absl::Status Sync(const std::vector<AppendFile*>& files) = 0;
};

// Returns the file system as a disk. It makes files that only their owner may read, and locks each
// file that it opens until the file is closed, which leaves each file one writer among all
// processes. One fdatasync for each file, or one syncfs for many. With `sync` false the operating
// system decides when to write: a crash of the host, unlike one of the process, may then lose the
// newest bytes.
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

// Creates an empty file that only its owner may read, unless there is one of that name, for
// a writer that uses it by other means. Errors are left for that writer to report.
void MakePrivateFile(const std::string& path);

}  // namespace tidemark::store
