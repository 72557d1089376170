#include "whatif/spark_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "whatif/phases/run_data.h"
#include "whatif/phases/whole_runs.h"
#include "whatif/spark_repeats.h"

namespace tidemark::cli {
namespace {

// Of a stage; more of them would not tell more of their spread.
constexpr std::size_t kTimesMax = 500;
// Of the log of the time, where a parameter has a value that no run had. Taste.
constexpr double kUnknownDeviation = 0.3;

// Times around `mean`, shaped as those of the tasks that ran and are as fresh.
std::vector<absl::Duration> Shaped(double mean, const std::vector<phases::TaskCounters>& ran,
                                   bool is_fresh) {
  std::vector<double> shape;
  double sum = 0;
  for (const phases::TaskCounters& task : ran) {
    if (task.is_fresh != is_fresh || shape.size() >= kTimesMax) continue;
    shape.push_back(task.seconds);
    sum += task.seconds;
  }
  std::vector<absl::Duration> times;
  for (const double seconds : shape) {
    const double part = sum > 0 ? seconds * static_cast<double>(shape.size()) / sum : 1;
    times.push_back(absl::Seconds(mean * part));
  }
  if (times.empty()) times.push_back(absl::Seconds(mean));
  return times;
}

void SetTimes(const phases::ExpectedStage& expected, const std::vector<phases::TaskCounters>& ran,
              PlannedStage& stage) {
  stage.task_count = static_cast<std::uint64_t>(std::max(std::round(expected.tasks), 1.0));
  if (expected.lag_seconds > 0) stage.lag = absl::Seconds(expected.lag_seconds);
  stage.task_times = Shaped(expected.task_seconds, ran, false);
  stage.first_task_times = Shaped(expected.fresh_task_seconds, ran, true);
  stage.fresh_task_times = stage.first_task_times;
  stage.last_task_times.clear();
}

void Reconcile(const phases::ExpectedWhole& whole, OtherRun& other) {
  const auto end = EndOf(other.plan);
  if (!end) return;
  const auto averaged = phases::Average(absl::ToDoubleSeconds(*end), other.deviation, whole);
  if (!averaged) return;
  Stretch(averaged->factor, other.plan);
  other.deviation = averaged->deviation;
}

struct Kin {
  std::vector<SparkRun> runs;
  std::vector<std::string> paths;    // of these
  std::vector<std::string> remarks;  // for people: what is hardly like the first, or left out
};

// Without the runs that are there already, and those that have no stage of the first: of settings
// that are asked about, one of these might lend its plan.
Kin KinOfFirst(std::vector<SparkRun> runs, const std::vector<std::string>& paths) {
  Kin kin;
  std::vector<std::string> repeats;
  const char* how_often = "twice";
  std::vector<std::string> strangers;
  std::vector<std::string> distant;
  const std::vector<std::string> stages = runs[0].signatures;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto is_same = [&](const SparkRun& other) { return IsSameRun(runs[i], other); };
    if (std::ranges::any_of(kin.runs, is_same)) {
      const bool is_new = std::ranges::find(repeats, paths[i]) == repeats.end();
      if (is_new) repeats.push_back(paths[i]);
      if (!is_new) how_often = "more than once";
      continue;
    }
    if (i > 0 && phases::StagesInCommon(runs[i].signatures, stages) == 0) {
      strangers.push_back(paths[i]);
      continue;
    }
    if (!phases::IsOfOneProgram(runs[i].signatures, stages)) distant.push_back(paths[i]);
    kin.runs.push_back(std::move(runs[i]));
    kin.paths.push_back(paths[i]);
  }
  if (!repeats.empty()) {
    kin.remarks.push_back(
        fmt::format("given {}, counts once: {}", how_often, fmt::join(repeats, ", ")));
  }
  if (!strangers.empty()) {
    kin.remarks.push_back(
        fmt::format("no stage of {} is one of {}: taken for another program, not learnt from",
                    fmt::join(strangers, ", "), paths[0]));
  }
  if (!distant.empty()) {
    kin.remarks.push_back(fmt::format(
        "fewer than half of the stages of {} are those of {}: learnt from for what tasks take, not "
        "for whole runs",
        fmt::join(distant, ", "), paths[0]));
  }
  return kin;
}

}  // namespace

