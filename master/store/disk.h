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
  // Creates an empty file, which replaces any of that name.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Create(const std::string& path) = 0;
  // Opens an existing file and keeps its contents.
  virtual absl::StatusOr<std::unique_ptr<AppendFile>> Open(const std::string& path) = 0;
  // OK if there is no such file.
  virtual absl::Status Remove(const std::string& path) = 0;
  // Free space for the directory, in bytes. Thread-safe.
  virtual absl::StatusOr<std::uint64_t> FreeBytes(const std::string& directory) = 0;
  // Returns OK once everything written to `files`, all opened by this disk, survives a loss of
  // power.
  virtual absl::Status Sync(const std::vector<AppendFile*>& files) = 0;
};

// The file system. Only their owner may read the files it makes, and WriterOf() tells other
// processes who writes them. One fdatasync for each file,
// or one syncfs for many; with `sync` false it is left to the operating system when to write, so
// that a crash of the host, unlike one of the process, may lose what was written last.
std::unique_ptr<Disk> MakeFileDisk(bool sync);

// The process that has the file open through such a disk; this one does not count. Empty: none, or
// it cannot be known, as on file systems without locks. 0: one whose id is not visible here.
std::optional<pid_t> WriterOf(const std::string& path);

// Creates an empty file that only its owner may read, unless there is one of that name, for
// a writer that uses it by other means. Errors are left for that writer to report.
void MakePrivateFile(const std::string& path);

}  // namespace tidemark::store
