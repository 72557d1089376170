#include "examples/local_mapreduce/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"

namespace tidemark::examples {
namespace {

constexpr std::size_t kWriteBufferBytes = std::size_t{256} << 10;

}  // namespace

absl::Status FileError(std::string_view action, const std::string& path, int error) {
  // AlreadyExists is reserved for job ids (run.h), so another code replaces it.
  const absl::StatusCode code =
      error == EEXIST ? absl::StatusCode::kFailedPrecondition : absl::ErrnoToStatusCode(error);
  return absl::Status(
      code, fmt::format("cannot {} {}: {}", action, path, std::generic_category().message(error)));
}

absl::Status Annotate(const absl::Status& status, std::string_view where) {
  const std::string message(status.message());
  return absl::Status(status.code(), fmt::format("{}: {}", where, message));
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<InputFileHandle> InputFileHandle::Open(const std::string& path) {
  // Opening must not wait until a process opens the pipe for writing.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return FileError("open", path, errno);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return FileError("read", path, errno);
  if (S_ISDIR(info.st_mode)) return FileError("read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(fmt::format("cannot read {}: Not a regular file", path));
  }
  return InputFileHandle(std::move(file), path, static_cast<std::uint64_t>(info.st_size));
}

InputFileHandle::InputFileHandle(Descriptor file, std::string path, std::uint64_t size)
    : file_(std::move(file)), path_(std::move(path)), size_(size) {}

absl::Status InputFileHandle::ReadAt(std::uint64_t offset, char* data, std::size_t size) const {
  while (size > 0) {
    const ssize_t got = ::pread(file_.get(), data, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("read", path_, errno);
    if (got == 0) return absl::DataLossError(fmt::format("{} ends before byte {}", path_, offset));
    data += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<FileWriter> FileWriter::Create(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return FileError("create", path, errno);
  return FileWriter(std::move(file), path);
}

FileWriter::FileWriter(Descriptor file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {
  buffer_.reserve(kWriteBufferBytes);
}

void FileWriter::AppendSlowly(std::string_view bytes) {
  Write(buffer_);
  buffer_.clear();
  if (bytes.size() < buffer_.capacity()) {
    buffer_.append(bytes);
  } else {
    Write(bytes);
  }
}

void FileWriter::Write(std::string_view bytes) {
  written_ += bytes.size();
  while (!bytes.empty() && status_.ok()) {
    const ssize_t done = ::write(file_.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      status_ = FileError("write", path_, errno);
    } else {
      bytes.remove_prefix(static_cast<std::size_t>(done));  // continues a short write
    }
  }
}

absl::Status FileWriter::Close() {
  Write(buffer_);
  buffer_.clear();
  // Some file systems report a full disk only when the file is closed.
  if (::close(file_.Release()) != 0 && status_.ok()) {
    status_ = FileError("close", path_, errno);
  }
  return status_;
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(path);
  if (!file.ok()) return file.status();
  std::string bytes(file->size(), '\0');
  if (absl::Status read = file->ReadAt(0, bytes.data(), bytes.size()); !read.ok()) return read;
  return bytes;
}

absl::Status WriteWholeFile(const std::string& path, std::string_view bytes) {
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  if (!file.ok()) return file.status();
  file->Append(bytes);
  return file->Close();
}

std::string PathOf(std::string_view directory, std::string_view name) {
  return fmt::format("{}/{}", directory, name);
}

absl::Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? FileError("create", path, error.value()) : absl::OkStatus();
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return FileError("rename", from, errno);
  return absl::OkStatus();
}

}  // namespace tidemark::examples
