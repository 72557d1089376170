// Finds the settings with which a logged application ends soonest, or uses the fewest core-hours.
//
// The search evaluates a bounded number of choices with RoughEndOf(), which ranks them. The caller
// predicts the best few choices with EstimateStages(). The functions are pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "tidemark/plan.h"

namespace tidemark::whatif {

enum class Goal : std::uint8_t { kTime, kCoreHours };

// Upper limits of a choice. An unset field limits nothing. `cores` and `memory_bytes` are sums over
// all executors.
struct Limits {
  std::optional<double> seconds;
  std::optional<double> core_hours;
  std::optional<double> executors;
  std::optional<double> cores;
  std::optional<double> memory_bytes;
};

// Parses limits by name: time=20min, core-hours=2.5, executors=16, cores=64, memory=256g. Fails
// with InvalidArgument, which names the wrong limit and the expected form.
absl::StatusOr<Limits> ParseLimits(const std::map<std::string, std::string>& limits);

// A goal within limits.
struct Find {
  Goal goal = Goal::kTime;
  Limits limits;
};

// --- search -----------------------------------------------------------------------------------

// The values of the settings that may change. An empty list keeps the value of the run.
struct SearchSpace {
  std::vector<std::uint32_t> executors;
  std::vector<std::uint32_t> cores;         // per executor
  std::vector<std::uint64_t> memory_bytes;  // per executor
  std::vector<std::uint32_t> partitions;
};

// The settings of a run or of a choice. If memory or partitions are 0, they have no effect in the
// run and are not searched.
struct SearchedRun {
  std::uint32_t executors = 1;
  std::uint32_t cores = 1;
  std::uint32_t cores_of_task = 1;
  std::uint64_t memory_bytes = 0;
  std::uint32_t partitions = 0;
};

// Returns values around the values of the run, in ascending order: 1, 2, 3, 4, 6, 8, 12 ...
// executors up to the limits and 10,000; a quarter to four times the cores of an executor and the
// partitions; half to four times the memory of an executor.
SearchSpace SpaceAround(const SearchedRun& run, const Limits& limits);

// Returns true if the limits of executors, cores and memory allow the choice, and an executor has
// enough cores for a task.
bool Allows(const Limits& limits, const SearchedRun& choice);

// The smallest relative difference that counts. Chosen by hand; predictions are less precise.
inline constexpr double kWorthwhile = 0.03;

// Indexes of the values of a choice, in the order of SearchSpace.
using Choice = std::array<std::size_t, 4>;
SearchedRun ValuesOf(const Choice& choice, const SearchSpace& space, const SearchedRun& run);
// Returns the number of values of each setting, at least 1.
Choice NumbersIn(const SearchSpace& space);
// Returns the choice with the run's values or, if they are missing, the next larger values.
Choice ChoiceNear(const SearchSpace& space, const SearchedRun& run);

struct Figures {
  double seconds = 0;
  double core_hours = 0;
};

struct Tried {
  Choice choice{};
  Figures figures;
};

// Returns the evaluated choices, at most `most` of them. `sizes` contains the numbers of values, at
// least 1 each. If there are at most `most` choices, evaluates all of them. Otherwise varies one
// setting at a time from `start`, until no change improves the result. `evaluate` returns nullopt
// for an impossible choice. The search then lowers the cores of an executor, or the number of
// executors. Choices with fewer differences from `start` come first.
std::vector<Tried> Search(const Choice& sizes, const Choice& start, const Find& find,
                          std::size_t most,
                          absl::FunctionRef<std::optional<Figures>(const Choice&)> evaluate);

// Returns the indexes of the choices to report, at most `most` of them: the best choice, then each
// next choice that is worse for the goal but at least kWorthwhile better in the other figure than
// all previous ones. Choices within the limits of time and core-hours come first. Without such
// choices, returns the nearest choice. If figures differ by less than kWorthwhile, the other figure
// decides, then the order.
std::vector<std::size_t> BestOf(const std::vector<Figures>& all, const Find& find,
                                std::size_t most);

// Returns true if the figures exceed the limit of time or of core-hours.
bool Exceeds(const Figures& figures, const Limits& limits);

// --- what binds ---------------------------------------------------------------------------------

// The end of a plan on a number of slots, and the parts of its critical path.
//
// A stage of n tasks with the mean m on s slots takes k = ceil(n / s) waves:
//
//     lag + k m + (longest of the last wave - m), at least lag + longest of all tasks
//
// The longest of n tasks is the expected maximum of n times drawn from the measured times. The
// application ends with its critical path, but not before all its work / s.
struct RoughEnd {
  double seconds = 0;
  double work = 0;       // time of work that all slots share
  double idle = 0;       // idle time in waves with fewer tasks than slots
  double straggler = 0;  // excess of the longest task over the mean
  double driver = 0;     // time before the first task of a stage
  // Names of the stages with the largest share, and the number of tasks in the wave that leaves
  // slots idle.
  std::string idle_stage;
  double idle_tasks = 0;
  std::string straggler_stage;
  double straggler_seconds = 0;
};
RoughEnd RoughEndOf(const Plan& plan, std::uint32_t slots);
// Returns the end with all times multiplied by `factor`.
RoughEnd Scaled(RoughEnd end, double factor);

// Returns the expected maximum of `count` times drawn at random from `times`, or 0 if `times` is
// empty.
double LongestOf(std::vector<double> times, double count);

// The part of a prediction that takes most of the time.
struct Bound {
  std::string name;      // such as "tasks per wave"
  std::string sentence;  // human-readable, with figures
};
// `of_work` is the resource that the models name, such as "network", and may be empty.
// `more_memory` is the end of the same choice with more memory, if memory has an effect.
Bound BoundOf(const RoughEnd& end, std::uint32_t slots, const std::string& of_work,
              std::optional<double> more_memory_seconds);

}  // namespace tidemark::whatif
