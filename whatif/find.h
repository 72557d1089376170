// Finds the settings with which a logged application ends soonest, or uses the fewest core-hours.
//
// The search evaluates a bounded number of choices by RoughEndOf(), which ranks them. The caller
// predicts the few best ones with EstimateStages(). Pure functions.
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

// Upper limits of a choice; an unset field limits nothing. `cores` and `memory_bytes` are the sums
// over all executors.
struct Limits {
  std::optional<double> seconds;
  std::optional<double> core_hours;
  std::optional<double> executors;
  std::optional<double> cores;
  std::optional<double> memory_bytes;
};

// Parses limits by name: time=20min, core-hours=2.5, executors=16, cores=64, memory=256g.
// InvalidArgument names a wrong limit and the expected form.
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

// The settings of a run, or of a choice. Memory or partitions of 0 have no effect in the run and
// are not searched.
struct SearchedRun {
  std::uint32_t executors = 1;
  std::uint32_t cores = 1;
  std::uint32_t cores_of_task = 1;
  std::uint64_t memory_bytes = 0;
  std::uint32_t partitions = 0;
};

// Returns values around the run, in ascending order: 1, 2, 3, 4, 6, 8, 12 ... executors up to the
// limits and 10,000; a quarter to four times the cores of an executor and the partitions; half to
// four times the memory of an executor.
SearchSpace SpaceAround(const SearchedRun& run, const Limits& limits);

// Returns true if the limits of executors, cores and memory allow the choice, and an executor has
// the cores of a task.
bool Allows(const Limits& limits, const SearchedRun& choice);

// The smallest difference that counts, as a share. Chosen by hand: predictions are less precise.
inline constexpr double kWorthwhile = 0.03;

// Indexes of the values of a choice, in the order of SearchSpace.
using Choice = std::array<std::size_t, 4>;
SearchedRun ValuesOf(const Choice& choice, const SearchSpace& space, const SearchedRun& run);
// Returns the numbers of values, at least 1 each.
Choice NumbersIn(const SearchSpace& space);
// Returns the choice with the values of the run, or the next larger ones.
Choice ChoiceNear(const SearchSpace& space, const SearchedRun& run);

struct Figures {
  double seconds = 0;
  double core_hours = 0;
};

struct Tried {
  Choice choice{};
  Figures figures;
};

// Returns the evaluated choices, at most `most` of them. `sizes` are the numbers of values, at
// least 1. Evaluates all choices if there are at most `most`. Otherwise varies one setting at a
// time from `start`, until no setting improves. `evaluate` returns nullopt for a choice that is not
// possible. The search then lowers the cores of an executor, or their number. The choices with the
// fewest differences from `start` are the first ones.
std::vector<Tried> Search(const Choice& sizes, const Choice& start, const Find& find,
                          std::size_t most,
                          absl::FunctionRef<std::optional<Figures>(const Choice&)> evaluate);

// Returns indexes of the choices to report, at most `most`: the best one, then each next one that
// is worse for the goal and at least kWorthwhile better in the other figure than all before it.
// Choices within the limits of time and core-hours precede all others. If none is within them,
// returns the nearest one. If figures differ by less than kWorthwhile, the other figure
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
// The longest of n tasks is its expected value if each is drawn from the measured times. The
// application ends with its critical path, at least after all its work over s.
struct RoughEnd {
  double seconds = 0;
  double work = 0;       // that all slots share
  double idle = 0;       // waves with fewer tasks than slots
  double straggler = 0;  // the longest task beyond the mean
  double driver = 0;     // before the first task of a stage
  // Names of the stages with the largest part, and the tasks in the wave that leaves slots idle.
  std::string idle_stage;
  double idle_tasks = 0;
  std::string straggler_stage;
  double straggler_seconds = 0;
};
RoughEnd RoughEndOf(const Plan& plan, std::uint32_t slots);
// Returns the end with all parts multiplied.
RoughEnd Scaled(RoughEnd end, double factor);

// Returns the expected longest of `count` times, each of which is one of `times` by chance; 0
// without times.
double LongestOf(std::vector<double> times, double count);

// The part of a prediction that takes most of the time.
struct Bound {
  std::string name;      // such as "tasks per wave"
  std::string sentence;  // for a person, with figures
};
// `of_work`: the resource that the models name, such as "network"; may be empty. `more_memory`: the
// end of the same choice with more memory, if memory has an effect.
Bound BoundOf(const RoughEnd& end, std::uint32_t slots, const std::string& of_work,
              std::optional<double> more_memory_seconds);

}  // namespace tidemark::whatif
