// Tasks that share the processors of their hosts: what one takes depends on how many others run.
//
// Processor sharing: of n tasks of a job on a host, beside others of somebody else, each runs at
// the same speed, as if it was alone while the processors suffice. When one ends the rest get
// faster, which is why the last task of an oversubscribed host ends sooner than its pace so far
// says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace tidemark::schedule {

struct SharedHost {
  double processors = 0;
  double others = 0;  // that compete for them and are not tasks of the job

  // Of each of so many tasks, relative to one that is alone; 0..1.
  double Speed(std::size_t tasks) const;
};

// Plays the future of tasks on such hosts, one event after the other. For one thread.
class ProcessorSharing {
 public:
  // Told of each end: the task, when, and on which host. May call Begin().
  using OnEnd = std::function<void(std::size_t task, double at, std::size_t host)>;

  explicit ProcessorSharing(std::vector<SharedHost> hosts);

  // A task begins at `at`, not before anything that has happened; it takes `seconds_alone` where it
  // is alone. Both are finite and not negative. O(log tasks).
  void Begin(std::size_t task, std::size_t host, double at, double seconds_alone);
  // Until no task is left; then it is ready for another future, from 0 on. O(n log n).
  void Run(const OnEnd& on_end);

 private:
  struct Ending {
    double served = 0;  // when the host has served each of its tasks for so long
    std::size_t task = 0;
    bool operator>(const Ending& other) const { return served > other.served; }
  };
  template <typename T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  struct Host {
    SharedHost shape;
    double now = 0;
    double served = 0;
    std::uint64_t changes = 0;
    Earliest<Ending> tasks;
  };
  struct Event {
    double at = 0;
    std::size_t host = 0;
    std::uint64_t changes = 0;  // of the host when this was foreseen; later ones make it void
    bool is_arrival = false;
    std::size_t task = 0;  // of an arrival
    double seconds_alone = 0;
    bool operator>(const Event& other) const { return at > other.at; }
  };

  void Advance(Host& host, double at);
  void ForeseeEnd(std::size_t host);

  std::vector<Host> hosts_;
  Earliest<Event> events_;
};

}  // namespace tidemark::schedule
