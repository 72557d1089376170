// Files that a user names and that others may replace at any time: certificates, keys, tokens,
// settings. Most have a few kilobytes.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::transport {

// Limit of a small file. A bundle of all public authorities takes a quarter of it.
inline constexpr std::size_t kSmallFileBytesMax = std::size_t{1} << 20;

// Returns the contents of `path` without a UTF-8 byte order mark. Never blocks, since only regular
// files are read. Fails with NotFound, PermissionDenied, or InvalidArgument if the file is empty
// or larger than kSmallFileBytesMax. The message begins with the path and never quotes the
// contents.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// Returns OK for a regular file that is not empty and can be read.
absl::Status CheckRegularFile(const std::string& path);

// Returns OK if only the owner and the group of the file may read or write it, or if it does not
// exist. Otherwise fails with InvalidArgument, which names the file and the command that corrects
// it.
absl::Status CheckSecretFile(const std::string& path);

// Returns a number that changes with the file's modification time, size or identity. Returns 0 if
// there is no file.
std::size_t FileVersion(const std::string& path);

}  // namespace tidemark::transport
