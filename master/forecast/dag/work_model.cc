#include "master/forecast/dag/work_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "master/forecast/dag/expected_job.h"
#include "master/forecast/dag/match_stages.h"

namespace tidemark::workflow {
namespace {

using gray_box::Forecast;

// Features of times, beside the parameters.
constexpr const char* kBytesOfTask = "bytes of a task";
constexpr const char* kSlots = "slots of the run";

}  // namespace

SeenRun SeenIn(const RunProfile& run, std::vector<double> values) {
  SeenRun seen = {.profile = &run, .values = std::move(values)};
  for (const StageProfile& stage : run.stages) {
    if (stage.parents.empty() || !stage.fetches) seen.input_bytes += stage.read_bytes;
    WorkSeen& work = seen.works[WorkKey(stage.work, stage.name)];
    work.stages += 1;
    work.tasks += static_cast<double>(stage.tasks);
    work.read_bytes += stage.read_bytes;
    work.task_seconds += MeanTaskSeconds(stage) * static_cast<double>(stage.tasks);
  }
  for (auto& [key, work] : seen.works) {
    work.task_seconds /= std::max(work.tasks, 1.0);
    work.tasks /= work.stages;
    work.read_bytes /= work.stages;
  }
  return seen;
}

WorkModel::WorkModel(const std::string& work, const std::vector<std::string>& names,
                     const std::vector<SeenRun>& runs)
    : work_(work) {
  std::vector<std::vector<double>> told, told_of_times;
  std::vector<double> tasks, shares, seconds;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const SeenRun& run : runs) {
    const auto seen = run.works.find(work);
    if (seen == run.works.end()) continue;
    least = std::min(least, seen->second.bytes_of_task());
    most = std::max(most, seen->second.bytes_of_task());
  }
  has_bytes_ = least > 0 && most > kAlike * least;
  for (const SeenRun& run : runs) {
    const auto seen = run.works.find(work);
    if (seen == run.works.end()) continue;
    told.push_back(run.values);
    tasks.push_back(seen->second.tasks);
    shares.push_back(run.input_bytes > 0 ? seen->second.read_bytes / run.input_bytes : 0);
    told_of_times.push_back(ForTimes(run.values, seen->second.bytes_of_task(), run));
    seconds.push_back(seen->second.task_seconds);
  }
  tasks_ = PositiveLine(names, told, std::move(tasks));
  if (tasks_.counts()) tasks_.FallTo(1);
  shares_ = PositiveLine(names, told, std::move(shares));
  std::vector<std::string> of_times = names;
  of_times.insert(of_times.end(), {kBytesOfTask, kSlots});
  seconds_ = PositiveLine(of_times, told_of_times, std::move(seconds));
}

Multiplied WorkModel::Now(const SeenRun& run, const std::vector<double>& asked,
                          double input) const {
  const auto seen = run.works.find(work_);
  if (seen == run.works.end()) return {};
  Multiplied by = {.tasks = tasks_.Factor(run.values, asked),
                   .read_bytes = input * shares_.Factor(run.values, asked)};
  by.task_seconds = seconds_.Factor(ForTimes(run.values, seen->second.bytes_of_task(), run),
                                    TimesAsked(run, seen->second, by, asked));
  return by;
}

std::optional<Forecast> WorkModel::Tasks(const std::vector<double>& asked) const {
  if (!tasks_.moves()) return std::nullopt;
  Forecast tasks = tasks_.At(asked);
  if (tasks_.counts()) tasks.deviation = 0;
  return tasks;
}

std::optional<Forecast> WorkModel::Times(const SeenRun& run, const std::vector<double>& asked,
                                         double input) const {
  const auto seen = run.works.find(work_);
  if (seen == run.works.end() || !seconds_.is_known()) return std::nullopt;
  const Multiplied by = Now(run, asked, input);
  Forecast times = seconds_.At(TimesAsked(run, seen->second, by, asked));
  // Of these every run is taken at its own.
  for (std::vector<std::string>* named : {&times.beyond, &times.never_varied}) {
    std::erase(*named, kBytesOfTask);
    std::erase(*named, kSlots);
  }
  // Where the run is taken as it was, runs show how far it may be off.
  if (by.task_seconds == 1 && times.never_varied.empty()) times.deviation = 0;
  return times;
}

std::vector<double> WorkModel::ForTimes(std::vector<double> values, double bytes,
                                        const SeenRun& run) const {
  values.insert(values.end(), {has_bytes_ ? bytes : 0, run.profile->slots});
  return values;
}

std::vector<double> WorkModel::TimesAsked(const SeenRun& run, const WorkSeen& seen,
                                          const Multiplied& by,
                                          const std::vector<double>& asked) const {
  return ForTimes(asked, seen.bytes_of_task() * by.read_bytes / by.tasks, run);
}

}  // namespace tidemark::workflow
