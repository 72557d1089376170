#include "whatif/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "text/counted.h"
#include "text/did_you_mean.h"
#include "text/duration_text.h"
#include "whatif/phases/settings.h"

namespace tidemark::whatif {
namespace {

// Dimensions of a choice.
enum : std::size_t { kOfExecutors, kOfCores, kOfMemory, kOfPartitions, kSearched };

constexpr std::uint32_t kExecutorsMost = 10'000;
constexpr std::uint32_t kCoresMost = 1'000;
constexpr double kPartitionsMost = 1e6;
// Minimum memory of an executor. bytes
constexpr double kMemoryLeast = 1.5 * phases::kReservedBytes;

// Returns the factor by which the figures exceed the limits of time and core-hours; at least 1.
double ExcessOf(const Figures& figures, const Limits& limits) {
  double excess = 1;
  if (limits.seconds) excess = std::max(excess, figures.seconds / *limits.seconds);
  if (limits.core_hours) excess = std::max(excess, figures.core_hours / *limits.core_hours);
  return excess;
}

double Wanted(const Figures& figures, Goal goal) {
  return goal == Goal::kTime ? figures.seconds : figures.core_hours;
}

double Other(const Figures& figures, Goal goal) {
  return goal == Goal::kTime ? figures.core_hours : figures.seconds;
}

// Returns a number that differs for figures that differ by more than kWorthwhile.
double Coarse(double figure) {
  return std::round(std::log(std::max(figure, 1e-9)) / std::log1p(kWorthwhile));
}

// Returns true if `a` is better than `b`: only `a` is within the limits, or `a` is nearer to them,
// or it is equally near and better for the goal, or it is also equal for the goal and better in the
// other figure.
bool IsBetter(const Figures& a, const Figures& b, const Find& find) {
  const auto key = [&](const Figures& figures) {
    return std::tuple(Exceeds(figures, find.limits), Coarse(ExcessOf(figures, find.limits)),
                      Coarse(Wanted(figures, find.goal)), Coarse(Other(figures, find.goal)));
  };
  return key(a) < key(b);
}

// Evaluates each choice once, up to a maximum number of choices.
class Trials {
 public:
  Trials(std::size_t most, absl::FunctionRef<std::optional<Figures>(const Choice&)> evaluate)
      : most_(most), evaluate_(evaluate) {}

  // Returns the figures of the choice, or null if the choice is impossible or the number of
  // evaluations is used up.
  const Figures* Try(const Choice& choice) {
    const auto known = known_.find(choice);
    if (known != known_.end()) return known->second ? &*known->second : nullptr;
    if (tried_.size() >= most_) return nullptr;
    const std::optional<Figures> figures = evaluate_(choice);
    if (figures) tried_.push_back({choice, *figures});
    const auto& added = known_.emplace(choice, figures).first->second;
    return added ? &*added : nullptr;
  }
  bool is_used_up() const { return tried_.size() >= most_; }
  std::vector<Tried> tried() && { return std::move(tried_); }

