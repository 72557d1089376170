#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <set>
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

std::string Named(std::vector<std::string> parts, const Scenario& scenario) {
  if (scenario.data_factor) parts.push_back(fmt::format("{:g}x data", *scenario.data_factor));
  return parts.empty() ? "as it is" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string NameOf(const Scenario& scenario) {
  std::vector<std::string> parts;
  if (scenario.slots) parts.push_back(fmt::format("{} slots", *scenario.slots));
  return Named(std::move(parts), scenario);
}

// A row of the answer.
struct Answer {
  std::string scenario;
  Outcome outcome;
  std::vector<std::string> remarks;
};

std::string JsonOf(const Answer& answer) {
  std::string json = fmt::format(R"({{"snapshot":{})", wire::SnapshotJson(answer.outcome.snapshot));
  if (answer.outcome.busy_share) {
    json += fmt::format(R"(,"busy_share":{})", *answer.outcome.busy_share);
  }
  if (!answer.remarks.empty()) {  // words of ours, without anything to escape
    json += fmt::format(R"(,"remarks":["{}"])", fmt::join(answer.remarks, R"(",")"));
  }
  return json + "}";
}

int Show(const WhatIfArguments& arguments, const std::vector<Answer>& answers) {
  if (IsJson(arguments.format)) {
    std::vector<std::string> lines;
    for (const Answer& answer : answers) lines.push_back(JsonOf(answer));
    return PrintJson(lines, arguments.format);
  }
  const auto options = TableOptionsFor(arguments.format);
  std::vector<std::string> lines;
  if (answers.size() == 1) {
    lines = console::RenderEstimate(answers[0].outcome, options);
  } else {
    std::vector<std::pair<std::string, Outcome>> named;
    for (const Answer& answer : answers) named.emplace_back(answer.scenario, answer.outcome);
    lines = console::RenderScenarios(named, options);
  }
  std::set<std::string> remarks;
  for (const Answer& answer : answers) {
    remarks.insert(answer.remarks.begin(), answer.remarks.end());
  }
  lines.insert(lines.end(), remarks.begin(), remarks.end());
  return PrintLines(lines);
}

int Show(const WhatIfArguments& arguments, const std::vector<Scenario>& scenarios,
         const Outcomes& outcomes) {
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    answers.push_back({i < scenarios.size() ? NameOf(scenarios[i]) : "", outcomes[i], {}});
  }
  return Show(arguments, answers);
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

int Wrong(const absl::Status& status) {
  Complain(std::string(status.message()));
  return kUsage;
}

bool HasSparkSettings(const WhatIfArguments& arguments) {
  return !arguments.executors.empty() || !arguments.settings.empty();
}

int RefuseSparkSettings(const WhatIfArguments& arguments) {
  Complain(fmt::format("{} is no event log of Spark: --executors and --conf are for these alone",
                       arguments.subject));
  return kUsage;
}

// As it ran, and with each set of settings.
int OfSparkSettings(const WhatIfArguments& arguments, const SparkRun& run) {
  std::vector<Scenario> scenarios = ScenariosOf(arguments);
  if (scenarios.size() > 1) {
    Complain("--conf goes with one number of --slots");
    return kUsage;
  }
  const Scenario& scenario = scenarios[0];
  std::vector<std::map<std::string, std::string>> changes;
  for (const std::uint32_t executors : arguments.executors) {
    changes.push_back(arguments.settings);
    changes.back()["spark.executor.instances"] = fmt::format("{}", executors);
  }
  if (changes.empty()) changes.push_back(arguments.settings);
  std::vector<Answer> answers;
  auto as_it_is = cli::EstimateStages(run.plan, {}, absl::Now());
  if (!as_it_is.ok()) return Wrong(InPlanFile(arguments.subject, as_it_is.status()));
  answers.push_back({"as it is", *std::move(as_it_is), {}});
  for (const auto& settings : changes) {
    auto other = WithSettings(run, settings);
    if (!other.ok()) return Wrong(InPlanFile(arguments.subject, other.status()));
    Scenario set = scenario;
    if (!set.slots) set.slots = other->slots;
    auto outcome = cli::EstimateStages(other->plan, set, absl::Now(), other->deviation);
    if (!outcome.ok()) return Wrong(InPlanFile(arguments.subject, outcome.status()));
    std::vector<std::string> parts;
    for (const auto& [name, value] : settings) {
      parts.push_back(name == "spark.executor.instances" ? fmt::format("{} executors", value)
                                                         : fmt::format("{}={}", name, value));
    }
    answers.push_back(
        {Named(std::move(parts), scenario), *std::move(outcome), std::move(other->remarks)});
  }
  return Show(arguments, answers);
}

int OfPlan(const WhatIfArguments& arguments) {
  const auto scenarios = ScenariosOf(arguments);
  absl::StatusOr<Plan> plan;
  if (IsPlanByName(arguments.subject) || !IsSparkLog(arguments.subject)) {
    if (HasSparkSettings(arguments)) return RefuseSparkSettings(arguments);
    plan = cli::ReadPlanFile(arguments.subject, cli::PlanUse::kEstimate);
  } else {
    auto run = ReadSparkRun(arguments.subject);
    if (!run.ok()) return Wrong(run.status());
    for (const std::string& remark : run->remarks) {
      Complain(fmt::format("{}: {}", arguments.subject, remark));
    }
    if (HasSparkSettings(arguments)) return OfSparkSettings(arguments, *run);
    plan = std::move(run->plan);
  }
  if (!plan.ok()) return Wrong(plan.status());
  if (plan->id.empty() && plan->name.empty()) {
    plan->name = std::filesystem::path(arguments.subject).stem();
  }
  if (cli::IsOfStages(*plan)) {
    Outcomes outcomes;
    for (const Scenario& scenario : scenarios) {
      auto outcome = cli::EstimateStages(*plan, scenario, absl::Now());
      if (!outcome.ok()) return Wrong(InPlanFile(arguments.subject, outcome.status()));
      outcomes.push_back(*std::move(outcome));
    }
    return Show(arguments, scenarios, outcomes);
  }
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const auto outcomes = master.EstimatePlan(*plan, scenarios);
    if (absl::IsInvalidArgument(outcomes.status())) {
      return Wrong(InPlanFile(arguments.subject, outcomes.status()));
    }
    if (!outcomes.ok()) return outcomes.status();
    return Show(arguments, scenarios, *outcomes);
  });
}

}  // namespace

int Do(const WhatIfArguments& arguments) {
  if (IsFile(arguments.subject)) return OfPlan(arguments);
  if (HasSparkSettings(arguments)) return RefuseSparkSettings(arguments);
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