absl::StatusOr<SparkRuns> SparkRuns::Learn(std::vector<SparkRun> all,
                                           const std::vector<std::string>& all_paths) {
  Kin kin = KinOfFirst(std::move(all), all_paths);
  std::vector<SparkRun>& runs = kin.runs;
  const std::vector<std::string>& paths = kin.paths;
  std::vector<phases::RanApplication> ran;
  std::vector<double> data_bytes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto settings = SettingsOf(runs[i].measured, {});
    if (!settings.ok()) {
      return absl::Status(
          settings.status().code(),
          fmt::format("{}: {}", paths[i], std::string(settings.status().message())));
    }
    for (const std::string& remark : i > 0 ? settings->of_run : std::vector<std::string>()) {
      kin.remarks.push_back(fmt::format("{}: {}", paths[i], remark));
    }
    ran.push_back({.settings = settings->ran,
                   .stages = StagesOf(runs[i]),
                   .names = runs[i].signatures,
                   .seconds = absl::ToDoubleSeconds(runs[i].took.value_or(absl::ZeroDuration()))});
    data_bytes.push_back(phases::InputBytes(ran.back()));
  }
  auto parameters = SparkParameters::Learn(runs, data_bytes);
  if (!parameters.ok()) return parameters.status();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ran[i].others = parameters->Levels(runs[i].measured.parameters());
  }
  auto models = phases::ManyRuns::Learn(std::move(ran), phases::UsualCosts());
  if (!models.ok()) {
    // A run with metrics tells more about what is wrong than one without.
    const auto with_metrics = std::ranges::find_if(
        runs, [](const SparkRun& run) { return !run.measured.stages().empty(); });
    const auto at = with_metrics == runs.end() ? runs.begin() : with_metrics;
    const absl::Status nothing = NothingToLearn(*at, models.status());
    return absl::Status(nothing.code(),
                        fmt::format("{}: {}", paths[static_cast<std::size_t>(at - runs.begin())],
                                    std::string(nothing.message())));
  }
  SparkRuns learnt(std::move(runs), *std::move(models), *std::move(parameters));
  learnt.remarks_ = std::move(kin.remarks);
  return learnt;
}

absl::StatusOr<OtherRun> SparkRuns::With(const std::map<std::string, std::string>& changes,
                                         double data_factor,
                                         const gray_box::Parameters& parameters) const {
  const auto settings = SettingsOf(runs_[0].measured, changes);
  if (!settings.ok()) return settings.status();
  if (absl::Status numbers = parameters_.Check(parameters); !numbers.ok()) return numbers;
  gray_box::Parameters told = runs_[0].measured.parameters();
  for (const auto& [name, value] : parameters) told[name] = value;
  phases::Asked asked = {
      .settings = settings->other, .data_factor = data_factor, .others = parameters_.Levels(told)};
  const std::size_t like = models_.MostLike(asked);
  asked.fetched = parameters_.Fetched(runs_[like].measured.parameters(), told);
  const SparkRun& base = runs_[like];
  const phases::ExpectedRun expected = models_.On(like, asked);
  const double slots = settings->other.slots();
  OtherRun other = {.plan = base.plan,
                    .slots = static_cast<std::uint32_t>(std::clamp(slots, 1.0, 1e6)),
                    .executors = settings->other.executors,
                    .cores = settings->other.cores(),
                    .deviation = expected.deviation,
                    .binding = phases::NameOf(expected.binding)};
  // Task times are those of these very slots.
  other.plan.cluster.slots = other.slots;
  std::vector<PlannedStage>& stages = other.plan.jobs[0].stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!expected.stages[i].is_known) continue;
    SetTimes(expected.stages[i], base.measured.stages().at(base.numbers[i]).tasks, stages[i]);
  }
  stages = Repeated(std::move(stages), base.works, parameters_.Counts(told));
  if (expected.whole) Reconcile(*expected.whole, other);
  other.remarks = parameters_.Remarks(told);
  if (!other.remarks.empty()) other.deviation = std::max(2 * other.deviation, kUnknownDeviation);
  const auto is_known = [](const phases::ExpectedStage& stage) { return stage.is_known; };
  if (std::ranges::none_of(expected.stages, is_known)) {
    other.binding.clear();
    other.remarks.emplace_back(
        base.measured.stages().empty()
            ? "the run nearest to what is asked has no metrics of tasks: its task times are taken "
              "as they were"
            : "nothing could be learnt from the run nearest to what is asked: its task times are "
              "taken as they were");
  }
  if (!expected.beyond.empty()) {
    other.remarks.push_back(
        fmt::format("beyond all runs that were learnt from: {}", fmt::join(expected.beyond, ", ")));
  }
  if (ArePartitionsOthers(*settings) && !models_.FollowsPartitions()) {
    other.remarks.emplace_back(
        "no stage is known to have as many tasks as spark.sql.shuffle.partitions or "
        "spark.default.parallelism say: all keep their numbers of tasks");
  }
  const std::string remark = RemarkOnUntold(expected.untold);
  if (!remark.empty()) other.remarks.push_back(remark);
  AddUnmodelled(*settings, other);
  other.remarks.insert(other.remarks.end(), remarks_.begin(), remarks_.end());
  return other;
}

}  // namespace tidemark::cli
