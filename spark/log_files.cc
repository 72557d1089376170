#include "spark/log_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"

namespace tidemark::spark {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "eventlog_v2_";
constexpr std::string_view kFile = "events_";
constexpr std::string_view kCompacted = ".compact";

struct Part {
  std::uint64_t number = 0;
  bool is_compacted = false;
  std::string path;
};

std::optional<Part> PartAt(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kFile)) return std::nullopt;
  Part part = {.is_compacted = name.ends_with(kCompacted), .path = path.string()};
  const char* const from = name.data() + kFile.size();
  const auto [end, error] = std::from_chars(from, name.data() + name.size(), part.number);
  if (error != std::errc() || end == name.data() + name.size() || *end != '_') return std::nullopt;
  return part;
}

}  // namespace

bool IsRollingLog(const std::string& path) {
  std::error_code error;
  return fs::path(path).filename().string().starts_with(kFolder) && fs::is_directory(path, error);
}

std::optional<std::string> FileAfter(const std::string& file) {
  const std::optional<Part> read = PartAt(file);
  if (!read) return std::nullopt;
  std::optional<Part> next;
  std::error_code error;
  const fs::path folder = fs::path(file).parent_path();
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::optional<Part> part = PartAt(at->path());
    if (!part || part->number <= read->number) continue;
    if (!next || part->number < next->number) next = std::move(part);
  }
  if (!next) return std::nullopt;
  return next->path;
}

absl::StatusOr<std::vector<std::string>> FilesOfLog(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return absl::NotFoundError(fmt::format("there is no {}", path));
  if (fs::is_regular_file(status)) return std::vector<std::string>{path};
  if (!fs::is_directory(status)) {
    return absl::InvalidArgumentError(
        fmt::format("{} is neither a file nor a folder; pass an event log of Spark", path));
  }
  std::vector<Part> parts;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (auto part = PartAt(at->path())) parts.push_back(*std::move(part));
  }
  if (error) {
    return absl::InvalidArgumentError(fmt::format("cannot read {}: {}", path, error.message()));
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::pair(a.number, !a.is_compacted) < std::pair(b.number, !b.is_compacted);
  });
  const auto compacted = std::find_if(parts.rbegin(), parts.rend(),
                                      [](const Part& part) { return part.is_compacted; });
  if (compacted != parts.rend()) {
    const Part from = *compacted;
    std::erase_if(parts, [&](const Part& part) {
      return part.number < from.number || (part.number == from.number && !part.is_compacted);
    });
  }
  if (parts.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "cannot read {}: Is a directory, but no event log of Spark: it has no files events_N_...",
        path));
  }
  std::vector<std::string> files;
  for (Part& part : parts) files.push_back(std::move(part.path));
  return files;
}

}  // namespace tidemark::spark