 private:
  const std::size_t most_;
  absl::FunctionRef<std::optional<Figures>(const Choice&)> evaluate_;
  std::map<Choice, std::optional<Figures>> known_;
  std::vector<Tried> tried_;
};

// Returns the number of settings that differ, and the sum of their distances.
std::pair<std::size_t, std::size_t> Distance(const Choice& a, const Choice& b) {
  std::pair<std::size_t, std::size_t> distance;
  for (std::size_t at = 0; at < kSearched; ++at) {
    distance.first += a[at] == b[at] ? 0 : 1;
    distance.second += std::max(a[at], b[at]) - std::min(a[at], b[at]);
  }
  return distance;
}

// Tries the choice. If it is impossible, tries fewer cores if the executors changed, and fewer
// executors if the cores changed. Sets `choice` to the possible choice.
const Figures* TryNear(Choice& choice, std::size_t changed, Trials& trials) {
  const Figures* figures = trials.Try(choice);
  const std::size_t lowered = changed == kOfExecutors ? kOfCores : kOfExecutors;
  while (figures == nullptr && choice[lowered] > 0 && !trials.is_used_up()) {
    --choice[lowered];
    figures = trials.Try(choice);
  }
  return figures;
}

void TryAll(const Choice& sizes, Trials& trials) {
  Choice choice{};
  for (std::size_t at = 0; at < kSearched;) {
    trials.Try(choice);
    for (at = 0; at < kSearched; ++at) {  // Advances to the next combination.
      if (++choice[at] < sizes[at]) break;
      choice[at] = 0;
    }
  }
}

// Varies one setting at a time from `start`, until no change improves the result.
void Descend(const Choice& sizes, const Choice& start, const Find& find, Trials& trials) {
  Choice best = start;
  const Figures* figures = TryNear(best, kOfExecutors, trials);
  for (bool improves = true; improves && !trials.is_used_up();) {
    improves = false;
    // Other numbers of partitions fill more slots, so they come first.
    for (const std::size_t at : {kOfPartitions, kOfExecutors, kOfCores, kOfMemory}) {
      const Choice from = best;
      for (std::size_t value = 0; value < sizes[at]; ++value) {
        Choice choice = from;
        choice[at] = value;
        const Figures* const other = TryNear(choice, at, trials);
        if (other == nullptr || (figures != nullptr && !IsBetter(*other, *figures, find))) continue;
        best = choice;
        figures = other;
        improves = true;
      }
    }
  }
}

// Returns 1, 2, 3, 4, 6, 8, 12, 16 ... up to `most`.
std::vector<std::uint32_t> Steps(double most) {
  std::vector<std::uint32_t> steps;
  for (std::uint64_t power = 1; static_cast<double>(power) <= most; power *= 2) {
    steps.push_back(static_cast<std::uint32_t>(power));
    const std::uint64_t between = power + power / 2;
    if (power > 1 && static_cast<double>(between) <= most) {
      steps.push_back(static_cast<std::uint32_t>(between));
    }
  }
  return steps;
}

// Returns `value` times each of the factors, without repetitions, between `least` and `most`.
template <typename Number>
std::vector<Number> Around(Number value, std::initializer_list<double> factors, double least,
                           double most) {
  std::set<Number> values;
  for (const double factor : factors) {
    const double scaled = std::floor(static_cast<double>(value) * factor);
    if (scaled >= least && scaled <= most) values.insert(static_cast<Number>(scaled));
  }
  return {values.begin(), values.end()};
}

absl::StatusOr<double> ParseNumber(const std::string& text, double least, double most) {
  double number = 0;
  if (absl::SimpleAtod(text, &number) && number >= least && number <= most) return number;
  return absl::InvalidArgumentError(
      fmt::format("\"{}\" is not a number from {} to {:.0f}", text, least, most));
}

// --- a plan ---------------------------------------------------------------------------------

std::vector<double> ListOf(const std::vector<absl::Duration>& times) {
  std::vector<double> seconds;
  seconds.reserve(times.size());
  for (const absl::Duration time : times) seconds.push_back(absl::ToDoubleSeconds(time));
  return seconds;
}

double MeanIn(const std::vector<double>& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

// The time of one stage after its parents.
struct WaveTime {
  double lag = 0;
  double work = 0;       // time with all slots busy
  double idle = 0;       // idle part of the last wave
  double straggler = 0;  // excess of the longest task over the mean
  double in_last_wave = 0;
  double longest = 0;  // longest task
  double slot_seconds = 0;

  double seconds() const { return lag + work + idle + straggler; }
};

WaveTime WaveTimeOf(const PlannedStage& stage, double slots) {
  WaveTime time;
  const double tasks = static_cast<double>(stage.task_count);
  if (!(tasks > 0)) return time;
  const double of_task = std::max(stage.slots_per_task, 1e-3);
  slots = std::max(std::floor(std::round(stage.slot_share * slots) / of_task), 1.0);
  std::vector<double> rest = ListOf(stage.task_times);
  std::vector<double> first =
      stage.first_task_times.empty() ? rest : ListOf(stage.first_task_times);
  if (rest.empty()) rest = first;
  const double waves = std::ceil(tasks / slots);
  const double in_first = std::min(tasks, slots);
  const std::vector<double>& last = waves > 1 ? rest : first;
  const double even = MeanIn(first) + (waves - 1) * MeanIn(rest);
  const double work = in_first * MeanIn(first) + (tasks - in_first) * MeanIn(rest);
  time.lag = std::max(absl::ToDoubleSeconds(stage.lag), 0.0);
  time.work = std::min(work / slots, even);
  time.idle = even - time.work;
  time.in_last_wave = tasks - (waves - 1) * slots;
  time.longest = std::max(LongestOf(first, in_first), LongestOf(rest, tasks - in_first));
  const double longer = std::max(LongestOf(last, time.in_last_wave) - MeanIn(last), 0.0);
  time.straggler = std::max(even + longer, time.longest) - even;
  time.slot_seconds = work * of_task;
  return time;
}

constexpr std::size_t kNoPlace = std::numeric_limits<std::size_t>::max();

// Adds the stages of one job. Stages must come after the stages that they wait for; other parents
// are ignored.
class JobPath {
 public:
  JobPath(const PlannedJob& job, double slots) : job_(job) {
    absl::flat_hash_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < job.stages.size(); ++i) {
      const PlannedStage& stage = job.stages[i];
      times_.push_back(WaveTimeOf(stage, slots));
      std::size_t last = kNoPlace;
      for (const std::string& name : stage.after) {
        const auto parent = places.find(name);
        if (parent == places.end()) continue;
        if (last == kNoPlace || ends_[parent->second] > ends_[last]) last = parent->second;
      }
      before_.push_back(last);
      ends_.push_back((last == kNoPlace ? 0 : ends_[last]) + times_[i].seconds());
      slot_seconds_ += times_[i].slot_seconds;
      places.emplace(stage.name, i);
    }
  }

  // Returns the sums over the critical path. The end is at least the time that all work takes on
  // the slots.
  RoughEnd End(double slots) const {
    RoughEnd end;
    const auto last = std::max_element(ends_.begin(), ends_.end());
    std::size_t at =
        last == ends_.end() ? kNoPlace : static_cast<std::size_t>(last - ends_.begin());
    double idle = 0;
    double straggler = 0;
    for (; at != kNoPlace; at = before_[at]) {
      const WaveTime& time = times_[at];
      end.work += time.work;
      end.idle += time.idle;
      end.straggler += time.straggler;
      end.driver += time.lag;
      if (time.idle > idle) {
        idle = time.idle;
        end.idle_stage = job_.stages[at].name;
        end.idle_tasks = time.in_last_wave;
      }
      if (time.straggler > straggler) {
        straggler = time.straggler;
        end.straggler_stage = job_.stages[at].name;
        end.straggler_seconds = time.longest;
      }
    }
    end.seconds = end.work + end.idle + end.straggler + end.driver;
    const double more = slot_seconds_ / std::max(slots, 1.0) - end.seconds;
    end.work += std::max(more, 0.0);
    end.seconds += std::max(more, 0.0);
    return end;
  }

 private:
  const PlannedJob& job_;
  std::vector<WaveTime> times_;
  std::vector<std::size_t> before_;  // preceding stage on the longest path
  std::vector<double> ends_;
  double slot_seconds_ = 0;
};

// Returns the time to the second or, below ten seconds, to a tenth of a second.
std::string Shown(double seconds) {
  if (seconds < 10) return text::ElapsedText(absl::Seconds(seconds));
  return text::NearestText(absl::Seconds(seconds));
}

}  // namespace

absl::StatusOr<Limits> ParseLimits(const std::map<std::string, std::string>& limits) {
  static const auto* const kNames =
      new std::vector<std::string>{"core-hours", "cores", "executors", "memory", "time"};
  Limits parsed;
  for (const auto& [name, given] : limits) {
    absl::Status wrong;
    const auto set = [&wrong](const absl::StatusOr<double>& value, std::optional<double>& limit) {
      wrong = value.status();
      if (value.ok()) limit = *value;
    };
    if (name == "time") {
      const auto time = phases::ParseDuration(given, absl::Seconds(1));
      wrong = time.status();
      if (time.ok() && *time <= absl::ZeroDuration()) {
        wrong = absl::InvalidArgumentError(fmt::format("\"{}\" is not a positive time", given));
      }
      if (wrong.ok()) parsed.seconds = absl::ToDoubleSeconds(*time);
    } else if (name == "core-hours") {
      set(ParseNumber(given, 1e-6, 1e9), parsed.core_hours);
    } else if (name == "executors") {
      set(ParseNumber(given, 1, 1e6), parsed.executors);
    } else if (name == "cores") {
      set(ParseNumber(given, 1, 1e6), parsed.cores);
    } else if (name == "memory") {
      const auto bytes = phases::ParseBytes(given, phases::kMib);
      wrong = bytes.status();
      if (bytes.ok()) parsed.memory_bytes = static_cast<double>(*bytes);
    } else {
      wrong = absl::InvalidArgumentError(
          fmt::format("unknown limit{}", text::DidYouMeanOrKnown(name, *kNames)));
    }
    if (wrong.ok()) continue;
    return absl::InvalidArgumentError(
        fmt::format("--limit {}={}: {}", name, given, std::string(wrong.message())));
  }
  return parsed;
}

// --- search -----------------------------------------------------------------------------------

SearchSpace SpaceAround(const SearchedRun& run, const Limits& limits) {
  SearchSpace space;
  space.cores = Around(run.cores, {0.25, 0.5, 1, 2, 4}, run.cores_of_task, kCoresMost);
  if (space.cores.empty()) space.cores = {run.cores};
  if (run.memory_bytes > 0) {
    space.memory_bytes = Around(run.memory_bytes, {0.5, 1, 2, 4}, kMemoryLeast, 1e15);
  }
  double executors = limits.executors.value_or(kExecutorsMost);
  if (limits.cores) executors = std::min(executors, *limits.cores / space.cores.front());
  if (limits.memory_bytes && !space.memory_bytes.empty()) {
    const double least = static_cast<double>(space.memory_bytes.front());
    executors = std::min(executors, *limits.memory_bytes / least);
  }
  executors = std::min<double>(executors, kExecutorsMost);
  space.executors = Steps(executors);
  const auto at = std::lower_bound(space.executors.begin(), space.executors.end(), run.executors);
  const bool is_listed = at != space.executors.end() && *at == run.executors;
  if (run.executors <= executors && !is_listed) space.executors.insert(at, run.executors);
  if (run.partitions > 0) {
    space.partitions = Around(run.partitions, {0.25, 0.5, 1, 2, 4}, 1, kPartitionsMost);
  }
  return space;
}

bool Allows(const Limits& limits, const SearchedRun& choice) {
  const double executors = choice.executors;
  const auto is_over = [](double value, const std::optional<double>& limit) {
    return limit && value > *limit;
  };
  return choice.cores >= choice.cores_of_task && !is_over(executors, limits.executors) &&
         !is_over(executors * choice.cores, limits.cores) &&
         !is_over(executors * static_cast<double>(choice.memory_bytes), limits.memory_bytes);
}

SearchedRun ValuesOf(const Choice& choice, const SearchSpace& space, const SearchedRun& run) {
  const auto value = [](const auto& values, std::size_t at, auto otherwise) {
    return at < values.size() ? values[at] : otherwise;
  };
  return {.executors = value(space.executors, choice[kOfExecutors], run.executors),
          .cores = value(space.cores, choice[kOfCores], run.cores),
          .cores_of_task = run.cores_of_task,
          .memory_bytes = value(space.memory_bytes, choice[kOfMemory], run.memory_bytes),
          .partitions = value(space.partitions, choice[kOfPartitions], run.partitions)};
}

Choice NumbersIn(const SearchSpace& space) {
  Choice sizes = {space.executors.size(), space.cores.size(), space.memory_bytes.size(),
                  space.partitions.size()};
  for (std::size_t& size : sizes) size = std::max<std::size_t>(size, 1);
  return sizes;
}

Choice ChoiceNear(const SearchSpace& space, const SearchedRun& run) {
  const auto place = [](const auto& values, auto value) {
    const auto at = std::lower_bound(values.begin(), values.end(), value);
    const auto last = static_cast<std::size_t>(at - values.begin());
    return values.empty() ? 0 : std::min(last, values.size() - 1);
  };
  return {place(space.executors, run.executors), place(space.cores, run.cores),
          place(space.memory_bytes, run.memory_bytes), place(space.partitions, run.partitions)};
}

std::vector<Tried> Search(const Choice& sizes, const Choice& start, const Find& find,
                          std::size_t most,
                          absl::FunctionRef<std::optional<Figures>(const Choice&)> evaluate) {
  Trials trials(most, evaluate);
  std::size_t choices = 1;
  for (const std::size_t size : sizes)
    choices *= std::min(std::max<std::size_t>(size, 1), most + 1);
  if (choices <= most) {
    TryAll(sizes, trials);
  } else {
    Descend(sizes, start, find, trials);
  }
  std::vector<Tried> tried = std::move(trials).tried();
  std::stable_sort(tried.begin(), tried.end(), [&](const Tried& a, const Tried& b) {
    return Distance(a.choice, start) < Distance(b.choice, start);
  });
  return tried;
}

bool Exceeds(const Figures& figures, const Limits& limits) { return ExcessOf(figures, limits) > 1; }

std::vector<std::size_t> BestOf(const std::vector<Figures>& all, const Find& find,
                                std::size_t most) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return IsBetter(all[a], all[b], find); });
  std::vector<std::size_t> best;
  for (const std::size_t i : order) {
    if (best.size() == most) break;
    if (!best.empty()) {
      const double other = Other(all[best.back()], find.goal);
      if (Exceeds(all[i], find.limits)) break;
      if (!(Other(all[i], find.goal) <= other * (1 - kWorthwhile))) continue;
    }
    best.push_back(i);
  }
  return best;
}

