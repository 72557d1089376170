#include "transport/small_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string_view>

namespace tidemark::transport {
namespace {

// The UTF-8 byte order mark, which editors on Windows write at the start of files.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

absl::Status Trouble(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, path);
}

absl::Status Empty(const std::string& path) {
  return absl::InvalidArgumentError(fmt::format("{}: The file is empty", path));
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

// Returns at most the first `bytes_max` bytes of the file.
absl::StatusOr<std::string> ReadBeginning(const std::string& path, std::size_t bytes_max) {
  const OpenFile file(path);
  if (file.descriptor() < 0) return Trouble(path, errno);
  struct stat facts {};
  if (::fstat(file.descriptor(), &facts) != 0) return Trouble(path, errno);
  if (S_ISDIR(facts.st_mode)) return Trouble(path, EISDIR);
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(fmt::format("{}: Not a regular file", path));
  }
  std::string contents(bytes_max, '\0');
  std::size_t size = 0;
  while (size < contents.size()) {
    const ssize_t read = ::read(file.descriptor(), contents.data() + size, contents.size() - size);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return Trouble(path, errno);
    if (read == 0) break;
    size += static_cast<std::size_t>(read);
  }
  if (size == 0) return Empty(path);
  contents.resize(size);
  return contents;
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  absl::StatusOr<std::string> contents = ReadBeginning(path, kSmallFileBytesMax + 1);
  if (!contents.ok()) return contents;
  if (contents->size() > kSmallFileBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("{}: The file is larger than {} bytes", path, kSmallFileBytesMax));
  }
  if (contents->starts_with(kByteOrderMark)) contents->erase(0, kByteOrderMark.size());
  if (contents->empty()) return Empty(path);
  return contents;
}

absl::Status CheckRegularFile(const std::string& path) { return ReadBeginning(path, 1).status(); }

absl::Status CheckSecretFile(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return absl::OkStatus();
  if ((facts.st_mode & (S_IROTH | S_IWOTH)) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: every user of this host can {} it; run chmod o= {}", path,
                  (facts.st_mode & S_IROTH) != 0 ? "read" : "change", path));
}

std::size_t FileVersion(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return 0;
  return std::hash<std::string>()(fmt::format("{} {} {} {} {}", facts.st_dev, facts.st_ino,
                                              facts.st_size, facts.st_mtim.tv_sec,
                                              facts.st_mtim.tv_nsec));
}

}  // namespace tidemark::transport
