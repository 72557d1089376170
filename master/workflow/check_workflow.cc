#include "master/workflow/check_workflow.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "text/did_you_mean.h"
#include "tidemark/limit.h"

namespace tidemark::workflow {
namespace {

// As for the ids of jobs.
constexpr std::size_t kIdBytesMax = 256;
constexpr std::uint32_t kSlotsMax = 1'000'000;
constexpr std::uint32_t kTasksMax = 10'000'000;

absl::Status Wrong(const std::string& where, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

absl::Status CheckText(const std::string& where, const char* field, const std::string& text) {
  if (!text.empty() && text.size() <= kIdBytesMax) return absl::OkStatus();
  return Wrong(
      where, absl::StrCat(field, " has ", text.size(), " bytes; it must have 1 to ", kIdBytesMax));
}

bool IsSize(double value) { return std::isfinite(value) && value >= 0; }

absl::Status CheckProfile(const std::string& where, const JobProfile& profile) {
  const std::pair<const char*, double> sizes[] = {
      {"split_bytes", profile.split_bytes},
      {"map_selectivity", profile.map_selectivity},
      {"reduce_selectivity", profile.reduce_selectivity},
      {"map_task_variation", profile.map_task_variation},
      {"reduce_task_variation", profile.reduce_task_variation}};
  for (const auto& [field, value] : sizes) {
    if (!IsSize(value)) {
      return Wrong(where, absl::StrCat("profile.", field,
                                       " must be a finite number of at least 0, not ", value));
    }
  }
  if (profile.map_tasks > kTasksMax || profile.reduce_tasks > kTasksMax) {
    return Wrong(where, absl::StrCat("the profile has more than ", kTasksMax, " tasks"));
  }
  if (profile.map_task_time == absl::ZeroDuration() &&
      profile.reduce_task_time == absl::ZeroDuration()) {
    return Wrong(where, "the profile has no task time; add one or drop the profile");
  }
  return absl::OkStatus();
}

absl::Status CheckCluster(const WorkflowCluster& cluster) {
  const std::string where = "cluster";
  if (cluster.slots == 0 || cluster.slots > kSlotsMax) {
    return Wrong(where, absl::StrCat("slots must be 1 to ", kSlotsMax, ", not ", cluster.slots));
  }
  if (cluster.nodes == 0 || cluster.nodes > kSlotsMax) {
    return Wrong(where, absl::StrCat("nodes must be 1 to ", kSlotsMax, ", not ", cluster.nodes));
  }
  if (cluster.policy == SchedulingPolicy::kCapacity && cluster.queues.empty()) {
    return Wrong(where, "policy capacity needs queues");
  }
  absl::flat_hash_set<std::string> names;
  for (const WorkflowQueue& queue : cluster.queues) {
    if (!names.insert(queue.name).second) {
      return Wrong(where, absl::StrCat("queue ", queue.name, " appears twice"));
    }
    if (!IsSize(queue.share) || queue.share == 0) {
      return Wrong(where,
                   absl::StrCat("queue ", queue.name,
                                ": its share must be a finite number above 0, not ", queue.share));
    }
  }
  if (!cluster.node) return absl::OkStatus();
  for (const double speed :
       {cluster.node->disk_read, cluster.node->disk_write, cluster.node->dfs_read,
        cluster.node->dfs_write, cluster.node->network, cluster.node->cores}) {
    if (!IsSize(speed)) return Wrong(where, "the speeds of a node must be finite and not negative");
  }
  return absl::OkStatus();
}

absl::Status CheckJob(const WorkflowJob& job, const std::string& where,
                      const WorkflowCluster& cluster) {
  if (job.job_id.size() > kIdBytesMax || job.history_name.size() > kIdBytesMax) {
    return Wrong(where,
                 absl::StrCat("job_id and history_name may have at most ", kIdBytesMax, " bytes"));
  }
  if (job.map_tasks > kTasksMax || job.reduce_tasks > kTasksMax) {
    return Wrong(where, absl::StrCat("may have at most ", kTasksMax, " tasks of a kind"));
  }
  if (cluster.policy == SchedulingPolicy::kCapacity) {
    bool is_queue = false;
    for (const WorkflowQueue& queue : cluster.queues) is_queue |= queue.name == job.queue;
    if (!is_queue)
      return Wrong(where, job.queue.empty() ? "queue is missing"
                                            : absl::StrCat("unknown queue ", job.queue));
  }
  return job.profile ? CheckProfile(where, *job.profile) : absl::OkStatus();
}

}  // namespace

schedule::Parents ParentsOf(const WorkflowSpec& workflow) {
  absl::flat_hash_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < workflow.jobs.size(); ++i) places[workflow.jobs[i].name] = i;
  schedule::Parents parents(workflow.jobs.size());
  for (std::size_t i = 0; i < workflow.jobs.size(); ++i) {
    for (const std::string& parent : workflow.jobs[i].after) {
      parents[i].push_back(places.at(parent));
    }
  }
  return parents;
}

absl::Status CheckWorkflow(const WorkflowSpec& workflow, const WorkflowLimits& limits) {
  if (absl::Status id = CheckText("workflow", "id", workflow.id); !id.ok()) return id;
  if (workflow.name.size() > kIdBytesMax) {
    return Wrong("workflow", absl::StrCat("name may have at most ", kIdBytesMax, " bytes"));
  }
  if (workflow.jobs.empty()) return Wrong("workflow", "has no jobs");
  if (workflow.jobs.size() > limits.jobs_max) {
    return LimitExceeded("jobs_per_workflow",
                         absl::StrCat("workflow ", workflow.id, " has ", workflow.jobs.size(),
                                      " jobs; this master allows at most ", limits.jobs_max));
  }
  if (absl::Status cluster = CheckCluster(workflow.cluster); !cluster.ok()) return cluster;
  absl::flat_hash_set<std::string> names;
  absl::flat_hash_set<std::string> ids;
  for (std::size_t i = 0; i < workflow.jobs.size(); ++i) {
    const WorkflowJob& job = workflow.jobs[i];
    absl::Status ok = CheckText(absl::StrCat("job ", i + 1), "name", job.name);
    const std::string where = absl::StrCat("job ", job.name);
    if (ok.ok() && !names.insert(job.name).second)
      ok = Wrong(where, "the name is taken by an earlier job");
    if (ok.ok() && !job.job_id.empty() && !ids.insert(job.job_id).second) {
      ok = Wrong(where, absl::StrCat("job_id ", job.job_id, " is taken by an earlier job"));
    }
    if (ok.ok()) ok = CheckJob(job, where, workflow.cluster);
    if (!ok.ok()) return ok;
  }
  std::vector<std::string> known;
  for (const WorkflowJob& job : workflow.jobs) known.push_back(job.name);
  for (const WorkflowJob& job : workflow.jobs) {
    for (const std::string& parent : job.after) {
      if (names.contains(parent)) continue;
      return Wrong(absl::StrCat("job ", job.name),
                   absl::StrCat("after: unknown job ", parent, text::DidYouMean(parent, known)));
    }
  }
  std::vector<std::string> cycle;
  for (const std::size_t job : schedule::CycleOf(ParentsOf(workflow))) {
    cycle.push_back(workflow.jobs[job].name);
  }
  if (cycle.empty()) return absl::OkStatus();
  return Wrong("workflow",
               absl::StrCat("its jobs form a cycle: ", absl::StrJoin(cycle, " waits for ")));
}

}  // namespace tidemark::workflow
