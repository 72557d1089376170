#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cli/at_master.h"
#include "cli/commands.h"
#include "cli/console/job_table.h"
#include "cli/exit_code.h"
#include "cli/plan_estimate.h"
#include "cli/plan_file.h"
#include "cli/progress.h"
#include "cli/spark_plan.h"
#include "cli/table_output.h"
#include "proto/wire/job_codec.h"

namespace tidemark::cli {
namespace {

using Outcomes = std::vector<Outcome>;

std::vector<Scenario> ScenariosOf(const WhatIfArguments& arguments) {
  Scenario scenario = {.data_factor = arguments.data_factor, .policy = arguments.policy};
  if (arguments.slots.empty()) return {scenario};
  std::vector<Scenario> scenarios;
  for (const std::uint32_t slots : arguments.slots) {
    scenario.slots = slots;
    scenarios.push_back(scenario);
  }
  return scenarios;
}

std::string NameOf(const Scenario& scenario) {
  std::vector<std::string> parts;
  if (scenario.slots) parts.push_back(fmt::format("{} slots", *scenario.slots));
  if (scenario.data_factor) parts.push_back(fmt::format("{:g}x data", *scenario.data_factor));
  return parts.empty() ? "as it is" : fmt::format("{}", fmt::join(parts, ", "));
}

int Show(const WhatIfArguments& arguments, const std::vector<Scenario>& scenarios,
         const Outcomes& outcomes) {
  if (IsJson(arguments.format)) {
    std::vector<std::string> lines;
    for (const Outcome& outcome : outcomes) {
      const std::string busy =
          outcome.busy_share ? fmt::format(R"(,"busy_share":{})", *outcome.busy_share) : "";
      lines.push_back(
          fmt::format(R"({{"snapshot":{}{}}})", wire::SnapshotJson(outcome.snapshot), busy));
    }
    return PrintJson(lines, arguments.format);
  }
  const auto options = TableOptionsFor(arguments.format);
  if (outcomes.size() == 1) return PrintLines(console::RenderEstimate(outcomes[0], options));
  std::vector<std::pair<std::string, Outcome>> named;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    named.emplace_back(i < scenarios.size() ? NameOf(scenarios[i]) : "", outcomes[i]);
  }
  return PrintLines(console::RenderScenarios(named, options));
}

bool IsWorkflow(const std::string& job_id, const Client& master) {
  const auto job = master.GetJob(job_id, View::kBasic);
  return job.ok() && job->info && job->info->kind == JobKind::kWorkflow;
}

bool IsPlanByName(const std::string& subject) {
  const std::string extension = std::filesystem::path(subject).extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// Whether it names a file or an event log rather than a job.
bool IsFile(const std::string& subject) {
  std::error_code ignored;
  return IsPlanByName(subject) || std::filesystem::exists(subject, ignored);
}

// Says what of a log is not in it.
absl::StatusOr<Plan> PlanIn(const std::string& subject) {
  if (IsPlanByName(subject) || !IsSparkLog(subject)) {
    return cli::ReadPlanFile(subject, cli::PlanUse::kEstimate);
  }
  absl::StatusOr<SparkLogPlan> log = PlanOfSparkLog(subject);
  if (!log.ok()) return log.status();
  for (const std::string& remark : log->remarks) Complain(fmt::format("{}: {}", subject, remark));
  return std::move(log->plan);
}

int OfPlan(const WhatIfArguments& arguments) {
  const auto scenarios = ScenariosOf(arguments);
  const auto wrong = [](const absl::Status& status) {
    Complain(std::string(status.message()));
    return kUsage;
  };
  auto plan = PlanIn(arguments.subject);
  if (!plan.ok()) return wrong(plan.status());
  if (plan->id.empty() && plan->name.empty()) {
    plan->name = std::filesystem::path(arguments.subject).stem();
  }
  if (cli::IsOfStages(*plan)) {
    Outcomes outcomes;
    for (const Scenario& scenario : scenarios) {
      auto outcome = cli::EstimateStages(*plan, scenario, absl::Now());
      if (!outcome.ok()) return wrong(InPlanFile(arguments.subject, outcome.status()));
      outcomes.push_back(*std::move(outcome));
    }
    return Show(arguments, scenarios, outcomes);
  }
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const auto outcomes = master.EstimatePlan(*plan, scenarios);
    if (absl::IsInvalidArgument(outcomes.status())) {
      return wrong(InPlanFile(arguments.subject, outcomes.status()));
    }
    if (!outcomes.ok()) return outcomes.status();
    return Show(arguments, scenarios, *outcomes);
  });
}

}  // namespace

int Do(const WhatIfArguments& arguments) {
  if (IsFile(arguments.subject)) return OfPlan(arguments);
  const auto scenarios = ScenariosOf(arguments);
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const auto outcomes = master.EstimateJob(arguments.subject, scenarios);
    if (absl::IsNotFound(outcomes.status())) return NoSuchJob(arguments.subject, master);
    if (absl::IsInvalidArgument(outcomes.status()) && !IsWorkflow(arguments.subject, master)) {
      Complain(fmt::format(
          "{} is not a workflow: --slots, --data-factor and --policy are for plans and workflows; "
          "pass the id of the workflow that it is part of",
          arguments.subject));
      return kUsage;
    }
    if (!outcomes.ok()) return outcomes.status();
    return Show(arguments, scenarios, *outcomes);
  });
}

}  // namespace tidemark::cli
