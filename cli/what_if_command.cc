#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cli/at_master.h"
#include "cli/commands.h"
#include "cli/console/job_table.h"
#include "cli/console/text.h"
#include "cli/exit_code.h"
#include "cli/plan_estimate.h"
#include "cli/plan_file.h"
#include "cli/progress.h"
#include "cli/spark_plan.h"
#include "cli/spark_runs.h"
#include "cli/table_output.h"
#include "proto/wire/job_codec.h"

namespace tidemark::cli {
namespace {

using Outcomes = std::vector<Outcome>;

std::vector<Scenario> ScenariosOf(const WhatIfArguments& arguments) {
  Scenario scenario = {.data_factor = arguments.data_factor, .policy = arguments.policy};
  std::vector<Scenario> scenarios;
  // With the application as it is before the others.
  if (!arguments.executors.empty()) scenarios.push_back(scenario);
  for (const std::uint32_t executors : arguments.executors) {
    scenario.executors = executors;
    scenarios.push_back(scenario);
  }
  if (arguments.slots.empty() && scenarios.empty()) return {scenario};
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
  std::map<std::string, std::string> settings;  // of Spark, that were changed
  std::optional<double> data_factor;
  std::optional<double> core_hours;  // of all executors, until the end
  std::string binding;               // what most of the time goes to; empty: not known
};

std::string JsonOf(const Answer& answer) {
  std::string json = fmt::format(R"({{"snapshot":{})", wire::SnapshotJson(answer.outcome.snapshot));
  if (answer.outcome.busy_share) {
    json += fmt::format(R"(,"busy_share":{})", *answer.outcome.busy_share);
  }
  if (answer.core_hours) json += fmt::format(R"(,"core_hours":{})", *answer.core_hours);
  if (answer.outcome.slots > 0) json += fmt::format(R"(,"slots":{})", answer.outcome.slots);
  if (answer.outcome.executors > 0) {
    json += fmt::format(R"(,"executors":{})", answer.outcome.executors);
  }
  if (!answer.binding.empty()) json += fmt::format(R"(,"binding":"{}")", answer.binding);
  if (answer.data_factor) json += fmt::format(R"(,"data_factor":{})", *answer.data_factor);
  if (!answer.settings.empty())
    json += fmt::format(R"(,"settings":{})", nlohmann::json(answer.settings).dump());
  if (!answer.remarks.empty()) {  // they name parameters, of any text
    json += fmt::format(R"(,"remarks":{})",
                        nlohmann::json(answer.remarks)
                            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
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
    std::vector<console::ScenarioRow> rows;
    for (const Answer& answer : answers) {
      rows.push_back({answer.scenario, answer.outcome, answer.core_hours, answer.binding});
    }
    lines = console::RenderScenarios(rows, options);
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
    answers.push_back(
        {.scenario = i < scenarios.size() ? NameOf(scenarios[i]) : "", .outcome = outcomes[i]});
  }
  return Show(arguments, answers);
}

std::string Counted(std::uint32_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Of an application that runs: as it is, then with each number of executors.
int ShowExecutors(const WhatIfArguments& arguments, const Outcomes& outcomes) {
  std::vector<Answer> answers;
  for (const Outcome& outcome : outcomes) {
    std::string name = Counted(outcome.executors, "executor");
    if (outcome.slots > 0) name += ", " + Counted(outcome.slots, "slot");
    if (answers.empty()) name = outcome.executors > 0 ? "as it is: " + name : "as it is";
    Answer& answer = answers.emplace_back(Answer{.scenario = std::move(name), .outcome = outcome});
    const auto& remaining = outcome.snapshot.estimate.remaining;
    if (remaining && outcome.slots > 0) {
      answer.core_hours = absl::ToDoubleHours(remaining->median) * outcome.slots;
    }
  }
  return Show(arguments, answers);
}

// What was asked for otherwise than it is, by the names of the options.
std::vector<std::string> OtherwiseBy(const WhatIfArguments& arguments) {
  std::vector<std::string> options;
  if (!arguments.slots.empty()) options.emplace_back("--slots");
  if (!arguments.executors.empty()) options.emplace_back("--executors");
  if (arguments.data_factor) options.emplace_back("--data-factor");
  if (arguments.policy) options.emplace_back("--policy");
  return options;
}

std::string HowItEnded(const Snapshot& job) {
  const char* const how = job.state == JobState::kFailed      ? "has failed"
                          : job.state == JobState::kKilled    ? "was killed"
                          : job.state == JobState::kAbandoned ? "was abandoned"
                                                              : "has ended";
  if (job.message.empty()) return how;
  return fmt::format("{} ({})", how, console::Printable(job.message, /*unicode=*/true));
}

// Why the master has refused what was asked of this job, in the words of the command; empty: in the
// words of the master.
std::string WhyRefused(const WhatIfArguments& arguments, const Snapshot& job) {
  const std::string& id = arguments.subject;
  const std::vector<std::string> options = OtherwiseBy(arguments);
  if (options.empty()) return "";
  if (job.is_final) {
    return fmt::format(
        "{} {}, so {} can change nothing; leave {} out to see how it ended, or ask about a "
        "plan or an event log of Spark, which are files",
        id, HowItEnded(job), fmt::join(options, " and "), options.size() == 1 ? "it" : "them");
  }
  const bool is_workflow = job.info && job.info->kind == JobKind::kWorkflow;
  if (is_workflow && !arguments.executors.empty()) {
    return fmt::format(
        "{} is a workflow: --executors is for applications of Spark; pass the id of one of its "
        "jobs, or ask about --slots",
        id);
  }
  if (!is_workflow && (arguments.data_factor || arguments.policy)) {
    return fmt::format(
        "{} is not a workflow: --data-factor and --policy are for plans and workflows; pass the "
        "id of the workflow that it is part of",
        id);
  }
  return "";
}

// What is wrong with --executors, by the field in which the master found it; empty: nothing.
std::string WrongExecutors(std::string_view message) {
  constexpr std::string_view kField = "].executors: ";
  const std::size_t at = message.find(kField);
  if (!message.starts_with("scenarios[") || at == std::string_view::npos) return "";
  return fmt::format("--executors: {}", message.substr(at + kField.size()));
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

bool NeedsModelsOfSize(const WhatIfArguments& arguments) {
  return !arguments.partitions.empty() || !arguments.data.empty() || !arguments.learn.empty() ||
         !arguments.parameters.empty();
}

// What only a log tells enough for.
bool HasSettingsOfLogs(const WhatIfArguments& arguments) {
  return !arguments.settings.empty() || !arguments.cores.empty() || !arguments.memory.empty() ||
         !arguments.compress.empty() || NeedsModelsOfSize(arguments);
}

bool HasSparkSettings(const WhatIfArguments& arguments) {
  return !arguments.executors.empty() || HasSettingsOfLogs(arguments);
}

int RefuseSparkSettings(const WhatIfArguments& arguments) {
  Complain(
      fmt::format("{} is no event log of Spark: --cores, --memory, --partitions, --compress, "
                  "--data, --param, --learn and --conf are for these alone, --executors for these "
                  "and applications that run",
                  arguments.subject));
  return kUsage;
}

// More rows are no table for people.
constexpr std::size_t kRowsMax = 1000;

// A row that is asked for.
struct SparkRow {
  std::vector<std::string> parts;  // of its name
  std::map<std::string, std::string> settings;
  std::optional<double> data_factor;
};

// Each of `rows` with each of `values`, which `set` puts in.
template <typename Value, typename Set>
std::vector<SparkRow> Combined(const std::vector<SparkRow>& rows, const std::vector<Value>& values,
                               const Set& set) {
  if (values.empty()) return rows;
  std::vector<SparkRow> combined;
  for (const SparkRow& row : rows) {
    for (const Value& value : values) {
      combined.push_back(row);
      set(value, combined.back());
    }
  }
  return combined;
}

std::vector<SparkRow> RowsOf(const WhatIfArguments& arguments) {
  const auto setting = [](std::vector<const char*> names, const char* words) {
    return [names = std::move(names), words](const auto& value, SparkRow& row) {
      for (const char* name : names) row.settings[name] = fmt::format("{}", value);
      row.parts.push_back(fmt::format(fmt::runtime(words), value));
    };
  };
  std::vector<SparkRow> rows(1);
  rows = Combined(rows, arguments.executors, setting({"spark.executor.instances"}, "{} executors"));
  rows = Combined(rows, arguments.cores, setting({"spark.executor.cores"}, "{} cores"));
  rows = Combined(rows, arguments.memory, setting({"spark.executor.memory"}, "{} memory"));
  rows = Combined(
      rows, arguments.partitions,
      setting({"spark.sql.shuffle.partitions", "spark.default.parallelism"}, "{} partitions"));
  rows = Combined(rows, arguments.compress, [](const std::string& value, SparkRow& row) {
    row.settings["spark.shuffle.compress"] = value;
    row.parts.emplace_back(value == "true" ? "compressed" : "not compressed");
  });
  rows = Combined(rows, arguments.data, [](double value, SparkRow& row) {
    row.data_factor = value;
    row.parts.push_back(fmt::format("{:g}x data", value));
  });
  for (SparkRow& row : rows) {
    for (const auto& [name, value] : arguments.parameters) {
      row.parts.push_back(fmt::format("{}={}", name, value));
    }
    for (const auto& [name, value] : arguments.settings) {
      row.settings.try_emplace(name, value);
      row.parts.push_back(fmt::format("{}={}", name, value));
    }
  }
  return rows;
}

// The runs to learn from beside the one that is asked about. Errors name the log.
absl::StatusOr<SparkRuns> LearnFrom(const WhatIfArguments& arguments, const SparkRun& run) {
  std::vector<SparkRun> runs = {run};
  std::vector<std::string> paths = {arguments.subject};
  for (const std::string& path : arguments.learn) {
    auto other = ReadSparkRun(path);
    if (!other.ok()) return other.status();
    runs.push_back(*std::move(other));
    paths.push_back(path);
  }
  return SparkRuns::Learn(std::move(runs), paths);
}

// As it ran, and with each set of settings.
int OfSparkSettings(const WhatIfArguments& arguments, const SparkRun& run) {
  if (arguments.slots.size() > 1) {
    Complain("--conf goes with one number of --slots");
    return kUsage;
  }
  Scenario scenario = {.data_factor = arguments.data_factor, .policy = arguments.policy};
  if (!arguments.slots.empty()) scenario.slots = arguments.slots[0];
  const std::vector<SparkRow> rows = RowsOf(arguments);
  if (rows.size() > kRowsMax) {
    Complain(fmt::format("{} combinations of settings; ask for at most {}", rows.size(), kRowsMax));
    return kUsage;
  }
  std::optional<SparkRuns> runs;
  std::optional<SparkRunModels> models;
  if (NeedsModelsOfSize(arguments)) {
    auto learnt = LearnFrom(arguments, run);
    if (!learnt.ok()) return Wrong(learnt.status());
    runs.emplace(*std::move(learnt));
  } else {
    auto learnt = SparkRunModels::Learn(run);
    if (!learnt.ok()) return Wrong(InPlanFile(arguments.subject, learnt.status()));
    models.emplace(*std::move(learnt));
  }
  std::vector<Answer> answers;
  const auto add = [&](const std::string& name, const OtherRun& other, const Scenario& set,
                       const SparkRow& row) -> absl::Status {
    auto outcome = cli::EstimateStages(other.plan, set, absl::Now(), other.deviation);
    if (!outcome.ok()) return outcome.status();
    Answer answer = {.scenario = name,
                     .outcome = *std::move(outcome),
                     .remarks = other.remarks,
                     .settings = row.settings,
                     .data_factor = row.data_factor,
                     .binding = other.binding};
    if (const auto& remaining = answer.outcome.snapshot.estimate.remaining) {
      answer.core_hours = absl::ToDoubleHours(remaining->median) * other.slots;
    }
    answers.push_back(std::move(answer));
    return absl::OkStatus();
  };
  const absl::Status base =
      add("as it is", {.plan = run.plan, .slots = run.plan.cluster.slots}, {}, {});
  if (!base.ok()) return Wrong(InPlanFile(arguments.subject, base));
  for (const SparkRow& row : rows) {
    if (row.parts.empty() && runs) continue;  // the run as it is, which is there
    auto other = runs ? runs->With(row.settings, row.data_factor.value_or(1), arguments.parameters)
                      : models->With(row.settings);
    if (!other.ok()) return Wrong(InPlanFile(arguments.subject, other.status()));
    Scenario set = scenario;
    if (!set.slots) set.slots = other->slots;
    if (absl::Status added = add(Named(row.parts, scenario), *other, set, row); !added.ok()) {
      return Wrong(InPlanFile(arguments.subject, added));
    }
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
  if (HasSettingsOfLogs(arguments)) return RefuseSparkSettings(arguments);
  const auto scenarios = ScenariosOf(arguments);
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const auto outcomes = master.EstimateJob(arguments.subject, scenarios);
    if (absl::IsNotFound(outcomes.status())) return NoSuchJob(arguments.subject, master);
    if (absl::IsInvalidArgument(outcomes.status()) ||
        absl::IsFailedPrecondition(outcomes.status())) {
      const auto job = master.GetJob(arguments.subject, View::kBasic);
      std::string reason = job.ok() ? WhyRefused(arguments, *job) : "";
      if (reason.empty()) reason = WrongExecutors(std::string(outcomes.status().message()));
      if (!reason.empty()) {
        Complain(reason);
        return kUsage;
      }
    }
    if (!outcomes.ok()) return outcomes.status();
    return arguments.executors.empty() ? Show(arguments, scenarios, *outcomes)
                                       : ShowExecutors(arguments, *outcomes);
  });
}

}  // namespace tidemark::cli
