// Checks whether a master with given settings runs or could run (`tidemark doctor`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "serve/config/serve_config.h"
#include "tidemark/client_security.h"

namespace tidemark::serve {

struct Finding {
  enum class Verdict : std::uint8_t { kOk, kWarning, kFailure };
  Verdict verdict = Verdict::kOk;
  std::string subject;  // a setting or section, such as "data_dir"
  std::string text;     // may contain text of files and of other programs
};

// Reads the settings as LoadServeConfig() does and passes each finding to `report`, in order and
// without delay. Returns false if any finding is a failure. `security` identifies the caller to a
// running master. Blocks for about ten seconds if a server does not answer.
bool Diagnose(const std::string& config_file, const std::vector<SettingOverride>& overrides,
              const ClientSecurity& security, const std::function<void(const Finding&)>& report);

// The identity of a file in the kernel.
struct FileId {
  unsigned device_major = 0;
  unsigned device_minor = 0;
  std::uint64_t inode = 0;
};

// Returns the process that has locked the file. `locks` is the text of /proc/locks. Pure.
std::optional<std::int64_t> LockHolder(const std::string& locks, const FileId& file);

// Returns the process that holds a master's lock on the data directory. Takes no lock itself, which
// would keep a master out. Returns nullopt if no process holds it or if the kernel does not show
// it. The kernel shows no processes of other containers, and no locks on file systems whose files
// have other devices than their mounts (btrfs).
std::optional<std::int64_t> LockHolderOf(const std::string& data_dir);

// Returns true if the process was stopped, as by SIGSTOP or Ctrl-Z. Returns false if this is
// unknown.
bool IsStopped(std::int64_t process);

}  // namespace tidemark::serve
