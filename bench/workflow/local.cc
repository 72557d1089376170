#include "bench/workflow/local.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "bench/service/scratch.h"
#include "examples/local_mapreduce/workflow.h"
#include "master/store/event_log.h"
#include "tidemark/client.h"
#include "tidemark/master.h"
#include "tidemark/plan.h"

namespace tidemark::bench {
namespace {

// The tasks of one job by phase, according to the sender's clock.
struct JobTasks {
  std::vector<std::pair<absl::Time, absl::Time>> map;
  std::vector<std::pair<absl::Time, absl::Time>> reduce;
};

absl::StatusOr<JobTasks> ReadTasks(const std::string& log) {
  const auto reader = store::EventLogReader::Open(log);
  if (!reader.ok()) return reader.status();
  JobTasks tasks;
  std::map<std::string, absl::Time> started;  // start times by attempt
  while (true) {
    const auto record = (*reader)->Next();
    if (!record.ok()) return record.status();
    if (!record->has_value()) return tasks;
    const Event* const event = std::get_if<Event>(&**record);
    const auto* const change = event ? std::get_if<AttemptChanged>(&event->body) : nullptr;
    if (change == nullptr) continue;
    const std::string attempt = ToString(change->attempt);
    const absl::Time at = change->at.value_or(event->arrived_at);
    if (change->state == AttemptState::kStarted) started[attempt] = at;
    if (change->state != AttemptState::kFinished || !started.contains(attempt)) continue;
    auto& of_phase = change->attempt.stage == kMapStage ? tasks.map : tasks.reduce;
    of_phase.emplace_back(started[attempt], at);
  }
}

// Reads the trace of a workflow. Each job has a stage of map tasks followed by a stage of reduce
// tasks. Every task has its own process, so no task runs in a warm process.
absl::StatusOr<Trace> ReadTrace(const Plan& plan, const std::string& log_dir, std::uint32_t slots) {
  Trace trace = {.group = "web-log",
                 .name = plan.id,
                 .held_out = true,
                 .slots = static_cast<double>(slots),
                 .owners = plan.jobs.size()};
  std::vector<JobTasks> jobs;
  absl::Time begin = absl::InfiniteFuture();
  for (const PlannedJob& job : plan.jobs) {
    absl::StatusOr<JobTasks> tasks = ReadTasks(store::EventLogPath(log_dir, job.job_id));
    if (!tasks.ok()) return tasks.status();
    for (const auto& [start, end] : tasks->map) begin = std::min(begin, start);
    jobs.push_back(*std::move(tasks));
  }
  std::map<std::string, std::size_t> last_stage;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const bool is_map : {true, false}) {
      TraceStage stage = {.name = absl::StrCat(plan.jobs[i].name, is_map ? " map" : " reduce"),
                          .owner = i};
      for (const auto& [start, end] : is_map ? jobs[i].map : jobs[i].reduce) {
        stage.tasks.push_back(
            {absl::ToDoubleSeconds(start - begin), absl::ToDoubleSeconds(end - begin)});
      }
      if (!is_map) stage.parents = {trace.stages.size() - 1};
      if (is_map) {
        for (const std::string& parent : plan.jobs[i].after) {
          stage.parents.push_back(last_stage.at(parent));
        }
      }
      trace.stages.push_back(std::move(stage));
    }
    last_stage[plan.jobs[i].name] = trace.stages.size() - 1;
  }
  Finish(trace);
  return trace;
}

// Collects the master's snapshots of one running workflow in order.
class Listener {
 public:
  // `master` must outlive this object.
  Listener(const Client& master, const std::string& id)
      : thread_([this, &master, id] {
          const WatchCalls calls = {.on_snapshot = [this](const Snapshot& snapshot) {
            snapshots_.push_back(snapshot);
            return true;
          }};
          ended_ = master.WatchJob(id, {}, calls).status();
        }) {}

  absl::StatusOr<std::vector<Snapshot>> Join() {
    thread_.join();
    if (!ended_.ok()) return ended_;
    return std::move(snapshots_);
  }

 private:
  std::vector<Snapshot> snapshots_;
  absl::Status ended_;
  std::thread thread_;
};

// Returns the predictions of the snapshots that have a predicted end.
WatchedRun Watched(const std::vector<Snapshot>& said) {
  WatchedRun run = {.end = absl::ToDoubleSeconds(said.back().elapsed())};
  for (const Snapshot& snapshot : said) {
    const std::optional<Range>& left = snapshot.estimate.remaining;
    const double at = absl::ToDoubleSeconds(snapshot.elapsed());
    const double shown = snapshot.estimate.fraction_done;
    if (!left || at <= 0 || !(shown > 0)) continue;
    const auto end_after = [at](absl::Duration time) { return at + absl::ToDoubleSeconds(time); };
    run.predictions.push_back({.at = at,
                               .end = end_after(left->median),
                               .lower = end_after(left->lower.value_or(left->median)),
                               .upper = end_after(left->upper.value_or(left->median)),
                               .shown_end = at / shown});
  }
  return run;
}

}  // namespace

absl::StatusOr<LocalRuns> RunLocally(const LocalOptions& options) {
  const ScratchDirectory scratch;
  const std::string visits = scratch.path() + "/visits";
  if (absl::Status made = examples::GenerateVisits(visits, options.visits); !made.ok()) return made;
  MasterOptions master_options;
  master_options.data_dir = scratch.path() + "/data";
  master_options.event_log_dir = scratch.path() + "/logs";
  std::filesystem::create_directories(master_options.data_dir);
  std::filesystem::create_directories(master_options.event_log_dir);
  auto master = Master::Start(master_options);
  if (!master.ok()) return master.status();
  LocalRuns runs;
  std::vector<WatchedRun> watched;
  const auto client = Client::Create({.address = (*master)->address()});
  if (!client.ok()) return client.status();
  for (int run = 0; run < options.runs; ++run) {
    const examples::WorkflowRunOptions workflow = {
        .workflow = "web-log",
        .id = absl::StrCat("local-", run),
        .inputs = {visits},
        .output_dir = absl::StrCat(scratch.path(), "/output-", run),
        .slots = options.slots,
        .worker_command = options.worker_command,
        .master_address = (*master)->address()};
    const absl::StatusOr<Plan> plan = examples::PlanOf(workflow);
    if (!plan.ok()) return plan.status();
    if (absl::Status taken = (*client)->SubmitJob(*plan); !taken.ok()) return taken;
    Listener listener(**client, workflow.id);
    const auto summary = examples::RunWorkflow(workflow);
    const auto said = listener.Join();
    if (!summary.ok()) return summary.status();
    if (!said.ok()) return said.status();
    if (run > 0 && !said->empty() && said->back().is_final) {
      watched.push_back(Watched(*said));
      if (watched.back().predictions.empty()) watched.pop_back();
    }
    std::error_code ignored;
    std::filesystem::remove_all(workflow.output_dir, ignored);
    absl::StatusOr<Trace> trace = ReadTrace(*plan, master_options.event_log_dir, options.slots);
    if (!trace.ok()) return trace.status();
    runs.traces.push_back(*std::move(trace));
  }
  const Verdict verdict = VerdictOf(watched);
  runs.live = {.indicator = "tidemark", .all = verdict, .held_out = verdict};
  return runs;
}

}  // namespace tidemark::bench