// --- limiting resource --------------------------------------------------------------------------

double LongestOf(std::vector<double> times, double count) {
  if (times.empty() || !(count > 0)) return 0;
  std::sort(times.begin(), times.end());
  const double size = static_cast<double>(times.size());
  double longest = 0;
  double below = 0;  // probability that all tasks are among the shorter times
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double up_to = std::pow(static_cast<double>(i + 1) / size, count);
    longest += times[i] * (up_to - below);
    below = up_to;
  }
  return longest;
}

RoughEnd RoughEndOf(const Plan& plan, std::uint32_t slots) {
  if (plan.jobs.empty()) return {};
  return JobPath(plan.jobs[0], slots).End(slots);
}

RoughEnd Scaled(RoughEnd end, double factor) {
  for (double* part :
       {&end.seconds, &end.work, &end.idle, &end.straggler, &end.driver, &end.straggler_seconds}) {
    *part *= factor;
  }
  return end;
}

Bound BoundOf(const RoughEnd& end, std::uint32_t slots, const std::string& of_work,
              std::optional<double> more_memory_seconds) {
  const double memory = std::max(end.seconds - more_memory_seconds.value_or(end.seconds), 0.0);
  const double work = std::max(end.work - memory, 0.0);
  const double most = std::max({work, memory, end.idle, end.straggler, end.driver});
  if (!(most > 0)) return {};
  const std::string whole = Shown(end.seconds);
  if (most == end.driver) {
    return {"driver", fmt::format("{} of {} pass before the first tasks of stages, while the "
                                  "driver plans or executors start",
                                  Shown(end.driver), whole)};
  }
  if (most == end.straggler) {
    return {"straggler",
            fmt::format("the longest task of stage {} takes {}; {} of {} pass while only such "
                        "tasks run",
                        end.straggler_stage, Shown(end.straggler_seconds), Shown(end.straggler),
                        whole)};
  }
  if (most == end.idle) {
    return {"tasks per wave",
            fmt::format("the last wave of stage {} has {} for {}; slots are idle for {} of {}",
                        end.idle_stage,
                        text::Counted(static_cast<std::uint64_t>(end.idle_tasks), "task"),
                        text::Counted(slots, "slot"), Shown(end.idle), whole)};
  }
  if (most == memory) {
    return {"memory",
            fmt::format("records that do not fit into memory cost {} of {}", Shown(memory), whole)};
  }
  return {of_work.empty() ? "tasks" : of_work,
          fmt::format("tasks on the critical path keep {} busy for {} of {}",
                      slots == 1 ? "the slot" : fmt::format("all {} slots", slots), Shown(work),
                      whole)};
}

}  // namespace tidemark::whatif
