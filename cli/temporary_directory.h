// A directory that is removed with its owner.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace tidemark::cli {

class TemporaryDirectory {
 public:
  // A new one below the system's place for such; the message of an error names it.
  static absl::StatusOr<TemporaryDirectory> Create();
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved away
};

// Creates the directory that an option or a setting names, if it names one and it is not there.
// InvalidArgument begins with `name` and says why.
absl::Status CreateDirectory(const std::string& name, const std::string& directory);

}  // namespace tidemark::cli
