#include "bench/accuracy/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "agent/map_recorder.h"
#include "bench/accuracy/random.h"
#include "bench/accuracy/reduce_player.h"
#include "bench/accuracy/thread_clock.h"
#include "bench/accuracy/workload.h"
#include "proto/wire/parse_event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

constexpr char kJobId[] = "simulated";
// Time from the start of the job and its map tasks to the start of the reduce phase.
constexpr double kMapSeconds = 10;
// Real agents report every second. Here, reports arrive only at updates and one second before them.
// The master has nearly the same data, since no burst stays open longer.
constexpr double kFlushSeconds = 1;
// Speeds of nodes vary by two percent over a twentieth of the phase.
constexpr double kNoiseDeviation = 0.02;
constexpr double kNoiseCorrelation = 1.0 / 20;
constexpr double kNoiseStep = 1.0 / 200;

// Passes events to the monitor like the master's ingest service, but loses some of them.
class Ingest {
 public:
  Ingest(JobMonitor& monitor, double lost_share, std::uint64_t seed)
      : monitor_(monitor), lost_share_(lost_share), random_(Scatter(seed) ^ 0x1057) {}

  void Take(Event event, const v1::Event& message) {
    const bool lost = lost_share_ > 0 && random_.Uniform() < lost_share_;
    if (lost && !Opens(message)) return;
    absl::StatusOr<EventBody> body = wire::ParseBody(message);
    if (!body.ok()) {
      monitor_.CountRejected();
      ++refused_events_;
      return;
    }
    event.body = *std::move(body);
    if (!monitor_.Apply(event).ok()) ++refused_events_;
  }
  std::uint64_t refused_events() const { return refused_events_; }

 private:
  static bool Opens(const v1::Event& message) {
    return message.has_job_opened() || message.has_executor_opened();
  }

  JobMonitor& monitor_;
  const double lost_share_;
  Random random_;
  std::uint64_t refused_events_ = 0;
};

// An event of the application master with its time.
struct Saying {
  double at = 0;
  AttemptChanged change;
};

