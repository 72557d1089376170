// Zip archives of event logs, as the history server of Spark hands them out.
//
// A file in an archive is named ARCHIVE!/NAME wherever a file of a log is named.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::spark {

// Returns whether the file begins as a zip archive does, and false if it cannot be read.
bool IsArchive(const std::string& path);

// Returns whether the name is that of a file in an archive.
bool IsInArchive(const std::string& file);

// Returns the names of the files in an archive, without folders, at most kArchivedFilesMax.
// DataLoss: the archive is damaged.
inline constexpr std::size_t kArchivedFilesMax = 100'000;
absl::StatusOr<std::vector<std::string>> FilesInArchive(const std::string& path);

// The bytes of one file in an archive. Not thread-safe.
class ArchivedFile {
 public:
  // REQUIRES: IsInArchive(file). Errors name the file: NotFound, DataLoss, Unimplemented (it is
  // encrypted, or packed in a way that is not read).
  static absl::StatusOr<std::unique_ptr<ArchivedFile>> Open(const std::string& file);
  ~ArchivedFile();
  ArchivedFile(const ArchivedFile&) = delete;
  ArchivedFile& operator=(const ArchivedFile&) = delete;

  // Appends the next bytes, at most `size`; none at the end. DataLoss: it is damaged from here on.
  absl::Status Read(std::size_t size, std::string& out);

 private:
  struct Impl;
  explicit ArchivedFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::spark
