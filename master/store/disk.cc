#include "master/store/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

namespace tidemark::store {

namespace {

namespace fs = std::filesystem;

// With this many files or more, one syncfs is cheaper than committing the file system's journal for
// each file.
constexpr std::size_t kSyncAllFrom = 8;

// Other users of the host must not read the agents' reports.
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

// Returns a lock on a whole file for F_OFD_SETLK and F_OFD_GETLK. These locks belong to the open
// file description, whereas a POSIX lock would be released when this process closes any descriptor
// of the file.
struct flock WholeFile(int type) {
  struct flock whole = {};
  whole.l_type = static_cast<decltype(whole.l_type)>(type);
  whole.l_whence = SEEK_SET;
  return whole;
}

// Returns true if a descriptor of the process in this folder of /proc has a lock on `file`.
bool HasLock(const fs::path& process, const struct stat& file) {
  std::error_code error;
  fs::directory_iterator descriptors(process / "fd", error);
  for (; !error && descriptors != fs::directory_iterator(); descriptors.increment(error)) {
    struct stat open_file {};
    if (stat(descriptors->path().c_str(), &open_file) != 0) continue;
    if (open_file.st_dev != file.st_dev || open_file.st_ino != file.st_ino) continue;
    std::ifstream info(process / "fdinfo" / descriptors->path().filename());
    for (std::string line; std::getline(info, line);) {
      if (line.starts_with("lock:")) return true;
    }
  }
  return false;
}

// Returns OK, or Unavailable with the name of the process that holds the lock.
absl::Status Written(const std::string& path, std::optional<pid_t> writer) {
  if (!writer) return absl::OkStatus();
  const std::string who =
      *writer > 0 ? fmt::format("process {}", *writer) : "another process with an unknown id";
  return absl::UnavailableError(fmt::format("{}: {} is writing to it", path, who));
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
    const absl::StatusOr<int> opened = OpenForWriting(path, O_WRONLY | O_CREAT, kMode);
    if (!opened.ok()) return opened.status();
    FileDescriptor fd(*opened);
    fchmod(fd.get(), kMode);  // An existing file of another owner keeps its mode.
    // Bytes of an earlier, longer log would look like records of this one.
    if (ftruncate(fd.get(), 0) != 0) return SystemError(path, "cannot truncate");
    NoteChange(path);
    return std::make_unique<File>(path, std::move(fd));
  }

  absl::StatusOr<std::unique_ptr<AppendFile>> Open(const std::string& path) override {
    const absl::StatusOr<int> fd = OpenForWriting(path, O_WRONLY);
    if (!fd.ok()) return fd.status();
    return std::make_unique<File>(path, FileDescriptor(*fd));
  }

  absl::Status Remove(const std::string& path) override {
    if (absl::Status free = CheckNotWritten(path); !free.ok()) return free;
    if (unlink(path.c_str()) != 0) {
      return errno == ENOENT ? absl::OkStatus() : SystemError(path, "cannot remove");
    }
    NoteChange(path);
    return absl::OkStatus();
  }

  absl::StatusOr<std::uint64_t> FreeBytes(const std::string& directory) override {
    struct statvfs room {};
    if (statvfs(directory.c_str(), &room) != 0)
      return SystemError(directory, "cannot read its free space");
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
    changed_directories_.insert(fs::path(path).parent_path().string());
  }

  const bool sync_;
  std::set<std::string> changed_directories_;  // may contain unsynced renames or new files
};

}  // namespace

absl::StatusOr<int> OpenForWriting(const std::string& path, int flags, mode_t mode) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) return SystemError(path, (flags & O_CREAT) != 0 ? "cannot create" : "cannot open");
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return fd;
  const struct flock whole = WholeFile(F_WRLCK);
  if (fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES)) return fd;
  close(fd);
  return Written(path, WriterOf(path).value_or(0));
}

absl::Status CheckNotWritten(const std::string& path) { return Written(path, WriterOf(path)); }

std::optional<pid_t> WriterOf(const std::string& path) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock = WholeFile(F_RDLCK);
  if (fd.get() < 0 || fcntl(fd.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
    return std::nullopt;
  }
  // The kernel reports only the process of POSIX locks, which earlier versions of Tidemark use.
  return lock.l_pid >= 0 ? lock.l_pid : LockHolderOf(path);
}

pid_t LockHolderOf(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return 0;
  std::error_code error;
  fs::directory_iterator processes("/proc", error);
  for (; !error && processes != fs::directory_iterator(); processes.increment(error)) {
    const std::string name = processes->path().filename();
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid > 0 && HasLock(processes->path(), file)) return pid;
  }
  return 0;
}

void MakePrivateFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
}

std::unique_ptr<Disk> MakeFileDisk(bool sync) { return std::make_unique<FileDisk>(sync); }

absl::StatusOr<DirectoryLock> DirectoryLock::Acquire(const std::string& directory) {
  const std::string path = directory + "/LOCK";
  DirectoryLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.fd_ < 0) return absl::ErrnoToStatus(errno, fmt::format("{}: cannot open", path));
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    const pid_t holder = store::LockHolderOf(path);
    return absl::UnavailableError(
        fmt::format("data directory {} is in use by another master{}", directory,
                    holder > 0 ? fmt::format(" (process {})", holder) : ""));
  }
  return absl::ErrnoToStatus(errno, fmt::format("{}: cannot lock", path));
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace tidemark::store
