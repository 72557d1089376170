#include "examples/local_mapreduce/worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>

#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/tasks.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

struct Assignment {
  std::string plan_path;
  AttemptId attempt;
  std::int64_t master_pid = 0;
  std::int64_t report_budget_millis = 0;
};

template <typename T>
bool Parse(const std::string& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

absl::StatusOr<Assignment> ParseArguments(const std::vector<std::string>& arguments) {
  Assignment parsed;
  const bool understood =
      arguments.size() == 6 && (arguments[1] == "map" || arguments[1] == "reduce") &&
      Parse(arguments[2], parsed.attempt.index) && Parse(arguments[3], parsed.attempt.attempt) &&
      Parse(arguments[4], parsed.master_pid) && Parse(arguments[5], parsed.report_budget_millis);
  if (!understood) {
    return absl::InvalidArgumentError("only an application master starts workers");
  }
  parsed.plan_path = arguments[0];
  parsed.attempt.stage = arguments[1] == "map" ? kMapStage : kReduceStage;
  return parsed;
}

// The kernel ends this process with the one that started it.
void DieWithMaster(std::int64_t master_pid) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may be gone already; it is not always the parent, which may be a script around this program.
  if (::kill(static_cast<pid_t>(master_pid), 0) != 0) ::_exit(1);
}

absl::Status RunAttempt(const Assignment& assignment) {
  absl::StatusOr<JobPlan> plan = ReadPlan(assignment.plan_path);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::unique_ptr<Job>> job = MakePlannedJob(*plan);
  if (!job.ok()) return job.status();
  if (absl::Status ready = (*job)->SetUp(); !ready.ok()) return ready;

  const std::unique_ptr<Agent> agent =
      Agent::Create({.master_address = plan->master_address,
                     .job_id = plan->job_id,
                     .run_uid = plan->run_uid,
                     .security = plan->security,
                     .shutdown_budget = absl::Milliseconds(assignment.report_budget_millis),
                     .on_trouble = [](const std::string& trouble) {
                       fmt::print(stderr, "{}{}\n", kReportTrouble, trouble);
                     }});
  const AttemptId& attempt = assignment.attempt;
  const auto run = attempt.stage == kMapStage ? RunMapTask : RunReduceTask;
  absl::StatusOr<TaskResult> result = run(*plan, attempt, **job, *agent);
  agent->Shutdown();
  if (!result.ok()) return result.status();
  return WriteResult(PathOf(plan->attempt_directory(attempt), kResultName), *result);
}

}  // namespace

std::vector<std::string> WorkerArguments(const JobPlan& plan, const AttemptId& attempt,
                                         absl::Duration report_budget) {
  return {plan.path(),
          attempt.stage == kMapStage ? "map" : "reduce",
          fmt::format("{}", attempt.index),
          fmt::format("{}", attempt.attempt),
          fmt::format("{}", ::getpid()),
          fmt::format("{}", absl::ToInt64Milliseconds(report_budget))};
}

int WorkerMain(const std::vector<std::string>& arguments) {
  absl::StatusOr<Assignment> assignment = ParseArguments(arguments);
  absl::Status status = assignment.status();
  if (status.ok()) {
    DieWithMaster(assignment->master_pid);
    status = RunAttempt(*assignment);
  }
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  return 1;
}

}  // namespace tidemark::examples
