// Simulates running tasks on hosts whose processors they share, and their ends.
//
// The n tasks of a host share its processors with each other and with competitors. All run at the
// same speed, and at full speed if the processors suffice. When a task ends, the other tasks speed
// up. Therefore the last task of a crowded host ends earlier than its pace suggests. Without hosts
// there is one host with unlimited processors, and this class is a heap of ends.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark::placement {

struct SharedHost {
  double processors = 0;
  double others = 0;  // competitors that are not tasks of the application

  // Returns the speed of each of `tasks` tasks relative to a task that runs alone; above 0, at most
  // 1.
  double Speed(std::size_t tasks) const;
};

class RunningTasks {
 public:
  // Without hosts, tasks run on host 0, which has unlimited processors.
  explicit RunningTasks(std::vector<SharedHost> hosts);

  // Removes all tasks and sets the time to 0.
  void Clear();
  // Starts a task that holds a slot from `at` on. It works after `delay`, for `seconds` if it is
  // alone. REQUIRES: all times are finite and not negative, and `at` is not before the last event.
  // The numbers of tasks and of wake-ups are small (from 0 on), and each is used once. Cost: O(log
  // tasks).
  void Begin(std::uint32_t task, std::uint32_t host, double at, double delay, double seconds);
  void WakeUp(std::uint32_t number, double at);

  struct Event {
    double at = 0;
    std::uint32_t number = 0;
    bool is_end = false;  // of a task; else of a wake-up
  };
  // Returns the next event until `until`; ties in the order of their numbers. Cost: amortised O(log
  // tasks).
  std::optional<Event> Next(double until);

 private:
  static constexpr double kNone = -1;
  enum class Kind : std::uint8_t { kWakeUp, kEnd, kArrival, kPredictedEnd };
  struct Scheduled {
    double at = 0;
    std::uint32_t number = 0;  // of the task; kPredictedEnd: of the host
    Kind kind = Kind::kEnd;
    // Branchless: a processor mispredicts half of the branches on the way down a heap.
    bool operator>(const Scheduled& other) const {
      return (at > other.at) | ((at == other.at) & (number > other.number));
    }
  };
  struct Ending {
    double served = 0;  // work per task of the host at the end
    std::uint32_t task = 0;
    bool operator>(const Ending& other) const {
      return served > other.served || (served == other.served && task > other.task);
    }
  };
  struct Host {
    SharedHost shape;
    double now = 0;
    double served = 0;
    double predicted_end = kNone;  // of its first task; earlier forecasts are void
    std::vector<Ending> tasks;     // heap, earliest first
  };
  struct Arrival {
    std::uint32_t host = 0;
    double seconds = 0;
  };

  bool IsNextBy(double until) const;
  void Push(const Scheduled& event);
  void ReplaceFirst(const Scheduled& event);
  static void Advance(Host& host, double at);
  void PredictEnd(std::uint32_t host);

  std::vector<Host> hosts_;
  std::vector<Scheduled> events_;  // heap, earliest first
  // True if the first event has happened. It stays in the heap until the next event replaces it:
  // the end of a task is usually followed by a start, which then takes one pass through the heap.
  bool has_first_happened_ = false;
  std::vector<Arrival> arrivals_;  // by task; only if there are hosts
};

}  // namespace tidemark::placement
