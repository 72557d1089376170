#include "master/store/job_history.h"

#include <fmt/format.h>

#include <utility>

#include "master/store/recovery.h"
#include "tidemark/job_monitor.h"

namespace tidemark::store {
namespace {

// Removing old runs requires syncs of the disk, so it happens once per this many ended jobs.
constexpr std::uint64_t kExpireEvery = 64;

}  // namespace

absl::Status JobHistory::Open(const std::string& data_dir, const HistoryOptions& options,
                              absl::Time now) {
  const std::string path = data_dir + "/history.sqlite";
  auto history = History::Open(path, options);
  if (absl::IsDataLoss(history.status())) {
    const absl::StatusOr<std::string> aside = SetAside(path);
    if (!aside.ok()) return aside.status();
    notice_(fmt::format("{}; {} and a new history was started",
                        std::string(history.status().message()), *aside));
    history = History::Open(path, options);
  }
  if (!history.ok()) return history.status();
  const std::lock_guard lock(mutex_);
  history_ = *std::move(history);
  return history_->Expire(now);
}

void JobHistory::Add(const FinishedJob& job) {
  const std::lock_guard lock(mutex_);
  if (history_ == nullptr) return;
  absl::Status status = history_->Add(job);
  if (status.ok() && ++added_ % kExpireEvery == 0) status = history_->Expire(job.final.at);
  if (!status.ok()) notice_(std::string(status.message()));
}

// Reads more runs than needed, since some may be unusable.
std::vector<FinishedJob> JobHistory::RunsOf(const std::string& name, const Reported& job,
                                            bool (*is_usable)(const FinishedJob&)) const {
  const std::lock_guard lock(mutex_);
  if (history_ == nullptr || name.empty()) return {};
  auto jobs = history_->SucceededOfName(name, 2 * JobMonitor::kPastRunsMax,
                                        [&](const std::string& id, const std::string& name_space) {
                                          return ShareNames({id, name_space}, job);
                                        });
  if (!jobs.ok()) {
    notice_(std::string(jobs.status().message()));
    return {};
  }
  std::erase_if(*jobs, [&](const FinishedJob& past) { return !is_usable(past); });
  while (jobs->size() > JobMonitor::kPastRunsMax) DropOneOfMostFrequentShape(*jobs);
  return *std::move(jobs);
}

std::vector<PastRun> JobHistory::PastRuns(const std::string& name, const Reported& job) const {
  std::vector<PastRun> runs;
  for (const FinishedJob& past : RunsOf(name, job, [](const FinishedJob& run) {
         return PastRunOf(run.final, run.summary).has_value();
       })) {
    runs.push_back(*PastRunOf(past.final, past.summary));
  }
  return runs.empty() ? RunsOfOthers(name, job) : runs;
}

std::vector<PastRun> JobHistory::RunsOfOthers(const std::string& name, const Reported& job) const {
  const std::lock_guard lock(mutex_);
  if (history_ == nullptr) return {};
  const auto jobs = history_->OfOtherNames(
      name, JobMonitor::kPastRunsMax, [&](const std::string& id, const std::string& name_space) {
        return ShareNames({id, name_space}, job);
      });
  if (!jobs.ok()) {
    notice_(std::string(jobs.status().message()));
    return {};
  }
  std::vector<PastRun> runs;
  for (const FinishedJob& other : *jobs) {
    std::optional<PastRun> run = PastRunOf(other.final, other.summary);
    if (!run) continue;
    run->is_of_other_job = true;
    run->groups.clear();
    run->timed_groups = {};
    runs.push_back(*std::move(run));
  }
  return runs;
}

std::vector<JobProfile> JobHistory::Profiles(const std::string& name, const Reported& job) const {
  std::vector<JobProfile> profiles;
  for (const FinishedJob& past :
       RunsOf(name, job, [](const FinishedJob& run) { return run.summary.profile.has_value(); })) {
    profiles.push_back(*past.summary.profile);
  }
  return profiles;
}

std::vector<PastRun> JobHistory::StageRuns(const std::string& name, const Reported& job) const {
  std::vector<PastRun> stages;
  for (FinishedJob& past :
       RunsOf(name, job, [](const FinishedJob& run) { return !run.summary.run.stages.empty(); })) {
    stages.push_back(std::move(past.summary.run));
  }
  return stages;
}

std::optional<ResourceProfile> JobHistory::Node() const {
  const std::lock_guard lock(mutex_);
  if (history_ == nullptr) return std::nullopt;
  auto node = history_->NewestNode();
  if (node.ok()) return *std::move(node);
  notice_(std::string(node.status().message()));
  return std::nullopt;
}

}  // namespace tidemark::store
