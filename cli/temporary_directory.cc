#include "cli/temporary_directory.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tidemark::cli {

absl::StatusOr<TemporaryDirectory> TemporaryDirectory::Create() {
  std::error_code error;
  std::string pattern = std::filesystem::temp_directory_path(error) / "tidemark-XXXXXX";
  if (!error && mkdtemp(pattern.data()) == nullptr) error.assign(errno, std::generic_category());
  if (error)
    return absl::UnavailableError(
        fmt::format("cannot create temporary directory {}: {}", pattern, error.message()));
  return TemporaryDirectory(std::move(pattern));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

absl::Status CreateDirectory(const std::string& name, const std::string& directory) {
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: cannot create {}: {}", name, directory, error.message()));
}

}  // namespace tidemark::cli
