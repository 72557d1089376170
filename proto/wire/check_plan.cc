#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/wire/valid_text.h"
#include "text/did_you_mean.h"
#include "tidemark/field_error.h"
#include "tidemark/plan.h"

namespace tidemark {
namespace {

// Maximum length of IDs and names in messages.
constexpr std::size_t kTextBytesMax = 256;
// Maximum standard deviation of task times divided by their mean. Chosen by hand; measured values
// are below 10.
constexpr double kVariationMax = 1000;
// Chosen by hand. Larger numbers are assumed to be typing errors, and would take memory.
constexpr std::uint32_t kSlotsMax = 1'000'000;
constexpr std::uint64_t kTasksMax = 10'000'000;
constexpr std::size_t kPartsMax = 1'000'000;
// Maximum number of names among which an error searches for a similar name. With more names, the
// error has no suggestion.
constexpr std::size_t kNamesComparedMax = 10'000;
// Maximum number of names of a cycle that an error lists. The error must fit into the trailer of a
// call (8 kB).
constexpr std::size_t kNamesShownMax = 8;

// Stores the first fault.
class Checker {
 public:
  explicit Checker(const Plan& plan) : plan_(plan) {}

  absl::Status Run() {
    Id("id", plan_.id);
    Text("name", plan_.name);
    CheckCluster(plan_.cluster);
    if (plan_.jobs.empty()) Fail("jobs", "must contain at least one job");
    if (plan_.jobs.size() > kPartsMax) Fail("jobs", fmt::format("must be at most {}", kPartsMax));
    for (std::size_t i = 0; i < plan_.jobs.size() && status_.ok(); ++i) {
      CheckJob(fmt::format("jobs[{}]", i), plan_.jobs[i]);
    }
    if (status_.ok()) CheckJobIds();
    if (status_.ok()) CheckGraph("jobs", "job", plan_.jobs);
    for (std::size_t i = 0; i < plan_.jobs.size() && status_.ok(); ++i) {
      CheckGraph(fmt::format("jobs[{}].stages", i), "stage", plan_.jobs[i].stages);
    }
    return status_;
  }

 private:
  void Fail(std::string_view path, std::string_view description) {
    if (status_.ok()) status_ = FieldError(path, description);
  }
  void Text(const std::string& path, const std::string& text) {
    if (text.size() > kTextBytesMax) {
      Fail(path, fmt::format("must have at most {} bytes, not {}", kTextBytesMax, text.size()));
    }
  }
  void Id(const std::string& path, const std::string& id) {
    if (wire::HasControls(id)) Fail(path, "must not contain control characters");
    Text(path, id);
  }
  void Number(const std::string& path, double value, double least, double most) {
    if (value >= least && value <= most) return;
    Fail(path, fmt::format("must be from {:.12g} to {:.12g}, not {:.12g}", least, most, value));
  }
  void Amount(const std::string& path, double value) {
    const bool is_finite = std::isfinite(value);
    if (is_finite && value >= 0) return;
    Fail(path,
         fmt::format("must be {}, not {}", is_finite ? "0 or more" : "a finite number", value));
  }

  void Fits(const std::string& path, double value, double room, std::string_view unit) {
    if (value <= room) return;
    Fail(path, fmt::format("needs {:.12g}; the cluster has {:.12g} {}{}", value, room, unit,
                           room == 1 ? "" : "s"));
  }

  void CheckCluster(const Cluster& cluster) {
    Number("cluster.slots", cluster.slots, 1, kSlotsMax);
    Number("cluster.nodes", cluster.nodes, 1, kSlotsMax);
    if (cluster.policy == SchedulingPolicy::kCapacity && cluster.queues.empty()) {
      Fail("cluster.queues", "policy capacity needs queues");
    }
    for (std::size_t i = 0; i < cluster.queues.size(); ++i) {
      const Queue& queue = cluster.queues[i];
      const std::string path = fmt::format("cluster.queues[{}]", i);
      Text(path + ".name", queue.name);
      if (!queues_.emplace(queue.name, i).second) {
        Fail(path + ".name", fmt::format("queue {} appears twice", queue.name));
      }
      if (!(queue.share > 0) || !std::isfinite(queue.share)) {
        Fail(path + ".share", fmt::format("must be positive and finite, not {}", queue.share));
      }
    }
    if (!cluster.node) return;
    const ResourceProfile& node = *cluster.node;
    Amount("cluster.node.disk_read_bytes_per_second", node.disk_read);
    Amount("cluster.node.disk_write_bytes_per_second", node.disk_write);
    Amount("cluster.node.file_system_read_bytes_per_second", node.dfs_read);
    Amount("cluster.node.file_system_write_bytes_per_second", node.dfs_write);
    Amount("cluster.node.network_bytes_per_second", node.network);
    Amount("cluster.node.cores", node.cores);
  }

