#include "bench/accuracy/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/accuracy/random.h"

namespace tidemark::bench {
namespace {

constexpr std::uint32_t kTasksMax = std::numeric_limits<std::uint16_t>::max();

// Independent uses of the same seed.
enum class Use : std::uint64_t { kPartition = 1, kTime, kNoise };

std::uint64_t SaltOf(std::uint64_t seed, Use use) {
  return Scatter(Scatter(seed) + static_cast<std::uint64_t>(use));
}
std::uint64_t HashOf(KeyHash key, std::uint64_t salt) {
  return Scatter(static_cast<std::uint64_t>(key) ^ salt);
}

absl::Status AssignPartitions(const CostLog& log, const WorkloadOptions& options,
                              Workload& workload) {
  if (!log.partitions.empty()) {
    const auto own = log.partitions.find(options.reduce_tasks);
    if (own == log.partitions.end()) {
      std::vector<std::uint32_t> known;
      for (const auto& [count, partitions] : log.partitions) known.push_back(count);
      return absl::InvalidArgumentError(fmt::format(
          "the job has its own partitioner; what it does was noted for {} reduce tasks, "
          "not for {}",
          fmt::join(known, ", "), options.reduce_tasks));
    }
    workload.partitions = own->second;
    return absl::OkStatus();
  }
  const std::uint64_t salt = SaltOf(options.seed, Use::kPartition);
  workload.partitions.reserve(log.groups.size());
  for (const GroupCost& group : log.groups) {
    workload.partitions.push_back(
        static_cast<std::uint16_t>(HashOf(group.key, salt) % options.reduce_tasks));
  }
  return absl::OkStatus();
}

// Sorts the groups by partition, and preserves their order within each partition.
void SortGroups(std::uint32_t tasks, Workload& workload) {
  workload.task_begins.assign(tasks + std::size_t{1}, 0);
  for (const std::uint16_t partition : workload.partitions) {
    ++workload.task_begins[partition + std::size_t{1}];
  }
  for (std::size_t i = 0; i < tasks; ++i) {
    workload.task_begins[i + 1] += workload.task_begins[i];
  }
  std::vector<std::size_t> next(workload.task_begins.begin(), workload.task_begins.end() - 1);
  workload.groups.resize(workload.partitions.size());
  for (std::uint32_t i = 0; i < workload.partitions.size(); ++i) {
    workload.groups[next[workload.partitions[i]]++] = i;
  }
}

class Costs {
 public:
  Costs(const CostLog& log, const WorkloadOptions& options)
      : log_(log),
        noise_(options.cost_noise),
        time_salt_(SaltOf(options.seed, Use::kTime)),
        noise_salt_(SaltOf(options.seed, Use::kNoise)) {}

  double Expected(std::uint32_t group) const { return log_.groups[group].mean_seconds(); }
  double ThisTime(std::uint32_t group) const {
    const GroupCost& cost = log_.groups[group];
    const double measured = cost.seconds[HashOf(cost.key, time_salt_) % kTimes];
    if (noise_ == 0) return measured;
    // The factor has a mean of 1.
    const double normal = Random(HashOf(cost.key, noise_salt_)).Normal();
    return measured * std::exp(noise_ * normal - noise_ * noise_ / 2);
  }

 private:
  const CostLog& log_;
  const double noise_;
  const std::uint64_t time_salt_;
  const std::uint64_t noise_salt_;
};

// Returns the time of the phase on perfect nodes with the expected costs.
double Makespan(const Workload& workload, const Costs& costs, std::uint32_t slots) {
  std::vector<double> free_at(slots, 0);
  for (std::size_t task = 0; task < workload.task_count(); ++task) {
    double& slot = *std::min_element(free_at.begin(), free_at.end());
    for (const std::uint32_t group : workload.GroupsOf(task)) slot += costs.Expected(group);
  }
  return *std::max_element(free_at.begin(), free_at.end());
}

}  // namespace

absl::StatusOr<Workload> MakeWorkload(const CostLog& log, const WorkloadOptions& options) {
  if (options.slots == 0 || options.reduce_tasks == 0 || options.reduce_tasks > kTasksMax) {
    return absl::InvalidArgumentError("there must be slots and reduce tasks, at most 65535");
  }
  Workload workload;
  if (absl::Status assigned = AssignPartitions(log, options, workload); !assigned.ok()) {
    return assigned;
  }
  SortGroups(options.reduce_tasks, workload);
  const Costs costs(log, options);
  const double makespan = Makespan(workload, costs, options.slots);
  if (!(makespan > 0)) return absl::InvalidArgumentError("the job has no key groups");
  const double dilation = options.phase_seconds / makespan;
  for (const std::uint32_t group : workload.groups) {
    workload.seconds.push_back(static_cast<float>(dilation * costs.ThisTime(group)));
    workload.expected_seconds.push_back(static_cast<float>(dilation * costs.Expected(group)));
  }
  return workload;
}

}  // namespace tidemark::bench
