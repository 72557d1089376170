// A MapReduce job in virtual time. The events of its processes are computed from the sizes of its
// key groups and an exact cost function, so the true times are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/facts/events.h"
#include "tests/monitor/estimates.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"

namespace tidemark::test {

struct VirtualJob {
  std::vector<std::vector<ExplicitKey>> groups;  // by reduce task, in the order in which they run
  // duration of a reduce call, as a function of the size in bytes
  std::function<double(std::uint64_t)> seconds;
  std::uint32_t map_tasks = 2;  // tasks run at the same time; each emits its share of every group
  double map_seconds = 10;
  double shuffle_seconds = 2;  // duration of the shuffle of each reduce task
  std::size_t slots = 1000;    // number of slots for reduce tasks
  double flush_seconds = 1;
  bool keys_named = true;
  std::uint64_t explicit_bytes_min = 0;  // key groups below this size are implicit
  // Fraction of the reduce time in which each reduce task waits for a processor of its host, which
  // has two processors. If 0, no task reports its host.
  double waited = 0;
};

// The events in the order of their arrival, and the true times.
struct Story {
  std::vector<Event> events;
  double reduce_starts = 0;
  double ends = 0;
};

// Collects events, whose times may be in any order.
class StoryTeller {
 public:
  StoryTeller& Say(double seconds, const std::string& source, EventBody body) {
    told_.push_back({seconds, source, std::move(body)});
    return *this;
  }
  // Adds events of the application master at one instant.
  template <typename... Bodies>
  StoryTeller& Master(double seconds, Bodies... bodies) {
    (Say(seconds, "app-master", std::move(bodies)), ...);
    return *this;
  }
  std::vector<Event> InOrder() && {
    std::stable_sort(told_.begin(), told_.end(),
                     [](const Told& a, const Told& b) { return a.seconds < b.seconds; });
    std::map<std::string, Source> sources;
    std::vector<Event> events;
    for (Told& told : told_) {
      Source& source = sources.try_emplace(told.source, told.source).first->second;
      events.push_back(source.At(told.seconds, std::move(told.body)));
    }
    return events;
  }

 private:
  struct Told {
    double seconds;
    std::string source;
    EventBody body;
  };
  std::vector<Told> told_;
};

inline MapProfile ShareOfMapTask(const VirtualJob& job, std::uint32_t map_task) {
  MapProfile profile{.attempt = M(map_task)};
  for (std::uint32_t i = 0; i < job.groups.size(); ++i) {
    PartitionProfile partition{.partition = i};
    for (const ExplicitKey& group : job.groups[i]) {
      const std::uint64_t bytes =
          group.size_bytes / job.map_tasks + (map_task == 0 ? group.size_bytes % job.map_tasks : 0);
      partition.total_bytes += bytes;
      if (group.size_bytes >= job.explicit_bytes_min) {
        partition.explicit_keys.push_back({group.key, bytes});
      } else {
        partition.implicit_bytes += bytes;
        ++partition.implicit_key_count;
      }
    }
    profile.partitions.push_back(std::move(partition));
  }
  return profile;
}

// Adds a reduce task that starts at `starts`. Returns its end.
inline double TellReduceTask(const VirtualJob& job, std::uint32_t index, double starts,
                             StoryTeller& teller) {
  const std::string source = "r-" + std::to_string(index);
  const double reduces = starts + job.shuffle_seconds;
  AttemptChanged started = Started(R(index));
  if (job.waited > 0) {
    teller.Say(starts, source, ExecutorOpened{.executor = index, .host = "host"});
    started.executor = index;
  }
  teller.Say(starts, source, started).Say(reduces, source, Shuffled(R(index)));
  ReduceProfile profile{.attempt = R(index), .keys_named = job.keys_named};
  double now = reduces;
  double flush = reduces + job.flush_seconds;
  const auto tell = [&](double at) {
    if (job.waited > 0) {
      const absl::Duration watched = absl::Seconds(at - reduces);
      profile.processor_use = {.watched = watched, .waited = job.waited * watched, .processors = 2};
    }
    teller.Say(at, source, profile);
    profile.points.clear();
    profile.finished_keys.clear();
  };
  for (const ExplicitKey& group : job.groups[index]) {
    const double ends = now + job.seconds(group.size_bytes);
    for (; flush < ends; flush += job.flush_seconds) {
      profile.running_group = RunningGroup{.elapsed = absl::Seconds(flush - now)};
      if (job.keys_named) profile.running_group->key = group.key;
      tell(flush);
    }
    const absl::Duration took = absl::Seconds(ends - now);
    now = ends;
    profile.running_group.reset();
    profile.last_group_finished_at = At(now);
    ++profile.groups_done;
    profile.bytes_done += group.size_bytes;
    profile.reduce_time += took;
    profile.points.push_back({group.size_bytes, 1, took});
    if (job.keys_named) profile.finished_keys.push_back(Ended(group, absl::ToDoubleSeconds(took)));
  }
  tell(now);
  teller.Say(now, source, Finished(R(index)));
  return now;
}

inline Story Tell(const VirtualJob& job) {
  StoryTeller teller;
  JobOpened opened = Opened(job.map_tasks, static_cast<std::uint32_t>(job.groups.size()));
  ReduceStage(opened).slots = static_cast<std::uint32_t>(std::min(job.slots, job.groups.size()));
  teller.Master(0, opened);
  for (std::uint32_t i = 0; i < job.map_tasks; ++i) {
    teller.Master(0, Started(M(i)));
    teller.Say(job.map_seconds, "m-" + std::to_string(i), ShareOfMapTask(job, i));
    teller.Master(job.map_seconds, Finished(M(i)));
  }
  Story story{.reduce_starts = job.map_seconds + job.shuffle_seconds};
  std::vector<double> free_at(std::min(job.slots, job.groups.size()), job.map_seconds);
  for (std::uint32_t i = 0; i < job.groups.size(); ++i) {
    const auto slot = std::min_element(free_at.begin(), free_at.end());
    *slot = TellReduceTask(job, i, *slot, teller);
    story.ends = std::max(story.ends, *slot);
  }
  teller.Master(story.ends, Closed());
  story.events = std::move(teller).InOrder();
  return story;
}

// Applies the events of the story to `monitor`, and ticks every `tick_seconds` until the job has
// ended.
inline std::vector<Snapshot> Watch(const Story& story, double tick_seconds, JobMonitor& monitor) {
  std::vector<Snapshot> snapshots;
  auto event = story.events.begin();
  for (double now = 0; snapshots.empty() || !snapshots.back().is_final; now += tick_seconds) {
    for (; event != story.events.end() && event->arrived_at <= At(now); ++event) {
      monitor.Apply(*event).IgnoreError();
    }
    snapshots.push_back(monitor.Tick(At(now)));
    if (now > story.ends + 10'000) break;
  }
  return snapshots;
}

// Returns a job with two reduce tasks. The time of a key group is quadratic in its size (1 s for
// 1000 bytes). The last group of the second task takes 400 of its 475 s.
inline VirtualJob QuadraticJob() {
  VirtualJob job;
  job.seconds = [](std::uint64_t bytes) {
    const double kilobytes = static_cast<double>(bytes) / 1000;
    return kilobytes * kilobytes;
  };
  job.groups.resize(2);
  std::uint64_t hash = 0;
  for (std::uint64_t bytes = 1000; bytes <= 3000; bytes += 100) {
    for (auto& task : job.groups) task.push_back(Key(++hash, bytes));
  }
  job.groups[1].push_back(Key(++hash, 20'000));
  return job;
}

}  // namespace tidemark::test