  void CheckQueue(const std::string& path, const std::string& queue) {
    if (plan_.cluster.policy != SchedulingPolicy::kCapacity || queues_.contains(queue)) return;
    std::vector<std::string> known;
    for (const Queue& other : plan_.cluster.queues) known.push_back(other.name);
    Fail(path, queue.empty()
                   ? "is missing; policy capacity needs a queue for each job"
                   : fmt::format("unknown queue {}{}", queue, text::DidYouMean(queue, known)));
  }

  void CheckJob(const std::string& path, const PlannedJob& job) {
    Text(path + ".name", job.name);
    Id(path + ".job_id", job.job_id);
    Text(path + ".history_name", job.history_name);
    Text(path + ".queue", job.queue);
    if (job.name.empty() && plan_.jobs.size() > 1) {
      Fail(path + ".name", "is missing; it is required for each of several jobs");
    }
    Number(path + ".map_task_count", job.map_task_count.value_or(1), 1, kTasksMax);
    Number(path + ".reduce_task_count", job.reduce_task_count.value_or(0), 0, kTasksMax);
    Number(path + ".profiled_slots", job.profiled_slots.value_or(1), 1, kSlotsMax);
    if (job.input_bytes == 0u) Fail(path + ".input_bytes", "must be at least 1, not 0");
    if (job.profile) CheckProfile(path + ".profile", *job.profile);
    if (job.profile) CheckMapTasks(path, job, *job.profile);
    if (job.stages.empty()) return CheckQueue(path + ".queue", job.queue);
    if (job.map_task_count || job.reduce_task_count || job.input_bytes || job.profile) {
      Fail(path + ".stages",
           "describe a job by its stages, or by its task counts, input and profile, not by both");
    }
    if (job.stages.size() > kPartsMax) {
      Fail(path + ".stages", fmt::format("must be at most {}", kPartsMax));
    }
    absl::flat_hash_map<std::string, std::string> queue_of_owner;
    for (std::size_t i = 0; i < job.stages.size() && status_.ok(); ++i) {
      CheckStage(fmt::format("{}.stages[{}]", path, i), job, job.stages[i], queue_of_owner);
    }
  }

  void CheckStage(const std::string& path, const PlannedJob& job, const PlannedStage& stage,
                  absl::flat_hash_map<std::string, std::string>& queue_of_owner) {
    Text(path + ".name", stage.name);
    Text(path + ".owner", stage.owner);
    Text(path + ".queue", stage.queue);
    if (stage.name.empty()) Fail(path + ".name", "is missing");
    Number(path + ".task_count", static_cast<double>(stage.task_count), 0, kTasksMax);
    Number(path + ".slots_per_task", stage.slots_per_task, 1e-6, kSlotsMax);
    Fits(path + ".slots_per_task", stage.slots_per_task, plan_.cluster.slots, "slot");
    Number(path + ".slot_share", stage.slot_share, 1e-6, 1);
    if (plan_.cluster.memory_bytes > 0) {
      Fits(path + ".memory_bytes_per_task", static_cast<double>(stage.memory_bytes_per_task),
           static_cast<double>(plan_.cluster.memory_bytes), "byte");
    }
    if (stage.task_times.empty() && !stage.task) {
      Fail(path, "no task times: set task_seconds, or set task to the data of one task");
    }
    const std::string times_path = path + ".task_times";
    for (const auto* times : {&stage.task_times, &stage.first_task_times, &stage.fresh_task_times,
                              &stage.last_task_times}) {
      for (const absl::Duration time : *times) {
        Amount(times_path, absl::ToDoubleSeconds(time));
      }
    }
    if (stage.task) {
      Amount(path + ".task.core_bytes_per_second", stage.task->core_bytes_per_second);
    }
    const std::string& queue = stage.queue.empty() ? job.queue : stage.queue;
    CheckQueue(path + ".queue", queue);
    const auto [known, is_new] =
        queue_of_owner.emplace(stage.owner.empty() ? queue : stage.owner, queue);
    if (!is_new && known->second != queue) {
      Fail(path + ".queue", fmt::format("its owner {} has a stage in a different queue, {}",
                                        stage.owner, known->second));
    }
  }

  void CheckProfile(const std::string& path, const JobProfile& profile) {
    Number(path + ".map_task_count", profile.map_tasks, 0, kTasksMax);
    Number(path + ".reduce_task_count", profile.reduce_tasks, 0, kTasksMax);
    Amount(path + ".split_bytes", profile.split_bytes);
    Amount(path + ".map_selectivity", profile.map_selectivity);
    Amount(path + ".reduce_selectivity", profile.reduce_selectivity);
    Number(path + ".map_task_variation", profile.map_task_variation, 0, kVariationMax);
    Number(path + ".reduce_task_variation", profile.reduce_task_variation, 0, kVariationMax);
    Number(path + ".second_sort_fraction", profile.second_sort_fraction, 0, 1);
    if (profile.map_task_time == absl::ZeroDuration() &&
        profile.reduce_task_time == absl::ZeroDuration()) {
      Fail(path, "has no task time; add one or omit the profile");
    }
  }

