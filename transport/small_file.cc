#include "transport/small_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

namespace tidemark::transport {
namespace {

absl::Status Trouble(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, path);
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  const OpenFile file(path);
  if (file.descriptor() < 0) return Trouble(path, errno);
  struct stat facts {};
  if (::fstat(file.descriptor(), &facts) != 0) return Trouble(path, errno);
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(fmt::format("{}: is no regular file", path));
  }
  std::string contents(kSmallFileBytesMax + 1, '\0');
  std::size_t size = 0;
  while (size < contents.size()) {
    const ssize_t read = ::read(file.descriptor(), contents.data() + size, contents.size() - size);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return Trouble(path, errno);
    if (read == 0) break;
    size += static_cast<std::size_t>(read);
  }
  if (size == 0) return absl::InvalidArgumentError(fmt::format("{}: is empty", path));
  if (size > kSmallFileBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("{}: is larger than {} bytes", path, kSmallFileBytesMax));
  }
  contents.resize(size);
  return contents;
}

std::size_t FileVersion(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return 0;
  return std::hash<std::string>()(fmt::format("{} {} {} {} {}", facts.st_dev, facts.st_ino,
                                              facts.st_size, facts.st_mtim.tv_sec,
                                              facts.st_mtim.tv_nsec));
}

}  // namespace tidemark::transport
