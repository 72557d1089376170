#include "whatif/plan_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/stages_application.h"
#include "master/forecast/dag/task_model.h"
#include "master/forecast/dag/workflow_forecast.h"
#include "master/forecast/dag/workflow_state.h"
#include "text/counted.h"
#include "tidemark/field_error.h"
#include "tidemark/plan.h"
#include "tidemark/reconcile_forecasts.h"

namespace tidemark::whatif {
namespace {

using dag::StageNow;
using dag::Warmth;

std::optional<Range> RangeOf(const dag::SecondsRange& range) {
  return Range{absl::Seconds(range.median), absl::Seconds(range.lower), absl::Seconds(range.upper)};
}

std::optional<Range> MedianOf(double seconds) { return Range{.median = absl::Seconds(seconds)}; }

ResourceProfile NodeOf(const Cluster& cluster) {
  ResourceProfile node = cluster.node.value_or(ResourceProfile());
  if (!(node.cores > 0)) node.cores = 1;
  return node;
}

std::vector<double> SecondsOf(const std::vector<absl::Duration>& times) {
  std::vector<double> seconds;
  for (const absl::Duration time : times) seconds.push_back(absl::ToDoubleSeconds(time));
  return seconds;
}

// Sets the task times by warmth. A warmth without times gets the times of all other tasks.
void SetTimes(const PlannedStage& stage, PastStage& profile) {
  const auto of = [&profile](Warmth warmth) -> std::vector<double>& {
    return profile.seconds[static_cast<std::size_t>(warmth)];
  };
  of(Warmth::kRest) = SecondsOf(stage.task_times);
  of(Warmth::kFirst) = SecondsOf(stage.first_task_times);
  of(Warmth::kFresh) = SecondsOf(stage.fresh_task_times);
  of(Warmth::kLast) = SecondsOf(stage.last_task_times);
  for (std::vector<double>& seconds : profile.seconds) {
    if (seconds.empty()) seconds = of(Warmth::kRest);
  }
}

// Returns the error of CheckPlan() with the names used in plan files.
std::string InWords(const absl::Status& status, const Plan& plan) {
  const WrongField wrong = WrongFieldOf(status);
  unsigned job = 0;
  unsigned stage = 0;
  const int parts = std::sscanf(wrong.path.c_str(), "jobs[%u].stages[%u]", &job, &stage);
  const std::string field = wrong.path.substr(wrong.path.rfind('.') + 1);
  std::string part;
  if (parts >= 1 && plan.jobs.size() > 1) part = "job " + plan.jobs.at(job).name + ": ";
  if (parts == 2) part += "stage " + plan.jobs.at(job).stages.at(stage).name + ": ";
  return fmt::format("{}{}: {}", part, parts >= 1 ? field : wrong.path, wrong.description);
}

using Places = std::map<std::string_view, std::size_t>;  // by name

// Returns the indexes of jobs or stages by name.
template <typename Part>
Places PlacesOf(const std::vector<Part>& parts) {
  Places places;
  for (std::size_t i = 0; i < parts.size(); ++i) places.emplace(parts[i].name, i);
  return places;
}

// Returns the indexes of the names in ascending order, without repetitions.
std::vector<std::size_t> Found(const std::vector<std::string>& names, const Places& places) {
  std::vector<std::size_t> found;
  for (const std::string& name : names) {
    const auto place = places.find(name);  // CheckPlan() guarantees that it is present.
    if (place != places.end()) found.push_back(place->second);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Returns the plan in the scenario, or InvalidArgument if the two contradict each other.
absl::StatusOr<Plan> Applied(Plan plan, const Scenario& scenario) {
  absl::Status wrong;
  const auto check = [&](const std::string& what) {
    const absl::Status checked = CheckPlan(plan);
    if (!wrong.ok() || checked.ok()) return;
    wrong = absl::InvalidArgumentError(what + ": " + InWords(checked, plan));
  };
  if (scenario.slots) {
    plan.cluster.slots = *scenario.slots;
    check(fmt::format("on {}", text::Counted(*scenario.slots, "slot")));
  }
  if (scenario.policy) {
    plan.cluster.policy = *scenario.policy;
    check(fmt::format("--policy {}", NameOf(*scenario.policy)));
  }
  if (scenario.data_factor) {
    for (PlannedJob& job : plan.jobs) {
      for (PlannedStage& stage : job.stages) {
        stage.task_count = static_cast<std::uint64_t>(
            std::ceil(static_cast<double>(stage.task_count) * *scenario.data_factor));
      }
    }
    check(fmt::format("--data-factor {:g}", *scenario.data_factor));
  }
  if (!wrong.ok()) return wrong;
  return plan;
}

// The stages of all jobs of a plan.
class StagesOfPlan {
 public:
  // `plan` is the plan `measured`, changed by a scenario.
  StagesOfPlan(const Plan& plan, const Plan& measured) : plan_(plan) {
    on_.cluster = {.capacity = {.cores = static_cast<double>(plan.cluster.slots),
                                .memory_bytes = static_cast<double>(plan.cluster.memory_bytes)},
                   .policy = dag::PolicyOf(plan.cluster.policy)};
    for (const Queue& queue : plan.cluster.queues) on_.cluster.queue_shares.push_back(queue.share);
    profile_.slots = measured.cluster.slots;
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      const PlannedJob& job = plan.jobs[i];
      first_of_job_.push_back(now_.stages.size());
      if (job.profiled_slots) profile_.slots = *job.profiled_slots;
      for (std::size_t j = 0; j < job.stages.size(); ++j) {
        Add(job, job.stages[j], measured.jobs[i].stages[j].task_count);
      }
    }
    Connect();
  }

  absl::StatusOr<Outcome> Estimate(absl::Time at, double deviation) {
    if (absl::Status modelled = ApplyModels(); !modelled.ok()) return modelled;
    const std::vector<const PastRun*> history = {&profile_};
    dag::StagesOptions options;
    options.common_deviation = std::hypot(options.common_deviation, deviation);
    options.expected.idle_slots_crowd = false;
    dag::Application application = dag::ApplicationOfStages(now_, history, on_, options);
    if (plan_.cluster.node) {
      Cluster cluster = plan_.cluster;
      cluster.node = NodeOf(cluster);
      application.hosts = dag::HostsOf(cluster);
    }
    const auto answer = dag::ForecastApplication(application);
    if (!answer.ok()) return answer.status();
    Outcome outcome = {.snapshot = Whole(*answer, at),
                       .states = dag::PlanStatesOf(*answer, StageIds())};
    const double capacity = answer->end.median * on_.cluster.capacity.cores;
    if (capacity > 0) outcome.busy_share = std::min(Work(*answer) / capacity, 1.0);
    if (plan_.jobs.size() > 1) AddChildren(*answer, outcome.snapshot);
    ReconcileForecasts(outcome.snapshot, /*ends_with_parts=*/true);
    return outcome;
  }

 private:
  void Add(const PlannedJob& job, const PlannedStage& stage, std::uint64_t measured_tasks) {
    const std::string& queue = stage.queue.empty() ? job.queue : stage.queue;
    // If there are no queues, each job of a plan is an owner of resources.
    std::string owner = stage.owner.empty() ? queue : stage.owner;
    if (owner.empty() && plan_.jobs.size() > 1) owner = "job " + job.name;
    StageNow now = {.name = plan_.jobs.size() > 1 ? job.name + "/" + stage.name : stage.name,
                    .owner = owners_.try_emplace(owner, owners_.size()).first->second,
                    .container = {.cores = stage.slots_per_task},
                    .tasks = stage.task_count,
                    .lag = absl::ToDoubleSeconds(stage.lag)};
    if (stage.slot_share < 1) {
      const auto slots = static_cast<double>(SlotsFor(stage, plan_.cluster.slots));
      now.at_once_max = static_cast<std::uint64_t>(std::max(slots / stage.slots_per_task, 1.0));
    }
    if (plan_.cluster.memory_bytes > 0) {
      now.container.memory_bytes = static_cast<double>(stage.memory_bytes_per_task);
    }
    if (on_.cluster.policy == placement::Policy::kCapacity &&
        now.owner == on_.queue_of_owner.size()) {
      on_.queue_of_owner.push_back(PlaceOf(queue));
    }
    PastStage profile = {.name = now.name, .tasks = measured_tasks, .lag = now.lag.value_or(0)};
    SetTimes(stage, profile);
    now_.stages.push_back(std::move(now));
    profile_.stages.push_back(std::move(profile));
  }

  std::size_t PlaceOf(const std::string& queue) const {
    const std::vector<Queue>& queues = plan_.cluster.queues;
    const auto place = std::find_if(queues.begin(), queues.end(),
                                    [&](const Queue& known) { return known.name == queue; });
    // CheckPlan() guarantees that it is present.
    return static_cast<std::size_t>(place - queues.begin());
  }

  // Sets the parents of all stages. O(edges log names).
  void Connect() {
    const Places jobs = PlacesOf(plan_.jobs);
    for (std::size_t j = 0; j < plan_.jobs.size(); ++j) {
      const PlannedJob& job = plan_.jobs[j];
      const std::vector<std::size_t> jobs_before = Found(job.after, jobs);
      const Places stages = PlacesOf(job.stages);
      for (std::size_t i = 0; i < job.stages.size(); ++i) {
        const std::size_t place = first_of_job_[j] + i;
        std::vector<std::size_t>& parents = now_.stages[place].parents;
        for (const std::size_t before : Found(job.stages[i].after, stages)) {
          parents.push_back(first_of_job_[j] + before);
        }
        if (parents.empty()) AddStagesOf(jobs_before, parents);
        profile_.stages[place].parents = parents;
      }
    }
  }

  void AddStagesOf(const std::vector<std::size_t>& jobs, std::vector<std::size_t>& parents) const {
    for (const std::size_t job : jobs) {
      for (std::size_t i = 0; i < plan_.jobs[job].stages.size(); ++i) {
        parents.push_back(first_of_job_[job] + i);
      }
    }
  }

  // Sets the demands of modelled stages, and their tasks' times alone on a node.
  absl::Status ApplyModels() {
    std::size_t place = 0;
    for (std::size_t j = 0; j < plan_.jobs.size(); ++j) {
      const PlannedJob& job = plan_.jobs[j];
      for (const PlannedStage& stage : job.stages) {
        const std::size_t i = place++;
        if (!stage.task) continue;
        auto demand = dag::DemandOf(dag::SparkTask(*stage.task), NodeOf(plan_.cluster));
        if (!demand.ok()) {
          return FieldError(fmt::format("jobs[{}].stages[{}].task", j, &stage - &job.stages[0]),
                            std::string(demand.status().message()));
        }
        for (auto& kind : profile_.stages[i].seconds) kind = {demand->seconds};
        now_.stages[i].demand = std::move(demand->parts);
      }
    }
    return absl::OkStatus();
  }

  // Returns the slot seconds of all tasks.
  double Work(const dag::ApplicationForecast& answer) const {
    double work = 0;
    for (std::size_t i = 0; i < now_.stages.size(); ++i) {
      work += answer.stages[i].busy * now_.stages[i].container.cores;
    }
    return work;
  }

  // Returns the ids of the stages in the snapshot.
  std::vector<StageId> StageIds() const {
    std::vector<StageId> ids;
    for (std::uint32_t job = 0; job < plan_.jobs.size(); ++job) {
      const std::uint32_t child = plan_.jobs.size() > 1 ? job + 1 : 0;
      for (std::uint32_t i = 0; i < plan_.jobs[job].stages.size(); ++i) ids.push_back({child, i});
    }
    return ids;
  }

  Snapshot Whole(const dag::ApplicationForecast& answer, absl::Time at) const {
    const bool has_children = plan_.jobs.size() > 1;
    Snapshot snapshot = {.job_id = plan_.id, .at = at, .state = JobState::kQueued};
    snapshot.info = JobInfo{.name = plan_.name,
                            .kind = has_children ? JobKind::kWorkflow : JobKind::kApplication};
    snapshot.estimate = {.state = EstimateState::kValid,
                         .fraction_done_upper = 0,
                         .remaining = RangeOf(answer.end),
                         .basis = Basis::kEarlierRuns,
                         .known_share = answer.known_share};
    const std::vector<StageId> ids = StageIds();
    std::size_t place = 0;
    for (const PlannedJob& job : plan_.jobs) {
      const std::size_t first = place;
      for (const PlannedStage& planned : job.stages) {
        const dag::StageEnds& stage = answer.stages[place];
        const StageId id = ids[place];
        StageInfo info = {.id = id, .name = planned.name, .kind = StageKind::kGeneric};
        for (const std::size_t parent : now_.stages[place].parents) {
          if (parent >= first) info.parents.push_back(static_cast<std::uint32_t>(parent - first));
        }
        snapshot.stage_infos.push_back(std::move(info));
        snapshot.stages.push_back({.id = id,
                                   .state = StageState::kPending,
                                   .tasks = now_.stages[place].tasks,
                                   .starts_in = MedianOf(stage.start),
                                   .ends_in = MedianOf(stage.end),
                                   .bottleneck = dag::NameOr(stage.bottleneck),
                                   .is_critical = stage.is_critical});
        snapshot.counts.tasks += now_.stages[place++].tasks;
      }
    }
    snapshot.counts.stages = static_cast<std::uint32_t>(place);
    return snapshot;
  }

  void AddChildren(const dag::ApplicationForecast& answer, Snapshot& snapshot) const {
    std::map<std::string, std::uint32_t> numbers;
    for (const PlannedJob& job : plan_.jobs) {
      numbers[job.name] = static_cast<std::uint32_t>(numbers.size()) + 1;
    }
    std::size_t place = 0;
    for (const PlannedJob& job : plan_.jobs) {
      Child child = {.number = numbers[job.name],
                     .name = job.name,
                     .job_id = job.job_id,
                     .state = ChildState::kPending};
      double start = answer.end.median;
      double end = 0;
      for (std::size_t i = 0; i < job.stages.size(); ++i) {
        const dag::StageEnds& stage = answer.stages[place++];
        start = std::min(start, stage.start);
        end = std::max(end, stage.end);
        child.is_critical = child.is_critical || stage.is_critical;
      }
      child.starts_in = MedianOf(start);
      child.estimate.remaining = MedianOf(end);
      for (const std::string& name : job.after) child.after.push_back(numbers[name]);
      std::sort(child.after.begin(), child.after.end());
      snapshot.children.push_back(std::move(child));
    }
    snapshot.counts.children = static_cast<std::uint32_t>(plan_.jobs.size());
  }

  const Plan& plan_;
  placement::Resourcing on_;
  dag::WorkflowNow now_;
  PastRun profile_;
  std::vector<std::size_t> first_of_job_;  // index of the first stage by job
  std::map<std::string, std::size_t> owners_;
};

}  // namespace

std::uint64_t SlotsFor(const PlannedStage& stage, std::uint32_t slots) {
  return static_cast<std::uint64_t>(std::max(std::round(stage.slot_share * slots), 1.0));
}

const char* NameOf(SchedulingPolicy policy) {
  switch (policy) {
    case SchedulingPolicy::kFair:
      return "fair";
    case SchedulingPolicy::kDrf:
      return "drf";
    case SchedulingPolicy::kCapacity:
      return "capacity";
    case SchedulingPolicy::kUnknown:
    case SchedulingPolicy::kFifo:
      break;
  }
  return "fifo";
}

bool IsOfStages(const Plan& plan) {
  return std::all_of(plan.jobs.begin(), plan.jobs.end(),
                     [](const PlannedJob& job) { return !job.stages.empty(); });
}

absl::StatusOr<Outcome> EstimateStages(const Plan& plan, const Scenario& scenario, absl::Time at,
                                       double deviation) {
  const absl::StatusOr<Plan> applied = Applied(plan, scenario);
  if (!applied.ok()) return applied.status();
  return StagesOfPlan(*applied, plan).Estimate(at, deviation);
}

std::string SkewRemark(const std::string& stage, double lower_seconds, double upper_seconds) {
  return fmt::format("tasks of equal size would end stage {} {:.0f}–{:.0f} s earlier", stage,
                     lower_seconds, std::ceil(upper_seconds));
}

namespace {

constexpr std::size_t kSkewRemarksMax = 3;
// Smaller gains are not worth a sentence.
constexpr double kGainShareMin = 0.1;

// Returns the standard deviation in seconds.
double DeviationOf(const std::vector<absl::Duration>& times) {
  double sum = 0;
  double squares = 0;
  for (const absl::Duration time : times) {
    const double seconds = absl::ToDoubleSeconds(time);
    sum += seconds;
    squares += seconds * seconds;
  }
  const double count = std::max(static_cast<double>(times.size()), 1.0);
  return std::sqrt(std::max(squares / count - (sum / count) * (sum / count), 0.0));
}

}  // namespace

std::vector<std::string> SkewRemarks(const Plan& plan, const Outcome& outcome) {
  const std::optional<Range>& end = outcome.snapshot.estimate.remaining;
  const std::vector<StageProgress>& stages = outcome.snapshot.stages;
  std::vector<std::pair<dag::GainBounds, std::string>> gains;
  std::size_t place = 0;
  for (const PlannedJob& job : plan.jobs) {
    for (const PlannedStage& stage : job.stages) {
      const std::size_t i = place++;
      if (i >= stages.size() || !stages[i].is_critical || stage.task || !end) continue;
      const double tasks = static_cast<double>(stage.task_count);
      const auto slots = static_cast<double>(SlotsFor(stage, plan.cluster.slots));
      const double degree = std::min(tasks, slots / stage.slots_per_task);
      const dag::GainBounds gain =
          dag::SkewGainBounds(tasks, degree, DeviationOf(stage.task_times));
      if (gain.upper_seconds < kGainShareMin * absl::ToDoubleSeconds(end->median)) continue;
      const std::string name = plan.jobs.size() > 1 ? job.name + "/" + stage.name : stage.name;
      gains.emplace_back(gain, name);
    }
  }
  std::ranges::stable_sort(gains, std::greater<>(),
                           [](const auto& each) { return each.first.upper_seconds; });
  std::vector<std::string> remarks;
  for (const auto& [gain, name] : gains) {
    if (remarks.size() == kSkewRemarksMax) break;
    remarks.push_back(SkewRemark(name, gain.lower_seconds, gain.upper_seconds));
  }
  return remarks;
}

}  // namespace tidemark::whatif
