// Measures the cost of one update of an estimate. This is the time of JobMonitor::Tick after new
// reports of every running reduce task, on one core, without a server.
//
// The goals for MapReduce jobs are at most 1 ms for 30 tasks, and 20 ms for 1,000 tasks with up to
// 70,000 explicit keys. For 1,000 jobs with 10,000 running tasks, the goal is 200 ms. For a job
// with 50,000 map and 10,000 reduce tasks, of which 100 are running, it is 100 ms in both phases.
// For a job with 100,000 map tasks and 100 reduce tasks, it is 50 ms in both phases.
// For a job of other stages, it is 10 ms for 50 stages with 5,000 tasks, and 40 ms for 1,000 stages
// with 10,000 tasks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "bench/accuracy/thread_clock.h"
#include "bench/quantile.h"
#include "streaming/size_histogram.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

constexpr std::int64_t kStart = 1'700'000'000;
// Number of map tasks that emit key groups. The output of all other map tasks is empty.
constexpr std::uint32_t kFullMapTasks = 8;
// Number of key groups that a task finishes between two updates.
constexpr std::size_t kGroupsPerUpdate = 20;
constexpr double kSmallestBytes = 50;
// Number of reports of every task before the measurement, which starts in its second minute.
constexpr int kReportsBefore = 100;
// Number of running map tasks that report between two updates. The limit suffices,
// since a single report makes the monitor recount all map tasks.
constexpr std::uint32_t kMapReportsMax = 1'000;

struct Shape {
  const char* name;
  std::uint32_t jobs;
  std::uint32_t tasks;              // reduce tasks of each job
  std::uint32_t keys;               // explicit keys per task
  std::uint32_t running_max = ~0U;  // the others wait for a slot
  std::uint32_t map_tasks = kFullMapTasks;
  std::uint32_t maps_running = 0;  // number of running map tasks if not 0; the other map tasks wait
  double maps_done = 0.05;         // share of map tasks that have finished, if some are running
  std::uint32_t running() const { return maps_running > 0 ? 0 : std::min(tasks, running_max); }
};