class VirtualCluster {
 public:
  VirtualCluster(const CostLog& log, const Workload& workload, const Timeline& timeline,
                 const SimulationOptions& options, std::vector<Node> perfect_nodes)
      : log_(log),
        workload_(workload),
        timeline_(timeline),
        options_(options),
        monitor_(kJobId, {.indicators = options.indicators,
                          .lambda = options.lambda,
                          .abandon_after = absl::Hours(1'000)}),
        ingest_(monitor_, options.scenario.lost_events, options.seed),
        application_master_(AgentOf("app-master")),
        mapped_bytes_(log.groups.size()),
        oracle_(workload, timeline, std::move(perfect_nodes)),
        players_(timeline.attempts.size()),
        is_over_(timeline.attempts.size(), false) {
    for (const std::string& name : options.indicators) records_.push_back({.indicator = name});
  }

  void Run() {
    RunMapPhase();
    PlanSayings();
    double before = 0;
    for (int update = 1; update <= options_.updates; ++update) {
      const bool last = update == options_.updates;
      const double now = last ? timeline_.end : timeline_.end * update / options_.updates;
      if (now - kFlushSeconds > before) FlushAll(now - kFlushSeconds);
      FlushAll(now);
      Update(now);
      before = now;
    }
    Close();
  }

  std::vector<IndicatorRecord> TakeRecords() {
    records_.push_back({.indicator = kOracle, .predictions = std::move(oracle_predictions_)});
    return std::move(records_);
  }
  std::uint64_t refused_events() const { return ingest_.refused_events(); }
  double tick_seconds() const { return tick_seconds_; }

 private:
  AgentOptions AgentOf(std::string source) const {
    return {.job_id = kJobId, .source_id = std::move(source), .lambda = options_.lambda};
  }
  static std::string HostOf(std::size_t node) { return fmt::format("node-{}", node); }

  void Deliver(VirtualAgent& agent, double now) {
    agent.Deliver([&](Event event, const v1::Event& message) {
      event.arrived_at = InstantOf(now);
      ingest_.Take(std::move(event), message);
    });
    agent.Steer(monitor_.wanted_names(), monitor_.wants_points());
  }
  void Say(double now, EventBody body) {
    application_master_.clock().Set(now);
    application_master_.shared()->Enqueue(std::move(body));
    application_master_.Execute();
    Deliver(application_master_, now);
  }

  void RunMapPhase();
  AttemptChanged MapTaskIs(AttemptState state, double at, std::uint32_t index) const;
  std::uint64_t TakeValues(const GroupShare& share);
  void ReportMapTask(std::uint32_t index);
  void PlanSayings();
  void SayUntil(double now, std::vector<Saying>& sayings, std::size_t& next);
  void FlushAll(double now);
  void Update(double now);
  void Close();

  const CostLog& log_;
  const Workload& workload_;
  const Timeline& timeline_;
  const SimulationOptions& options_;
  JobMonitor monitor_;
  Ingest ingest_;
  VirtualAgent application_master_;
  // bytes of each key group in the outputs of the map tasks so far
  std::vector<std::uint64_t> mapped_bytes_;
  Oracle oracle_;
  // by attempt; null unless the attempt is running
  std::vector<std::unique_ptr<ReducePlayer>> players_;
  std::vector<bool> is_over_;   // by attempt
  std::vector<Saying> starts_;  // sorted by time
  std::vector<Saying> ends_;
  std::size_t next_start_ = 0;
  std::size_t next_end_ = 0;
  std::vector<IndicatorRecord> records_;
  std::vector<Prediction> oracle_predictions_;
  double tick_seconds_ = 0;
};

// Returns the event that changes a map task to `state`. Map tasks run from the start of the job to
// the start of the reduce phase.
AttemptChanged VirtualCluster::MapTaskIs(AttemptState state, double at, std::uint32_t index) const {
  const MapTaskLog& task = log_.map_tasks[index];
  return {.attempt = {kMapStage, index, 0},
          .state = state,
          .at = InstantOf(at),
          .executor = index % options_.slots,
          .input_bytes = task.input_bytes,
          .input_name = task.input_name};
}

void VirtualCluster::RunMapPhase() {
  const auto map_tasks = static_cast<std::uint32_t>(log_.map_tasks.size());
  const double start = -kMapSeconds;
  std::vector<StageOpened> stages = MapReduceStages(map_tasks, options_.reduce_tasks);
  for (StageOpened& stage : stages) stage.slots = options_.slots;
  Say(start, JobOpened{.name = "simulated",
                       .engine = "bench",
                       .submitted_at = InstantOf(start),
                       .stages = std::move(stages)});
  for (std::uint32_t slot = 0; slot < options_.slots; ++slot) {
    Say(start, ExecutorOpened{.executor = slot, .host = HostOf(slot), .slots = 1});
  }
  for (std::uint32_t i = 0; i < map_tasks; ++i) {
    Say(start, MapTaskIs(AttemptState::kStarted, start, i));
  }
  for (std::uint32_t i = 0; i < map_tasks; ++i) {
    ReportMapTask(i);
    Say(0, MapTaskIs(AttemptState::kFinished, 0, i));
  }
}

// Returns the number of values of a group in the output of one map task. The log contains their
// total, of which each map task has a share in proportion to its bytes.
std::uint64_t VirtualCluster::TakeValues(const GroupShare& share) {
  const GroupCost& group = log_.groups[share.group];
  const auto until = [&](std::uint64_t bytes) {
    const double part = static_cast<double>(bytes) / static_cast<double>(group.size_bytes);
    return std::llround(part * group.values);
  };
  std::uint64_t& mapped = mapped_bytes_[share.group];
  const auto before = until(mapped);
  mapped += share.size_bytes;
  return static_cast<std::uint64_t>(std::max<long long>(1, until(mapped) - before));
}

void VirtualCluster::ReportMapTask(std::uint32_t index) {
  const MapTaskLog& task = log_.map_tasks[index];
  VirtualAgent agent(AgentOf(ToString(AttemptId{kMapStage, index, 0})));
  agent.clock().Set(0);
  agent::MapRecorder recorder({index, 0}, agent.shared());
  recorder.InputRead(task.input_bytes, 1);
  for (const GroupShare& share : task.shares) {
    recorder.AddGroup(workload_.partitions[share.group], KeyBytes(log_.groups[share.group].key),
                      share.size_bytes, TakeValues(share));
  }
  recorder.Finish();
  agent.Execute();
  Deliver(agent, 0);
}

void VirtualCluster::PlanSayings() {
  for (const Attempt& attempt : timeline_.attempts) {
    AttemptChanged change = {.attempt = attempt.id(),
                             .state = AttemptState::kStarted,
                             .at = InstantOf(attempt.start),
                             .executor = attempt.slot,
                             .speculative = attempt.speculative};
    starts_.push_back({attempt.start, change});
    change.state = attempt.outcome;
    change.at = InstantOf(attempt.end);
    ends_.push_back({attempt.end, change});
  }
  const auto earlier = [](const Saying& a, const Saying& b) { return a.at < b.at; };
  std::stable_sort(starts_.begin(), starts_.end(), earlier);
  std::stable_sort(ends_.begin(), ends_.end(), earlier);
}

void VirtualCluster::SayUntil(double now, std::vector<Saying>& sayings, std::size_t& next) {
  for (; next < sayings.size() && sayings[next].at <= now; ++next) Say(now, sayings[next].change);
}

// Sends all reports of a flush interval that ends at `now`. The application master reports the
// start of an attempt before the attempt's own reports, and the end after them.
void VirtualCluster::FlushAll(double now) {
  SayUntil(now, starts_, next_start_);
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const Attempt& attempt = timeline_.attempts[i];
    if (attempt.start > now || is_over_[i]) continue;
    if (players_[i] == nullptr) {
      const AttemptId id = attempt.id();
      players_[i] = std::make_unique<ReducePlayer>(log_, workload_.GroupsOf(attempt.task), attempt,
                                                   AgentOf(ToString(id)));
      players_[i]->agent().Steer({}, monitor_.wants_points());
    }
    players_[i]->PlayUntil(now);
    players_[i]->Flush(now);
    Deliver(players_[i]->agent(), now);
    is_over_[i] = players_[i]->is_over();
    if (is_over_[i]) players_[i].reset();
  }
  SayUntil(now, ends_, next_end_);
}

void VirtualCluster::Update(double now) {
  const double before = ThreadSeconds();
  const Snapshot snapshot = monitor_.Tick(InstantOf(now));
  tick_seconds_ += ThreadSeconds() - before;
  for (IndicatorRecord& record : records_) {
    record.predictions.push_back(PredictionOf(snapshot, record.indicator, now));
  }
  oracle_predictions_.push_back({.at = now, .end = oracle_.PredictEnd(now)});
}

void VirtualCluster::Close() {
  Say(timeline_.end, JobClosed{.at = InstantOf(timeline_.end)});
  monitor_.Tick(InstantOf(timeline_.end));
}

std::vector<Node> NoisyNodes(const std::vector<NominalSpeed>& speeds,
                             const SimulationOptions& options) {
  const Node::Noise noise = {.deviation = kNoiseDeviation,
                             .correlation_seconds = options.phase_seconds * kNoiseCorrelation,
                             .step_seconds = options.phase_seconds * kNoiseStep};
  std::vector<Node> nodes;
  nodes.reserve(speeds.size());
  for (const NominalSpeed& speed : speeds) {
    nodes.emplace_back(speed, noise, Scatter(options.seed * 1'000'003 + nodes.size()));
  }
  return nodes;
}

absl::Status CheckOptions(const CostLog& log, const SimulationOptions& options) {
  if (log.groups.empty()) return absl::InvalidArgumentError("the job has no key groups");
  if (options.updates < 1 || !(options.phase_seconds > 0)) {
    return absl::InvalidArgumentError(
        "the number of updates and the duration of a phase must be positive");
  }
  return Validate({.indicators = options.indicators, .lambda = options.lambda});
}

}  // namespace

Prediction PredictionOf(const Snapshot& snapshot, const std::string& indicator, double at) {
  const Estimate* estimate =
      snapshot.estimate.indicator == indicator ? &snapshot.estimate : nullptr;
  for (const Indicator& other : snapshot.indicators) {
    if (other.estimate.indicator == indicator) estimate = &other.estimate;
  }
  Prediction prediction = {.at = at};
  if (estimate == nullptr) return prediction;
  const auto after = [at](absl::Duration left) { return at + absl::ToDoubleSeconds(left); };
  if (const double shown = estimate->fraction_done; shown > 0) {
    prediction.shown_end = after(snapshot.elapsed() * ((1 - shown) / shown));
  }
  if (estimate->state == EstimateState::kOverdue) prediction.end = at;
  if (!estimate->remaining) return prediction;
  prediction.end = after(estimate->remaining->median);
  if (estimate->remaining->lower && estimate->remaining->upper) {
    prediction.lower = after(*estimate->remaining->lower);
    prediction.upper = after(*estimate->remaining->upper);
  }
  return prediction;
}

absl::StatusOr<Simulation> Simulate(const CostLog& log, const SimulationOptions& options) {
  if (absl::Status usable = CheckOptions(log, options); !usable.ok()) return usable;
  const Scenario& scenario = options.scenario;
  const absl::StatusOr<Workload> workload =
      MakeWorkload(log, {.seed = options.seed,
                         .slots = options.slots,
                         .reduce_tasks = options.reduce_tasks,
                         .phase_seconds = options.phase_seconds,
                         .cost_noise = scenario.cost_noise});
  if (!workload.ok()) return workload.status();
  const std::vector<NominalSpeed> speeds = scenario.SpeedsOf(options.slots, options.phase_seconds);
  std::vector<Node> nodes = NoisyNodes(speeds, options);
  Simulation simulation;
  simulation.timeline = Schedule(
      *workload, nodes,
      {.task_fails = scenario.task_fails,
       .failing_task = static_cast<std::uint32_t>(Scatter(options.seed) % options.reduce_tasks),
       .task_has_twin = scenario.task_has_twin});

  VirtualCluster cluster(log, *workload, simulation.timeline, options,
                         WithoutNoise(speeds, options.phase_seconds * kNoiseStep));
  cluster.Run();
  simulation.records = cluster.TakeRecords();
  simulation.refused_events = cluster.refused_events();
  simulation.tick_seconds = cluster.tick_seconds();
  for (Attempt& attempt : simulation.timeline.attempts) {
    attempt.group_ends = {};
  }
  return simulation;
}

}  // namespace tidemark::bench
