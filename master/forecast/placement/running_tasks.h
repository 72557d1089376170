// Tasks that run, and when each of them ends, on hosts whose processors they share.
//
// Processor sharing: of n tasks on a host, beside others of somebody else, each runs at the same
// speed, as if it was alone while the processors suffice. When one ends the rest get faster, which
// is why the last task of a crowded host ends sooner than its pace so far says. Where no task waits
// for a processor there is one host with endless ones: then this is a heap of ends.
//
// For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark::schedule {

struct SharedHost {
  double processors = 0;
  double others = 0;  // that compete for them and are not tasks of the application

  // Of each of so many tasks, relative to one that is alone; above 0, at most 1.
  double Speed(std::size_t tasks) const;
};

class RunningTasks {
 public:
  // Without any: one host, 0, whose processors never end.
  explicit RunningTasks(std::vector<SharedHost> hosts);

  // Nothing runs, and it is 0 again.
  void Clear();
  // A task that holds a slot from `at` on, which is not before the last event, works from `delay`
  // later on, for `seconds` where it is alone. All are finite and not negative. Numbers of tasks
  // and wake-ups are small and used once: from 0 on. O(log tasks).
  void Begin(std::uint32_t task, std::uint32_t host, double at, double delay, double seconds);
  void WakeUp(std::uint32_t number, double at);

  struct Event {
    double at = 0;
    std::uint32_t number = 0;
    bool is_end = false;  // of a task; else a wake-up
  };
  // The next event up to `until`; ties in the order of their numbers. Amortised O(log tasks).
  std::optional<Event> Next(double until);

 private:
  static constexpr double kNone = -1;
  enum class Kind : std::uint8_t { kWakeUp, kEnd, kArrival, kForeseenEnd };
  struct Foreseen {
    double at = 0;
    std::uint32_t number = 0;  // of the task; kForeseenEnd: of the host
    Kind kind = Kind::kEnd;
    // Without branches: a processor guesses half of those on the way down a heap wrongly.
    bool operator>(const Foreseen& other) const {
      return (at > other.at) | ((at == other.at) & (number > other.number));
    }
  };
  struct Ending {
    double served = 0;  // when the host has served each of its tasks for so long
    std::uint32_t task = 0;
    bool operator>(const Ending& other) const {
      return served > other.served || (served == other.served && task > other.task);
    }
  };
  struct Host {
    SharedHost shape;
    double now = 0;
    double served = 0;
    double foreseen_end = kNone;  // of its first task; what was foreseen before is void
    std::vector<Ending> tasks;    // heap, earliest first
  };
  struct Arrival {
    std::uint32_t host = 0;
    double seconds = 0;
  };

  bool IsNextBy(double until) const;
  void Push(const Foreseen& event);
  void ReplaceFirst(const Foreseen& event);
  static void Advance(Host& host, double at);
  void ForeseeEnd(std::uint32_t host);

  std::vector<Host> hosts_;
  std::vector<Foreseen> events_;  // heap, earliest first
  // Whether the first of them has happened. It stays for the next one to take its place: a task
  // that ends is most often followed by one that begins, which is one way through the heap then.
  bool has_first_happened_ = false;
  std::vector<Arrival> arrivals_;  // by task; only with hosts
};

}  // namespace tidemark::schedule