// A job in the middle of its reduce phase. Sizes follow a Pareto distribution. Costs grow with the
// power 1.5 of the size, with a spread of a tenth.
class RunningJob {
 public:
  RunningJob(std::string id, const Shape& shape, const std::vector<std::string>& indicators,
             std::uint64_t seed)
      : id_(std::move(id)),
        random_(seed),
        monitor_(id_, {.indicators = indicators, .abandon_after = absl::Hours(1'000)}),
        tasks_(shape.tasks),
        running_(shape.running()),
        map_reports_(std::min(shape.maps_running, kMapReportsMax)) {
    Open(shape);
    for (std::uint32_t i = 0; i < shape.tasks; ++i) MakeKeys(i, shape.keys);
    const auto some_done = static_cast<std::uint32_t>(shape.maps_done * shape.map_tasks);
    maps_done_ = shape.maps_running > 0 ? some_done : shape.map_tasks;
    for (std::uint32_t m = 0; m < maps_done_; ++m) FinishMapTask(m);
    for (std::uint32_t m = 0; m < shape.maps_running; ++m) {
      Say(AttemptChanged{
          .attempt = {kMapStage, maps_done_ + m, 0}, .state = AttemptState::kStarted, .at = Now()});
    }
    now_ += 1;
    for (std::uint32_t i = 0; i < running_; ++i) {
      const AttemptId attempt{kReduceStage, i, 0};
      Say(AttemptChanged{.attempt = attempt, .state = AttemptState::kStarted, .at = Now()});
      Say(AttemptChanged{.attempt = attempt, .state = AttemptState::kShuffled, .at = Now()});
    }
  }

  // Finishes some more key groups of every running reduce task. Running map tasks read more input.
  void Advance() {
    now_ += 1;
    for (std::uint32_t i = 0; i < running_; ++i) Report(i);
    for (std::uint32_t m = 0; m < map_reports_; ++m) {
      Say(TaskHeartbeat{.attempt = {kMapStage, maps_done_ + m, 0},
                        .bytes_done = static_cast<std::uint64_t>(now_)});
    }
  }

  // Returns the duration of the update in seconds.
  double Tick() {
    const double before = ThreadSeconds();  // An update only computes.
    const Snapshot snapshot = monitor_.Tick(Now());
    const double elapsed = ThreadSeconds() - before;
    is_estimated_ = snapshot.estimate.state == EstimateState::kValid;
    return elapsed;
  }
  bool is_estimated() const { return is_estimated_; }

 private:
  struct Task {
    std::vector<ExplicitKey> keys;  // in the order of reduction
    std::size_t next = 0;
    ReduceProfile totals;
    double seconds = 0;
  };

  absl::Time Now() const { return absl::FromUnixSeconds(kStart) + absl::Seconds(now_); }

  void Say(EventBody body) {
    Event event{.job_id = id_, .source_id = "bench", .sequence = ++sequence_, .sent_at = Now()};
    event.arrived_at = Now();
    event.body = std::move(body);
    if (const absl::Status applied = monitor_.Apply(event); !applied.ok()) {
      fmt::print(stderr, "{}\n", applied.ToString());
      std::exit(1);
    }
  }

  void Open(const Shape& shape) {
    std::vector<StageOpened> stages = MapReduceStages(shape.map_tasks, shape.tasks);
    stages[kMapStage].slots = std::max(kFullMapTasks, shape.maps_running);
    if (shape.tasks > 0) stages[kReduceStage].slots = std::max(1U, shape.running());
    Say(JobOpened{
        .name = "update", .engine = "bench", .submitted_at = Now(), .stages = std::move(stages)});
  }

  void MakeKeys(std::uint32_t task, std::uint32_t count) {
    std::uniform_real_distribution<double> uniform(1e-6, 1);
    for (std::uint32_t k = 0; k < count; ++k) {
      const double size = kSmallestBytes * std::min(1e6, 1 / uniform(random_));
      tasks_[task].keys.push_back({KeyHash{random_()}, static_cast<std::uint64_t>(size)});
    }
    tasks_[task].totals.attempt = {kReduceStage, task, 0};
  }

  void FinishMapTask(std::uint32_t map_task) {
    const AttemptId attempt{kMapStage, map_task, 0};
    MapProfile profile{.attempt = attempt};
    const std::size_t partitions = map_task < kFullMapTasks ? tasks_.size() : 0;
    for (std::uint32_t i = 0; i < partitions; ++i) {
      PartitionProfile partition{.partition = i};
      for (const ExplicitKey& key : tasks_[i].keys) {
        const std::uint64_t bytes = key.size_bytes / kFullMapTasks + 1;
        partition.explicit_keys.push_back({key.key, bytes});
        partition.total_bytes += bytes;
      }
      // The implicit keys have as many bytes in total as the explicit keys.
      partition.implicit_key_count = 1 + partition.total_bytes / 100;
      partition.implicit_bytes = partition.total_bytes;
      partition.total_bytes *= 2;
      profile.partitions.push_back(std::move(partition));
    }
    AttemptChanged started{.attempt = attempt, .state = AttemptState::kStarted, .at = Now()};
    if (tasks_.empty()) {  // The map tasks are then estimated by their sizes.
      started.at = Now() - absl::Seconds(1 + map_task % 100);
      started.input_bytes = 1'000'000 * (1 + map_task % 100);
    }
    Say(std::move(started));
    Say(std::move(profile));
    Say(AttemptChanged{.attempt = attempt, .state = AttemptState::kFinished, .at = Now()});
  }

  void Report(std::uint32_t index) {
    Task& task = tasks_[index];
    ReduceProfile profile = task.totals;
    streaming::SizeHistogram bins;
    std::normal_distribution<double> scatter(0, 0.1);
    const auto finish = [&](std::uint64_t size_bytes) {
      const double seconds =
          1e-6 * std::pow(static_cast<double>(size_bytes), 1.5) * std::exp(scatter(random_)) / 50;
      bins.Add(size_bytes, 1, absl::Seconds(seconds), size_bytes);
      profile.points.push_back({size_bytes, 1, absl::Seconds(seconds)});
      profile.groups_done += 1;
      profile.bytes_done += size_bytes;
      profile.reduce_time += absl::Seconds(seconds);
      return absl::Seconds(seconds);
    };
    for (std::size_t i = 0; i < kGroupsPerUpdate; ++i) {
      finish(50 + random_() % 100);
      // Some keys remain, so that the job does not end during the measurement.
      if (i % 10 != 0 || task.next + 5 > task.keys.size()) continue;
      const ExplicitKey& key = task.keys[task.next++];
      const absl::Duration time = finish(key.size_bytes);
      profile.finished_keys.push_back({key.key, key.size_bytes, time, key.size_bytes});
    }
    profile.bins = bins.bins();
    profile.keys_named = true;
    profile.last_group_finished_at = Now();
    profile.running_group = RunningGroup{task.keys.back().key, absl::Seconds(0.5), 10, 1, 10};
    task.totals.groups_done = profile.groups_done;
    task.totals.bytes_done = profile.bytes_done;
    task.totals.reduce_time = profile.reduce_time;
    Say(std::move(profile));
  }

  const std::string id_;
  std::mt19937_64 random_;
  JobMonitor monitor_;
  std::vector<Task> tasks_;
  const std::uint32_t running_;
  const std::uint32_t map_reports_;
  std::uint32_t maps_done_ = 0;
  double now_ = 0;
  std::uint64_t sequence_ = 0;
  bool is_estimated_ = false;
};

// A layered DAG of stages with one past run. Every stage waits for two earlier stages. A fifth of
// the tasks have ended, and 100 are running.
class StagesJob {
 public:
  StagesJob(std::uint32_t stages, std::uint32_t tasks)
      : monitor_("stages", {.abandon_after = absl::Hours(1'000)}) {
    constexpr std::uint32_t kSlots = 100;
    JobOpened opened{.name = "update", .engine = "bench", .submitted_at = Now()};
    PastRun run = {.slots = kSlots};
    const std::uint32_t of_each = tasks / stages;
    for (std::uint32_t i = 0; i < stages; ++i) {
      StageOpened stage{.stage = i, .signature = std::to_string(i), .task_count = of_each};
      if (i >= 2) stage.parents = {i - 1 - i % std::min(i, 10U), i - 2};
      PastStage& profile = run.stages.emplace_back();
      profile.name = stage.signature;
      profile.parents.assign(stage.parents.begin(), stage.parents.end());
      profile.tasks = of_each;
      for (std::uint32_t k = 0; k < of_each; ++k) profile.seconds[2].push_back(5 + k % 7);
      opened.stages.push_back(std::move(stage));
    }
    monitor_.SetPastRuns({std::move(run)});
    Say(std::move(opened));
    Say(ExecutorOpened{.executor = 0, .host = "a", .slots = kSlots});
    for (std::uint32_t n = 0; n < tasks / 5 + kSlots; ++n) {
      const AttemptId task{.stage = n / of_each, .index = n % of_each};
      now_ += 0.01;
      Enter(task, AttemptState::kStarted);
      if (n >= kSlots)
        Enter({.stage = (n - kSlots) / of_each, .index = (n - kSlots) % of_each},
              AttemptState::kFinished);
    }
  }

  // Returns the duration of the update in milliseconds.
  double Tick() {
    now_ += 1;
    Say(ExecutorOpened{.executor = 0, .host = "a", .slots = 100});  // sends a heartbeat
    const double before = ThreadSeconds();
    const Snapshot snapshot = monitor_.Tick(Now());
    const double elapsed = ThreadSeconds() - before;
    if (!snapshot.estimate.remaining) fmt::print(stderr, "no estimate was made\n");
    return 1e3 * elapsed;
  }

 private:
  absl::Time Now() const { return absl::FromUnixSeconds(kStart) + absl::Seconds(now_); }
  void Enter(const AttemptId& task, AttemptState state) {
    Say(AttemptChanged{.attempt = task, .state = state, .at = Now(), .executor = 0});
  }
  void Say(EventBody body) {
    Event event{.job_id = "stages", .source_id = "bench", .sequence = ++sequence_};
    event.sent_at = event.arrived_at = Now();
    event.body = std::move(body);
    monitor_.Apply(event).IgnoreError();
  }

  JobMonitor monitor_;
  double now_ = 0;
  std::uint64_t sequence_ = 0;
};

constexpr Shape kShapes[] = {
    {"update_ms_30_tasks", 1, 30, 70},
    {"update_ms_30_tasks_70000_keys", 1, 30, 2333},
    {"update_ms_1000_tasks_7000_keys", 1, 1000, 7},
    {"update_ms_1000_tasks_70000_keys", 1, 1000, 70},
    {"tick_ms_1000_jobs_10000_tasks", 1000, 10, 70},
    {"update_ms_50000_maps_10000_reduces_100_running", 1, 10'000, 7, 100, 50'000},
    {"update_ms_50000_maps_10000_reduces_100_maps_running", 1, 10'000, 7, 0, 50'000, 100},
    {"update_ms_50000_maps_alone_95_percent_done", 1, 0, 0, 0, 50'000, 100, 0.95},
    {"update_ms_100000_maps_done_100_reduces_running", 1, 100, 700, 100, 100'000},
    {"update_ms_100000_maps_95000_running", 1, 100, 700, 0, 100'000, 95'000},
};

struct Options {
  int runs = 5;
  int updates = 20;
  std::vector<std::string> indicators = ComparedIndicators();
  std::string only;
  bool tidemark_only = false;
  std::string json;
};

// Returns the median time of the updates of one run in milliseconds.
double Run(const Shape& shape, const Options& options, const std::vector<std::string>& indicators,
           std::uint64_t seed) {
  std::vector<RunningJob> jobs;
  jobs.reserve(shape.jobs);
  for (std::uint32_t j = 0; j < shape.jobs; ++j) {
    jobs.emplace_back(fmt::format("job-{}", j), shape, indicators, seed + j);
  }
  for (int report = 0; report < kReportsBefore; ++report) {
    for (RunningJob& job : jobs) job.Advance();
  }
  std::vector<double> milliseconds;
  for (int update = 0; update < options.updates + 2; ++update) {
    double seconds = 0;
    for (RunningJob& job : jobs) job.Advance();
    for (RunningJob& job : jobs) seconds += job.Tick();
    // All updates but the first two read no map profiles.
    if (update >= 2) milliseconds.push_back(1e3 * seconds);
  }
  for (const RunningJob& job : jobs) {
    if (!job.is_estimated()) fmt::print(stderr, "{}: no estimate was made\n", shape.name);
  }
  return Median(milliseconds);
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures the cost of one update of an estimate.");
  app.add_option("--runs", options.runs, "Number of runs per shape")->check(CLI::Range(1, 1000));
  app.add_option("--updates", options.updates, "Number of updates per run")
      ->check(CLI::Range(1, 1000));
  app.add_option("--indicators", options.indicators,
                 "Indicators to measure together, in addition to tidemark alone")
      ->delimiter(',');
  app.add_option("--only", options.only, "Measure only shapes whose name contains this text");
  app.add_flag("--tidemark-only", options.tidemark_only,
               "Measure tidemark alone, without the other indicators");
  app.add_option("--json", options.json, "Write the results to this file");
  CLI11_PARSE(app, argc, argv);

  nlohmann::ordered_json json = {{"runs", options.runs}, {"updates", options.updates}};
  const std::vector<std::pair<std::string, std::vector<std::string>>> sets = {
      {"", {"tidemark"}}, {"_all_indicators", options.indicators}};
  for (const auto& [suffix, indicators] : sets) {
    if (options.tidemark_only && !suffix.empty()) continue;
    for (const Shape& shape : kShapes) {
      if ((shape.name + suffix).find(options.only) == std::string::npos) continue;
      std::vector<double> milliseconds;
      for (int run = 0; run < options.runs; ++run) {
        milliseconds.push_back(Run(shape, options, indicators, 1000 * (1 + run)));
      }
      const double median = Median(milliseconds);
      json[shape.name + suffix] = median;
      fmt::print("{:<62} {:>9.3f} ms\n", shape.name + suffix, median);
      std::cout.flush();
    }
  }
  const std::pair<std::uint32_t, std::uint32_t> of_stages[] = {{50, 5'000}, {1'000, 10'000}};
  for (const auto& [stages, tasks] : of_stages) {
    const std::string name = fmt::format("update_ms_{}_stages_{}_tasks", stages, tasks);
    if (name.find(options.only) == std::string::npos) continue;
    std::vector<double> milliseconds;
    for (int run = 0; run < options.runs; ++run) {
      StagesJob job(stages, tasks);
      for (int update = 0; update < options.updates; ++update) milliseconds.push_back(job.Tick());
    }
    json[name] = Median(milliseconds);
    fmt::print("{:<62} {:>9.3f} ms\n", name, Median(milliseconds));
  }
  if (options.json.empty()) return 0;
  std::ofstream file(options.json);
  file << json.dump(2) << '\n';
  return file.good() ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
