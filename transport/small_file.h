// Files that a user names and that may be replaced at any time: certificates, keys, tokens,
// settings. Most are a few kilobytes long.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::transport {

// Maximum size of a small file, four times the size of a bundle of all public authorities.
inline constexpr std::size_t kSmallFileBytesMax = std::size_t{1} << 20;

// Returns the contents of `path` without a UTF-8 byte order mark. Reads only regular files, so it
// never blocks. Fails with NotFound or PermissionDenied. Fails with InvalidArgument if the file is
// empty or larger than kSmallFileBytesMax. The message begins with the path and never quotes the
// contents.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// Returns OK for a readable, regular file that is not empty.
absl::Status CheckRegularFile(const std::string& path);

// Returns OK if only the owner and the group of the file may read or write it, or if it does not
// exist. Otherwise fails with InvalidArgument. The message names the file and the command that
// corrects it.
absl::Status CheckSecretFile(const std::string& path);

// Returns a number that changes with the file's modification time, size or identity. Returns 0 if
// there is no file.
std::size_t FileVersion(const std::string& path);

}  // namespace tidemark::transport