  // Past runs do not supplement a profile that is part of the plan.
  void CheckMapTasks(const std::string& path, const PlannedJob& job, const JobProfile& profile) {
    if (job.input_bytes && profile.split_bytes == 0) {
      Fail(path + ".input_bytes", "needs profile.split_bytes, the input of one map task");
    }
    if (job.map_task_count) return;
    if (!job.input_bytes) {
      if (profile.map_tasks > 0) return;
      return Fail(path + ".profile.map_task_count",
                  "must be set if the job has neither map_task_count nor input_bytes");
    }
    const double map_tasks = static_cast<double>(*job.input_bytes) / profile.split_bytes;
    if (map_tasks <= static_cast<double>(kTasksMax)) return;
    Fail(path + ".input_bytes",
         fmt::format("makes {:.3g} map tasks of profile.split_bytes; at most {} are allowed",
                     map_tasks, kTasksMax));
  }

  void CheckJobIds() {
    absl::flat_hash_map<std::string, std::string> taken;
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const PlannedJob& job = plan_.jobs[i];
      if (job.job_id.empty()) continue;
      if (job.job_id == plan_.id) {
        return Fail(
            fmt::format("jobs[{}].job_id", i),
            fmt::format("{} is the id of the plan; give its job a different id", job.job_id));
      }
      const auto [known, is_new] = taken.emplace(job.job_id, job.name);
      if (!is_new) {
        return Fail(fmt::format("jobs[{}].job_id", i),
                    fmt::format("{} is already the id of job {}", job.job_id, known->second));
      }
    }
  }

  // Checks that names are unique, that dependencies exist, and that no part depends on itself.
  template <typename Part>
  void CheckGraph(const std::string& path, const char* what, const std::vector<Part>& parts) {
    absl::flat_hash_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (places.emplace(parts[i].name, i).second) continue;
      return Fail(fmt::format("{}[{}].name", path, i),
                  fmt::format("{} is taken by an earlier {}", parts[i].name, what));
    }
    std::vector<std::vector<std::size_t>> after(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t j = 0; j < parts[i].after.size(); ++j) {
        const std::string& name = parts[i].after[j];
        if (name.size() > kTextBytesMax) {
          return Text(fmt::format("{}[{}].after[{}]", path, i, j), name);
        }
        const auto place = places.find(name);
        if (place == places.end()) {
          std::vector<std::string> known;
          for (const Part& part : parts) known.push_back(part.name);
          if (known.size() > kNamesComparedMax) known.clear();
          return Fail(fmt::format("{}[{}].after[{}]", path, i, j),
                      fmt::format("unknown {} {}{}", what, name, text::DidYouMean(name, known)));
        }
        after[i].push_back(place->second);
      }
    }
    const std::vector<std::size_t> cycle = CycleOf(after);
    if (cycle.empty()) return;
    std::string names;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const bool is_last = i + 1 == cycle.size();
      if (i > kNamesShownMax && !is_last) continue;
      if (i > 0) names += " waits for ";
      names += i == kNamesShownMax && !is_last ? "..." : parts[cycle[i]].name;
    }
    Fail(fmt::format("{}[{}].after", path, cycle.front()), "is part of a cycle: " + names);
  }

  // Returns the parts of one cycle, with the first part repeated at the end. Returns an empty list
  // if there is no cycle.
  static std::vector<std::size_t> CycleOf(const std::vector<std::vector<std::size_t>>& after) {
    // Removes parts for which no other part waits, until only cycles and their dependencies remain.
    // For each remaining part, some other part waits.
    std::vector<std::size_t> waiting(after.size(), 0);
    for (const auto& parents : after) {
      for (const std::size_t parent : parents) ++waiting[parent];
    }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (waiting[i] == 0) free.push_back(i);
    }
    while (!free.empty()) {
      const std::size_t part = free.back();
      free.pop_back();
      for (const std::size_t parent : after[part]) {
        if (--waiting[parent] == 0) free.push_back(parent);
      }
    }
    std::vector<std::size_t> child(after.size(), after.size());
    std::size_t at = after.size();
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (waiting[i] == 0) continue;
      at = i;
      for (const std::size_t parent : after[i]) child[parent] = i;
    }
    if (at == after.size()) return {};
    // If there are n parts, the position is within a cycle after n steps against the edges.
    for (std::size_t step = 0; step < after.size(); ++step) at = child[at];
    std::vector<std::size_t> cycle = {at};
    while (child[cycle.back()] != at) cycle.push_back(child[cycle.back()]);
    std::reverse(cycle.begin(), cycle.end());
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    cycle.push_back(cycle.front());
    return cycle;
  }

  const Plan& plan_;
  absl::flat_hash_map<std::string, std::size_t> queues_;
  absl::Status status_;
};

}  // namespace

absl::Status CheckPlan(const Plan& plan) { return Checker(plan).Run(); }

}  // namespace tidemark
