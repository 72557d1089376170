// Which process has a data directory, where no master answers: one that hangs keeps it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::cli {

// A file, as the kernel names it.
struct FileId {
  unsigned device_major = 0;
  unsigned device_minor = 0;
  std::uint64_t inode = 0;
};

// The process that has locked the file, by the lines of /proc/locks. Pure.
std::optional<std::int64_t> LockHolder(const std::string& locks, const FileId& file);

// The process that holds the lock which a master takes on its data directory. Empty: none does, or
// the host does not tell: of processes of other containers, and on file systems whose files have
// other devices than their mounts (btrfs). Takes no lock itself, which would keep out a master.
std::optional<std::int64_t> HolderOf(const std::string& data_dir);

// Whether somebody has stopped it, as with SIGSTOP or Ctrl-Z. False where that cannot be told.
bool IsStopped(std::int64_t process);

}  // namespace tidemark::cli
