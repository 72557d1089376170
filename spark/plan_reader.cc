#include "spark/plan_reader.h"

#include <fmt/format.h>

#include <utility>

#include "spark/executed_plans.h"
#include "spark/log_archive.h"
#include "spark/log_files.h"
#include "spark/log_text.h"

namespace tidemark::spark {
namespace {

// Text without a single event of Spark, after which no more is read. bytes
constexpr std::uint64_t kTextWithoutEventsMax = std::uint64_t{1} << 20;

absl::Status NoLog(const std::string& path, const char* why) {
  return absl::InvalidArgumentError(fmt::format("{} is no event log of Spark: {}", path, why));
}

}  // namespace

absl::StatusOr<PlansOfLog> ReadPlans(const std::string& path) {
  absl::StatusOr<std::vector<std::string>> files = FilesOfLog(path);
  if (!files.ok()) return files.status();
  return ReadPlans(LogFiles{.path = path, .files = *std::move(files)});
}

absl::StatusOr<PlansOfLog> ReadPlans(const LogFiles& log) {
  const std::string& path = log.path;
  if (log.files.size() == 1 && IsArchive(log.files.front())) {
    // LogsAt() leaves a damaged archive of a folder as it is.
    const auto archived = FilesInArchive(log.files.front());
    if (!archived.ok()) return archived.status();
  }
  LogText text(log.files, /*follows=*/false);
  ExecutedPlans plans;
  PlansOfLog read;
  const auto remark = [&](std::string sentence) {
    if (!sentence.empty()) read.remarks.push_back(std::move(sentence));
  };
  for (;;) {
    const absl::StatusOr<LogText::Step> step = text.Read();
    if (!step.ok()) {
      if (!absl::IsDataLoss(step.status()) || plans.events() == 0) return step.status();
      read.damage = step.status();
      break;
    }
    if (*step == LogText::Step::kEnd) break;
    if (*step == LogText::Step::kFile) {
      const std::string before = text.file_before();
      if (!before.empty()) remark(CutRemark(before, plans.is_cut(), text.is_cut()));
      if (!before.empty()) plans.EndFile();
      remark(MissingRemark(before, text.file()));
      continue;
    }
    plans.Feed(text.text());
    if (plans.events() == 0 && text.bytes() > kTextWithoutEventsMax) {
      return NoLog(path, "it holds no event");
    }
  }
  if (plans.events() == 0) {
    return NoLog(path, text.bytes() == 0 ? "it is empty" : "it holds no event");
  }
  if (!plans.has_started()) {
    return absl::InvalidArgumentError(
        fmt::format("{} is a part of an event log: the start of the application "
                    "(SparkListenerApplicationStart) is not in it; pass the folder that holds all "
                    "parts",
                    path));
  }
  read.plans = plans.Finish();
  read.run = plans.run();
  read.events = plans.events();
  read.left_out = plans.left_out();
  return read;
}

}  // namespace tidemark::spark
