// Files that a user names, most of a few kilobytes, which others may replace at any time:
// certificates, keys, tokens, settings.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::transport {

// A bundle of all public authorities takes a quarter of it.
inline constexpr std::size_t kSmallFileBytesMax = std::size_t{1} << 20;

// The contents of `path` without a byte order mark of UTF-8, and without ever waiting: what is no
// regular file is refused. NotFound, PermissionDenied, InvalidArgument (larger than
// kSmallFileBytesMax, empty); the message begins with the path and holds nothing of the contents.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

// OK if ReadSmallFile() could read it, were it not too large: a regular file with something in it.
absl::Status CheckRegularFile(const std::string& path);

// OK if no user of this host but its owner and its group may read or write the file, or if there is
// none. InvalidArgument: which file it is, and the command that mends it.
absl::Status CheckSecretFile(const std::string& path);

// Changes when the file does: another time of change, size or file under the name. 0: there is
// none.
std::size_t FileVersion(const std::string& path);

}  // namespace tidemark::transport
