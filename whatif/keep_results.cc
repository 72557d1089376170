#include "whatif/keep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "spark/executed_plans.h"
#include "spark/log_files.h"
#include "text/counted.h"

namespace tidemark::whatif {
namespace {

// Maximum number of plans of a history.
constexpr std::size_t kPlansMax = 100'000;
// Maximum number of files without a log that are named.
constexpr std::size_t kOthersNamed = 20;

struct History {
  std::vector<advise::PastPlan> plans;
  std::size_t logs = 0;
  std::vector<std::string> warnings;
  bool is_damaged = false;
};

struct ReadLog {
  std::string path;
  spark::PlansOfLog plans;
};

// Adds a log. If an earlier log belongs to the same run, keeps the log with more events.
void AddLog(ReadLog log, std::vector<ReadLog>& logs, std::vector<std::string>& warnings) {
  const auto same = std::ranges::find_if(logs, [&](const ReadLog& other) {
    return !log.plans.run.empty() && other.plans.run == log.plans.run;
  });
  if (same == logs.end()) {
    logs.push_back(std::move(log));
    return;
  }
  if (log.plans.events > same->plans.events) std::swap(log, *same);
  warnings.push_back(
      fmt::format("{}: omitted, since {} is a log of the same run", log.path, same->path));
}

absl::StatusOr<History> ReadHistory(const std::vector<std::string>& paths) {
  History history;
  std::vector<ReadLog> logs;
  std::size_t plans = 0;
  std::size_t others = 0;  // number of files that are not logs
  for (const std::string& path : paths) {
    const auto found = spark::LogsAt(path);
    if (!found.ok()) return found.status();
    if (found->empty()) {
      return absl::InvalidArgumentError(fmt::format("{} contains no Spark event log", path));
    }
    for (const spark::LogFiles& log : *found) {
      if (plans >= kPlansMax) {
        history.warnings.push_back(
            fmt::format("{}: skipped; earlier logs already contain {} plans (maximum: {})",
                        log.path, plans, kPlansMax));
        continue;
      }
      auto read = spark::ReadPlans(log);
      if (!read.ok()) {
        if (found->size() == 1) return read.status();
        if (++others > kOthersNamed) continue;
        history.warnings.push_back(
            fmt::format("not read: {}", std::string(read.status().message())));
        continue;
      }
      plans += read->plans.size();
      AddLog({log.path, *std::move(read)}, logs, history.warnings);
    }
  }
  if (others > kOthersNamed) {
    history.warnings.push_back(
        fmt::format("{} further files were not read", others - kOthersNamed));
  }
  for (ReadLog& log : logs) {
    spark::PlansOfLog& read = log.plans;
    ++history.logs;
    if (!read.damage.ok()) {
      history.is_damaged = true;
      history.warnings.emplace_back(read.damage.message());
    }
    for (const std::string& remark : read.remarks) {
      history.warnings.push_back(fmt::format("{}: {}", log.path, remark));
    }
    if (read.left_out > 0) {
      history.warnings.push_back(fmt::format("{}: {} without an end or with a failure {} omitted",
                                             log.path, text::Counted(read.left_out, "execution"),
                                             read.left_out == 1 ? "is" : "are"));
    }
    std::move(read.plans.begin(), read.plans.end(), std::back_inserter(history.plans));
  }
  return history;
}

}  // namespace

KeepAnswer AdviseFromLogs(const std::vector<std::string>& paths,
                          const advise::AdviceOptions& options) {
  absl::StatusOr<History> history = ReadHistory(paths);
  if (!history.ok()) return {.advice = history.status(), .warnings = {}};
  absl::StatusOr<advise::Advice> advice = advise::Advise(history->plans, options);
  if (!advice.ok()) {
    const std::string logs =
        history->logs == 1 ? "1 log was" : fmt::format("{} logs were", history->logs);
    advice = absl::Status(advice.status().code(),
                          fmt::format("{} read: {}", logs, std::string(advice.status().message())));
  }
  return {.advice = std::move(advice),
          .warnings = std::move(history->warnings),
          .is_damaged = history->is_damaged};
}

}  // namespace tidemark::whatif
