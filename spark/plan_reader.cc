#include "spark/plan_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "spark/executed_plans.h"
#include "spark/log_files.h"
#include "spark/unpacker.h"

namespace tidemark::spark {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// Text without a single event of Spark, after which no more is read. bytes
constexpr std::uint64_t kTextWithoutEventsMax = std::uint64_t{1} << 20;

absl::Status NoLog(const std::string& path, const char* why) {
  return absl::InvalidArgumentError(fmt::format("{} is no event log of Spark: {}", path, why));
}

absl::Status CannotRead(const std::string& path) {
  return absl::UnavailableError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
}

// Adds to `text_bytes` how much text there was.
absl::Status ReadFile(const std::string& path, ExecutedPlans& plans, std::uint64_t& text_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(fmt::format("cannot read {}: Not a regular file", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return CannotRead(path);
  Unpacker unpacker;
  std::string packed(kPieceBytes, '\0');
  std::string text;
  while (file) {
    file.read(packed.data(), static_cast<std::streamsize>(packed.size()));
    if (file.bad()) return CannotRead(path);
    std::string_view left(packed.data(), static_cast<std::size_t>(file.gcount()));
    while (!left.empty()) {
      text.clear();
      const auto taken = unpacker.Unpack(left, text);
      if (!taken.ok()) {
        return absl::Status(taken.status().code(),
                            fmt::format("{}: {}", path, std::string(taken.status().message())));
      }
      left.remove_prefix(*taken);
      text_bytes += text.size();
      plans.Feed(text);
      if (plans.events() == 0 && text_bytes > kTextWithoutEventsMax) {
        return NoLog(path, "it holds no event");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PlansOfLog> ReadPlans(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(fmt::format("cannot read {}: No such file or directory", path));
  }
  if (!std::filesystem::is_directory(path, error) &&
      !std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(fmt::format("cannot read {}: Not a regular file", path));
  }
  const absl::StatusOr<std::vector<std::string>> files = FilesOfLog(path);
  if (!files.ok()) return files.status();
  ExecutedPlans plans;
  PlansOfLog read;
  std::uint64_t text_bytes = 0;
  for (const std::string& file : *files) {
    const absl::Status status = ReadFile(file, plans, text_bytes);
    if (status.ok()) continue;
    if (!absl::IsDataLoss(status) || plans.events() == 0) return status;
    read.damage = status;
    break;
  }
  if (plans.events() == 0) {
    return NoLog(path, text_bytes == 0 ? "it is empty" : "it holds no event");
  }
  read.plans = plans.Finish();
  read.left_out = plans.left_out();
  return read;
}

}  // namespace tidemark::spark
