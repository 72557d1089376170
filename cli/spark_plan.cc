#include "cli/spark_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "cli/spark_remarks.h"
#include "spark/log_reader.h"
#include "tidemark/job_monitor.h"

namespace tidemark::cli {
namespace {

// As --slots takes them.
constexpr std::uint64_t kSlotsMax = 1'000'000;

std::vector<absl::Duration> TimesOf(const std::vector<double>& seconds) {
  std::vector<absl::Duration> times;
  for (const double time : seconds) times.push_back(absl::Seconds(time));
  return times;
}

// The task times of the first kind that has any.
const std::vector<double>& AnyOf(const std::array<std::vector<double>, 4>& kinds) {
  for (const std::size_t kind : {2, 1, 3, 0}) {
    if (!kinds[kind].empty()) return kinds[kind];
  }
  return kinds[0];
}

PlannedStage StageOf(const StageProfile& ran, const std::string& name) {
  return {.name = name,
          .task_count = ran.tasks,
          .lag = absl::Seconds(ran.lag),
          .task_times = TimesOf(AnyOf(ran.seconds)),
          .first_task_times = TimesOf(ran.seconds[1]),
          .fresh_task_times = TimesOf(ran.seconds[0]),
          .last_task_times = TimesOf(ran.seconds[3])};
}

}  // namespace

bool IsSparkLog(const std::string& path) {
  const auto log = spark::LogReader::Open(path, {});
  if (!log.ok()) return false;
  (*log)->Next().IgnoreError();  // why it cannot be used, whoever uses it is told
  return (*log)->counts().events > 0;
}

absl::StatusOr<SparkLogPlan> PlanOfSparkLog(const std::string& path) {
  const auto log = spark::LogReader::Open(path, {});
  if (!log.ok()) return log.status();
  JobMonitor monitor("log", {});
  Plan plan;
  std::map<std::string, std::string> names;  // for people, by signature
  std::uint64_t refused = 0;
  absl::Time last = absl::InfinitePast();
  for (;;) {
    auto event = (*log)->Next();
    if (!event.ok()) return event.status();
    if (!*event) break;
    if (!monitor.Apply(**event).ok()) ++refused;
    last = (*event)->arrived_at;
    if (const auto* opened = std::get_if<JobOpened>(&(*event)->body)) plan.name = opened->name;
    if (const auto* stage = std::get_if<StageOpened>(&(*event)->body)) {
      names.try_emplace(stage->signature, fmt::format("{} {}", stage->stage, stage->name));
    }
  }
  if (last != absl::InfinitePast()) monitor.Tick(last);
  const RunProfile run = monitor.Summary().stages;
  if (run.stages.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("{}: no task has ended; there is nothing to estimate from", path));
  }
  // Tasks overlap a little in a log, so the most that ran at once is more than there was room for.
  const std::uint64_t slots = (*log)->application().slots_max();
  plan.cluster.slots = slots > 0 ? static_cast<std::uint32_t>(std::min(slots, kSlotsMax))
                                 : static_cast<std::uint32_t>(std::max(std::round(run.slots), 1.0));
  PlannedJob job = {.name = plan.name};
  for (const StageProfile& ran : run.stages) {
    const auto name = names.find(ran.name);
    job.stages.push_back(StageOf(ran, name == names.end() ? ran.name : name->second));
  }
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    for (const std::size_t parent : run.stages[i].parents) {
      job.stages[i].after.push_back(job.stages[parent].name);
    }
  }
  plan.jobs.push_back(std::move(job));
  if (absl::Status makes_sense = CheckPlan(plan); !makes_sense.ok()) return makes_sense;
  return SparkLogPlan{std::move(plan), RemarksOn(**log, refused)};
}

}  // namespace tidemark::cli
