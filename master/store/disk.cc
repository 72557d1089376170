#include "master/store/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

namespace tidemark::store {
namespace {

// From this many files on, one syncfs is cheaper than a commit of the file system's journal for
// each.
constexpr std::size_t kSyncAllFrom = 8;

// Other users of the host must not read what agents report.
constexpr mode_t kMode = S_IRUSR | S_IWUSR;

absl::Status SystemError(const std::string& path, const char* doing) {
  return absl::ErrnoToStatus(errno, fmt::format("{}: {}", path, doing));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// For WriterOf(). Where there are no locks, the file is written without. Not flock(), with which
// one process is in its own way when it opens a file twice. The price: this lock is gone as soon as
// this process closes any descriptor of the file, so that a log is not read while it is written.
void ShowThatWeWrite(const FileDescriptor& fd) {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  fcntl(fd.get(), F_SETLK, &whole);
}

class File final : public AppendFile {
 public:
  File(std::string path, FileDescriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status WriteAt(std::uint64_t offset, absl::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written =
          pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return SystemError(path_, "cannot write");
      offset += static_cast<std::uint64_t>(written);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::Status Sync() {
    return fdatasync(fd_.get()) == 0 ? absl::OkStatus() : SystemError(path_, "cannot sync");
  }
  absl::Status SyncFileSystem() {
    return syncfs(fd_.get()) == 0 ? absl::OkStatus() : SystemError(path_, "cannot sync");
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const FileDescriptor fd_;
};

absl::Status SyncDirectory(const std::string& path) {
  const FileDescriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || fsync(directory.get()) != 0) {
    return SystemError(path, "cannot sync the directory");
  }
  return absl::OkStatus();
}

class FileDisk final : public Disk {
 public:
  explicit FileDisk(bool sync) : sync_(sync) {}

  absl::StatusOr<std::unique_ptr<AppendFile>> Create(const std::string& path) override {
    // Truncated: what would be left behind the end of a shorter log reads like its own.
    FileDescriptor fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
    if (fd.get() < 0) return SystemError(path, "cannot create");
    fchmod(fd.get(), kMode);  // of a file that was there; where that is not ours to say, so be it
    ShowThatWeWrite(fd);
    NoteChange(path);
    return std::make_unique<File>(path, std::move(fd));
  }

  absl::StatusOr<std::unique_ptr<AppendFile>> Open(const std::string& path) override {
    FileDescriptor fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0) return SystemError(path, "cannot open");
    ShowThatWeWrite(fd);
    return std::make_unique<File>(path, std::move(fd));
  }

  absl::Status Remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0) {
      return errno == ENOENT ? absl::OkStatus() : SystemError(path, "cannot remove");
    }
    NoteChange(path);
    return absl::OkStatus();
  }

  absl::StatusOr<std::uint64_t> FreeBytes(const std::string& directory) override {
    struct statvfs room {};
    if (statvfs(directory.c_str(), &room) != 0)
      return SystemError(directory, "cannot ask for room");
    return std::uint64_t{room.f_bavail} * room.f_frsize;
  }

  absl::Status Sync(const std::vector<AppendFile*>& files) override {
    if (!sync_ || files.empty()) return absl::OkStatus();
    if (files.size() >= kSyncAllFrom) {
      absl::Status status = static_cast<File*>(files.front())->SyncFileSystem();
      if (status.ok()) changed_directories_.clear();
      return status;
    }
    for (AppendFile* file : files) {
      if (absl::Status status = static_cast<File*>(file)->Sync(); !status.ok()) return status;
    }
    while (!changed_directories_.empty()) {
      if (absl::Status status = SyncDirectory(*changed_directories_.begin()); !status.ok()) {
        return status;
      }
      changed_directories_.erase(changed_directories_.begin());
    }
    return absl::OkStatus();
  }

 private:
  void NoteChange(const std::string& path) {
    changed_directories_.insert(std::filesystem::path(path).parent_path().string());
  }

  const bool sync_;
  std::set<std::string> changed_directories_;  // may hold a change of names that is not synced
};

}  // namespace

std::optional<pid_t> WriterOf(const std::string& path) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (fd.get() < 0 || fcntl(fd.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
    return std::nullopt;
  }
  return lock.l_pid;
}

void MakePrivateFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
}

std::unique_ptr<Disk> MakeFileDisk(bool sync) { return std::make_unique<FileDisk>(sync); }

}  // namespace tidemark::store
