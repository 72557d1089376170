// Functions and classes that read and write files. Errors contain the path and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::examples {

// Returns an error such as "cannot open PATH: No such file or directory", with the status code for
// `error`.
absl::Status FileError(std::string_view action, const std::string& path, int error);

// Returns the status with "WHERE: " before its message.
absl::Status Annotate(const absl::Status& status, std::string_view where);

// Owns a file descriptor and closes the file in its destructor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// A file open for reading at any offset.
class InputFileHandle {
 public:
  static absl::StatusOr<InputFileHandle> Open(const std::string& path);
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Reads exactly `size` bytes. Fails if the file ends earlier.
  absl::Status ReadAt(std::uint64_t offset, char* data, std::size_t size) const;

 private:
  InputFileHandle(Descriptor file, std::string path, std::uint64_t size);
  Descriptor file_;
  std::string path_;
  std::uint64_t size_ = 0;
};

// Writes a new file sequentially through a buffer. After the first error, further writes have no
// effect.
class FileWriter {
 public:
  static absl::StatusOr<FileWriter> Create(const std::string& path);

  void Append(std::string_view bytes) {
    if (bytes.size() <= buffer_.capacity() - buffer_.size()) {
      buffer_.append(bytes);
    } else {
      AppendSlowly(bytes);
    }
  }
  // Returns the number of appended bytes.
  std::uint64_t size() const { return written_ + buffer_.size(); }
  const absl::Status& status() const { return status_; }
  absl::Status Close();

 private:
  FileWriter(Descriptor file, std::string path);
  void AppendSlowly(std::string_view bytes);
  void Write(std::string_view bytes);

  Descriptor file_;
  std::string path_;
  std::string buffer_;
  std::uint64_t written_ = 0;
  absl::Status status_;
};

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
absl::Status WriteWholeFile(const std::string& path, std::string_view bytes);
// Joins the parts with '/', such as `.../_temporary/m-3.0/output`.
std::string PathOf(std::string_view directory, std::string_view name);
absl::Status MakeDirectories(const std::string& path);
absl::Status Rename(const std::string& from, const std::string& to);

}  // namespace tidemark::examples
