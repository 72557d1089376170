// Simulates running tasks on hosts whose resources they share, and their ends.
//
// The tasks of a host share its processors with each other and with competitors. The tasks of a
// node also share its disks and network (node_share.h). When a task ends or begins another part of
// its work, the rates of the other tasks change, and a new state of the host begins ([BOE] 5.1).
// Therefore the last task of a crowded host ends earlier than its pace suggests. If there are no
// hosts, no task waits, and this class is a heap of ends.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/forecast/placement/node_share.h"

namespace tidemark::placement {

struct SharedHost {
  double processors = 0;
  double others = 0;  // competitors outside the application, if `nodes` is 0
  // Number of nodes that this host represents, with `processors` in total. Their tasks use what
  // their stage demands, and nothing if there is no demand. If 0, every task uses one processor and
  // no other resource.
  double nodes = 0;

  // Returns the speed of each of `tasks` tasks that use one processor each, relative to a task that
  // runs alone. Above 0, at most 1.
  double Speed(double tasks) const;
  friend bool operator==(const SharedHost&, const SharedHost&) = default;
};

// The use of hosts by the tasks of one stage, as sums over its tasks.
struct HostUse {
  double seconds = 0;                         // time on a host
  double work = 0;                            // completed work, in seconds of a task running alone
  std::array<double, kResources> bound = {};  // seconds by bottleneck, in parts that have needs
};

class RunningTasks {
 public:
  // If there are no hosts, tasks run on host 0, which has unlimited resources. `demands` contains
  // the demand of each stage, for hosts with nodes.
  explicit RunningTasks(std::vector<SharedHost> hosts, std::vector<TaskDemand> demands = {});

  // Removes all tasks and sets the time to 0.
  void Clear();
  struct Begun {
    std::uint32_t task = 0;
    std::uint32_t host = 0;
    double at = 0;       // time from which the task holds a slot
    double delay = 0;    // time before the task begins its work
    double seconds = 0;  // time of the task's work if it runs alone
    std::uint32_t stage = 0;
    double wide = 1;  // number of concurrent tasks that this task represents
  };
  // Starts a task. REQUIRES: all times are finite and not negative, and `at` is not before the last
  // event. Numbers of tasks and of wake-ups are small, start at 0, and are used once each. O(log
  // tasks).
  void Begin(const Begun& begun);
  void WakeUp(std::uint32_t number, double at);

  struct Event {
    double at = 0;
    std::uint32_t number = 0;
    bool is_end = false;  // true for the end of a task, false for a wake-up
  };
  // Returns the next event up to `until`. Simultaneous events come in the order of their numbers.
  // Amortised O(log tasks + active stages of the host).
  std::optional<Event> Next(double until);

  // Returns the use of hosts with nodes up to `at`, by stage. REQUIRES: `at` is not before the last
  // event. O(hosts x active stages).
  const std::vector<HostUse>& UseUntil(double at);

 private:
  static constexpr double kNone = -1;
  enum class Kind : std::uint8_t { kWakeUp, kEnd, kArrival, kPredictedEnd };
  struct Scheduled {
    double at = 0;
    std::uint32_t number = 0;  // number of the task or, for kPredictedEnd, of the host
    Kind kind = Kind::kEnd;
    // Branchless, since a processor mispredicts half of the branches on the way down a heap.
    bool operator>(const Scheduled& other) const {
      return (at > other.at) | ((at == other.at) & (number > other.number));
    }
  };
  struct Ending {
    double served = 0;  // work per task of the group when the task ends
    std::uint32_t task = 0;
    bool operator>(const Ending& other) const {
      return served > other.served || (served == other.served && task > other.task);
    }
  };
  // The tasks of a host that are in the same part of their work. Their rates are equal.
  struct Group {
    std::uint32_t part = 0;  // index into `parts_`
    double wide = 0;
    double served = 0;  // completed work per task
    PartRate rate;
    std::vector<Ending> tasks;  // heap, earliest first
  };
  struct Host {
    SharedHost shape;
    std::uint32_t kind = 0;  // hosts of one kind are identical
    double now = 0;
    double predicted_end = kNone;  // earliest end of a part; replaces earlier predictions
    std::size_t ends_first = 0;    // group of the part that ends first
    bool has_changed = false;      // whether the end must be predicted again
    std::vector<Group> groups;     // by part
  };
  struct Part {
    TaskPart part;
    std::uint32_t stage = 0;
    bool is_last = true;
  };
  struct Work {
    std::uint32_t host = 0;
    std::uint32_t stage = 0;
    double seconds = 0;
    double wide = 1;
  };

  bool IsNextBy(double until) const;
  void Push(const Scheduled& event);
  void ReplaceFirst(const Scheduled& event);
  void Advance(Host& host, double at);
  void Join(Host& host, std::uint32_t task, std::uint32_t part);
  // Removes the first task of the group that ends first. Returns the task and its part.
  std::pair<std::uint32_t, std::uint32_t> Leave(Host& host);
  void MarkChanged(std::uint32_t host);
  void SetRates(Host& host);
  void PredictEnd(std::uint32_t host);
  // Predicts the ends on hosts whose tasks have changed.
  void PredictEnds();

  std::vector<Host> hosts_;
  std::vector<Part> parts_;                // one processor, then the parts of the stages
  std::vector<std::uint32_t> first_part_;  // by stage; 0 if the stage has no demand
  // The rates of the groups of a host, by the host's kind and by the part and width of each group.
  absl::flat_hash_map<std::vector<double>, std::vector<PartRate>> known_rates_;
  std::vector<HostUse> use_;  // by stage
  // Hosts whose tasks have changed, and the time of the changes. Their ends are predicted only when
  // time advances, since the end of a task is usually followed by a start.
  std::vector<std::uint32_t> changed_;
  double changed_at_ = 0;
  std::vector<Scheduled> events_;  // heap, earliest first
  // True if the first event has happened. It stays in the heap until the next event replaces it.
  // The end of a task is usually followed by a start, which then takes only one pass through the
  // heap.
  bool has_first_happened_ = false;
  std::vector<Work> works_;  // by task; used only if there are hosts
};

// Returns the ratio of the mean time of a stage's tasks to their times alone, if the stage runs on
// one node without other stages. A measured mean divided by this ratio is the mean time of a task
// alone. A simulation of the measured run then reproduces the measured times. `variation` is the
// ratio of the standard deviation to the mean of the times alone. Costs as much as simulating at
// most 48 tasks.
double MeanStretch(const TaskDemand& demand, const SharedHost& node, double tasks, double slots,
                   double variation);

}  // namespace tidemark::placement
