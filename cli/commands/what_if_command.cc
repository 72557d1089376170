#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cli/at_master.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/plan_file.h"
#include "cli/progress.h"
#include "cli/spark/rows.h"
#include "cli/table_output.h"
#include "console/job_table.h"
#include "console/text.h"
#include "proto/wire/job_codec.h"
#include "spark/log_archive.h"
#include "text/counted.h"
#include "text/duration_text.h"
#include "whatif/plan_estimate.h"
#include "whatif/spark_plan.h"
#include "whatif/spark_runs.h"

namespace tidemark::cli {
namespace {

using Outcomes = std::vector<Outcome>;

// As it is, then each that is asked about.
std::vector<Scenario> ScenariosOf(const WhatIfArguments& arguments) {
  Scenario asked = {.data_factor = arguments.data_factor, .policy = arguments.policy};
  std::vector<Scenario> scenarios(1);
  const bool is_of_one_size = arguments.slots.empty() && arguments.executors.empty();
  if (is_of_one_size && asked != Scenario()) scenarios.push_back(asked);
  for (const std::uint32_t executors : arguments.executors) {
    asked.executors = executors;
    scenarios.push_back(asked);
  }
  for (const std::uint32_t slots : arguments.slots) {
    asked.slots = slots;
    scenarios.push_back(asked);
  }
  return scenarios;
}

// `parts`: what the scenario does not say.
std::string Named(std::vector<std::string> parts, const Scenario& scenario) {
  if (scenario.data_factor) parts.push_back(fmt::format("{:g}x data", *scenario.data_factor));
  if (scenario.policy) parts.push_back(fmt::format("policy {}", NameOf(*scenario.policy)));
  if (parts.empty()) return "as asked";  // where a master does not say on what
  return fmt::format("{}", fmt::join(parts, ", "));
}

// With what it has, as far as that is known.
std::string AsItIs(const std::vector<std::string>& parts) {
  return parts.empty() ? "as it is" : fmt::format("as it is: {}", fmt::join(parts, ", "));
}

std::vector<std::string> SizesOf(const Outcome& outcome, bool has_executors) {
  std::vector<std::string> parts;
  if (has_executors && outcome.executors > 0) {
    parts.push_back(text::Counted(outcome.executors, "executor"));
  }
  if (outcome.slots > 0) parts.push_back(text::Counted(outcome.slots, "slot"));
  return parts;
}

// A row of the answer.
struct Answer {
  std::string scenario;
  Outcome outcome;
  std::vector<std::string> remarks;
  std::map<std::string, std::string> settings;  // of Spark, that were changed
  std::optional<double> data_factor;
  std::optional<double> core_hours;        // of all executors, until the end
  std::string binding;                     // what most of the time goes to; empty: not known
  std::optional<absl::Duration> as_it_is;  // of the run, by the same models; empty: as it took
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
  // Both contain text of the user, so any bytes are possible.
  const auto dumped = [](const nlohmann::json& value) {
    return value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  };
  return json + fmt::format(R"(,"settings":{},"remarks":{}}})",
                            dumped(nlohmann::json(answer.settings)),
                            dumped(nlohmann::json(answer.remarks)));
}

int Show(const WhatIfArguments& arguments, const std::vector<Answer>& answers) {
  if (IsJson(arguments.format)) {
    std::vector<std::string> lines;
    for (const Answer& answer : answers) lines.push_back(JsonOf(answer));
    return PrintJson(lines, arguments.format);
  }
  const auto options = TableOptionsFor(arguments.format);
  std::vector<console::ScenarioRow> rows;
  for (const Answer& answer : answers) {
    rows.push_back({answer.scenario, answer.outcome, answer.core_hours, answer.binding,
                    answer.remarks, answer.as_it_is});
  }
  std::vector<std::string> lines;
  if (answers.size() == 1) {
    lines = console::RenderEstimate(answers[0].outcome, options);
  } else {
    lines = console::RenderScenarios(rows, options);
  }
  const std::vector<std::string> remarks = console::RenderRemarks(rows, options.text);
  lines.insert(lines.end(), remarks.begin(), remarks.end());
  return PrintLines(lines);
}

// Of a plan or a job. `slots`: of a plan, as it is; 0: not known.
int Show(const WhatIfArguments& arguments, const std::vector<Scenario>& scenarios,
         const Outcomes& outcomes, std::uint32_t slots = 0) {
  const bool has_executors = !arguments.executors.empty();
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Scenario scenario = i < scenarios.size() ? scenarios[i] : Scenario();
    Answer& answer = answers.emplace_back(Answer{.outcome = outcomes[i]});
    Outcome& outcome = answer.outcome;
    if (outcome.slots == 0) outcome.slots = scenario.slots.value_or(slots);
    const std::vector<std::string> sizes = SizesOf(outcome, has_executors);
    answer.scenario = scenario == Scenario() ? AsItIs(sizes) : Named(sizes, scenario);
    const auto& remaining = outcome.snapshot.estimate.remaining;
    if (has_executors && remaining && outcome.slots > 0) {
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
  const char* const how = job.state == JobState::kFailed       ? "has failed"
                          : job.state == JobState::kKilled     ? "was killed"
                          : job.state == JobState::kAbandoned  ? "was abandoned"
                          : job.state == JobState::kUnknownEnd ? "has ended without a report how"
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
    const std::string workflow = job.info ? job.info->workflow_id : "";
    return fmt::format(
        "{} is a job, and how it goes on with {} is not known; ask about --slots, or about {}", id,
        arguments.data_factor ? "other data (--data-factor)" : "another policy (--policy)",
        workflow.empty() ? "a plan, an event log of Spark or a workflow"
                         : fmt::format("its workflow, {}", workflow));
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

int ReportWhatIfError(const absl::Status& status) {
  Complain(std::string(status.message()));
  return kUsage;
}

bool NeedsModelsOfSize(const WhatIfArguments& arguments) {
  return !arguments.partitions.empty() || !arguments.data.empty() || !arguments.learn.empty() ||
         !arguments.parameters.empty();
}

// What was asked for that only a log tells enough for, by the names of the options.
std::vector<std::string> OptionsOfLogs(const WhatIfArguments& arguments) {
  std::vector<std::string> options;
  const auto add = [&options](const char* option, bool is_given) {
    if (is_given) options.emplace_back(option);
  };
  add("--cores", !arguments.cores.empty());
  add("--memory", !arguments.memory.empty());
  add("--partitions", !arguments.partitions.empty());
  add("--compress", !arguments.compress.empty());
  add("--data", !arguments.data.empty());
  add("--param", !arguments.parameters.empty());
  add("--learn", !arguments.learn.empty());
  add("--conf", !arguments.settings.empty());
  return options;
}

bool HasSparkSettings(const WhatIfArguments& arguments) {
  return !arguments.executors.empty() || !OptionsOfLogs(arguments).empty();
}

int RefuseSettingsOfPlan(const WhatIfArguments& arguments) {
  std::vector<std::string> options = OptionsOfLogs(arguments);
  if (!arguments.executors.empty()) options.insert(options.begin(), "--executors");
  Complain(fmt::format(
      "{} is no event log of Spark; of a plan ask about --slots, --data-factor or --policy, not {}",
      arguments.subject, fmt::join(options, " or ")));
  return kUsage;
}

int RefuseSettingsOfJob(const WhatIfArguments& arguments) {
  Complain(
      fmt::format("{} is no file, so it is taken for the id of a job: only the event log of a run "
                  "tells enough for {}; of a job ask about --executors or --slots",
                  arguments.subject, fmt::join(OptionsOfLogs(arguments), " and ")));
  return kUsage;
}

// The runs to learn from beside the one that is asked about. Errors name the log.
absl::StatusOr<SparkRuns> LearnFrom(const WhatIfArguments& arguments, const SparkRun& run) {
  std::vector<SparkRun> runs = {run};
  std::vector<std::string> paths = {arguments.subject};
  for (const std::string& path : arguments.learn) {
    auto other = ReadSparkRun(path);
    if (!other.ok()) return other.status();
    for (const std::string& remark : other->remarks) Complain(fmt::format("{}: {}", path, remark));
    runs.push_back(*std::move(other));
    paths.push_back(path);
  }
  return SparkRuns::Learn(std::move(runs), paths);
}

absl::StatusOr<Answer> AnswerOf(const OtherRun& run, const Scenario& scenario, const SparkRow& row,
                                const std::string& name) {
  auto outcome = cli::EstimateStages(run.plan, scenario, absl::Now(), run.deviation);
  if (!outcome.ok()) return outcome.status();
  outcome->slots = scenario.slots.value_or(run.slots);
  outcome->executors = run.executors;
  Answer answer = {.scenario = name,
                   .outcome = *std::move(outcome),
                   .remarks = run.remarks,
                   .settings = row.settings,
                   .data_factor = row.data_factor,
                   .binding = run.binding};
  if (const auto& remaining = answer.outcome.snapshot.estimate.remaining) {
    const double cores = run.cores > 0 ? run.cores : answer.outcome.slots;
    answer.core_hours = absl::ToDoubleHours(remaining->median) * cores;
  }
  return answer;
}

absl::StatusOr<Answer> RunAsItIs(const SparkRun& run) {
  const auto settings = SettingsOf(run.measured, {});
  if (!settings.ok()) return settings.status();
  const std::uint32_t slots = run.plan.cluster.slots;
  const std::uint32_t executors = settings->ran.executors;
  const Outcome had = {.slots = slots, .executors = executors};
  const double cores = settings->ran.cores();
  return AnswerOf({.plan = run.plan, .slots = slots, .executors = executors, .cores = cores}, {},
                  {}, AsItIs(SizesOf(had, /*has_executors=*/true)));
}

// Whether the row asks for nothing but what the run had. `asked`: for its settings.
bool IsAsItRan(const SparkRun& run, const WhatIfArguments& arguments, const Scenario& scenario,
               const SparkRow& row, const SettingsPair& asked) {
  const std::uint32_t slots = run.plan.cluster.slots;
  if (scenario.policy || scenario.slots.value_or(slots) != slots) return false;
  if (scenario.data_factor.value_or(1) != 1 || row.data_factor.value_or(1) != 1) return false;
  const std::map<std::string, std::string>& told = run.measured.parameters();
  for (const auto& [name, value] : arguments.parameters) {
    const auto parameter = told.find(name);
    if (parameter == told.end() || parameter->second != value) return false;
  }
  return asked.other == asked.ran && asked.of_changes.empty();
}

// The same answer, in the row that asks for what the run had.
Answer AsTheRun(Answer answer, const SparkRow& row, const std::string& name) {
  answer.scenario = name;
  answer.settings = row.settings;
  answer.data_factor = row.data_factor;
  answer.remarks = {"set as the run was, so it is the run as it is"};
  return answer;
}

// What the models of several runs say of the first as it is. Empty: it has no end.
absl::StatusOr<std::optional<absl::Duration>> ModelledAsItIs(const SparkRuns& runs) {
  const auto same = runs.With({}, /*data_factor=*/1, {});
  if (!same.ok()) return same.status();
  const auto answer = AnswerOf(*same, {.slots = same->slots}, {}, "");
  if (!answer.ok()) return answer.status();
  const auto& remaining = answer->outcome.snapshot.estimate.remaining;
  return remaining ? std::optional(remaining->median) : std::nullopt;
}

// That rows are compared with what models say of the run, not with what it took.
void SayWhatIsCompared(absl::Duration modelled, std::vector<Answer>& answers) {
  const auto is_compared = [](const Answer& answer) { return answer.as_it_is.has_value(); };
  if (std::ranges::none_of(answers, is_compared)) return;
  answers[0].remarks.push_back(
      fmt::format("models say the times of rows that are set otherwise; they expect {} of the run "
                  "as it is, and SPEED-UP is against that",
                  text::DurationText(modelled + absl::Milliseconds(500))));
}

// The option has no effect without a question. Empty: there is one.
std::string LearnsForNothing(const WhatIfArguments& arguments, const Scenario& scenario,
                             const std::vector<SparkRow>& rows) {
  const bool is_asked = rows.size() > 1 || !rows[0].parts.empty() || scenario != Scenario();
  if (arguments.learn.empty() || is_asked) return "";
  return "--learn has no effect without a question: the run as it is needs no models; ask about "
         "other settings, such as --executors, --partitions, --data or --conf, or leave it out";
}

constexpr char kMemoryInLocalMode[] =
    "the run was in local mode, where memory is the driver's: that of executors changes nothing";
// Spark begins the ids of applications so in local mode.
bool IsLocal(const SparkRun& run) { return run.application_id.starts_with("local-"); }

// As it ran, and with each set of settings.
int OfSparkSettings(const WhatIfArguments& arguments, const SparkRun& run) {
  if (arguments.slots.size() > 1) {
    Complain("--slots takes one number beside settings of Spark");
    return kUsage;
  }
  Scenario scenario = {.data_factor = arguments.data_factor, .policy = arguments.policy};
  if (!arguments.slots.empty()) scenario.slots = arguments.slots[0];
  const auto rows = RowsOf(arguments);
  if (!rows.ok()) return ReportWhatIfError(rows.status());
  if (const std::string why = LearnsForNothing(arguments, scenario, *rows); !why.empty()) {
    Complain(why);
    return kUsage;
  }
  std::optional<SparkRuns> runs;
  std::optional<SparkRunModels> models;
  if (NeedsModelsOfSize(arguments)) {
    auto learnt = LearnFrom(arguments, run);
    if (!learnt.ok()) return ReportWhatIfError(learnt.status());
    runs.emplace(*std::move(learnt));
  } else {
    auto learnt = SparkRunModels::Learn(run);
    if (!learnt.ok()) return ReportWhatIfError(InPlanFile(arguments.subject, learnt.status()));
    models.emplace(*std::move(learnt));
  }
  const auto base = RunAsItIs(run);
  if (!base.ok()) return ReportWhatIfError(InPlanFile(arguments.subject, base.status()));
  std::optional<absl::Duration> modelled;  // the run as it is, by the models of several runs
  if (runs) {
    const auto same = ModelledAsItIs(*runs);
    if (!same.ok()) return ReportWhatIfError(InPlanFile(arguments.subject, same.status()));
    modelled = *same;
  }
  std::vector<Answer> answers = {*base};
  for (const SparkRow& row : *rows) {
    if (row.parts.empty() && scenario == Scenario()) continue;  // as it is, which is there
    // The value is checked, also where it has no effect.
    if (const auto asked = SettingsOf(run.measured, row.settings); !asked.ok()) {
      return ReportWhatIfError(InPlanFile(arguments.subject, InOptions(asked.status(), arguments)));
    }
    SparkRow effective = row;
    const bool has_idle_memory =
        IsLocal(run) && effective.settings.erase("spark.executor.memory") > 0;
    const auto asked = SettingsOf(run.measured, effective.settings);
    if (!asked.ok()) return ReportWhatIfError(InPlanFile(arguments.subject, asked.status()));
    std::vector<std::string> parts = row.parts;
    if (scenario.slots) parts.insert(parts.begin(), text::Counted(*scenario.slots, "slot"));
    const std::string name = Named(std::move(parts), scenario);
    if (IsAsItRan(run, arguments, scenario, effective, *asked)) {
      answers.push_back(AsTheRun(*base, row, name));
    } else {
      auto other =
          runs ? runs->With(effective.settings, row.data_factor.value_or(1), arguments.parameters)
               : models->With(effective.settings);
      if (!other.ok()) {
        return ReportWhatIfError(
            InPlanFile(arguments.subject, InOptions(other.status(), arguments)));
      }
      Scenario set = scenario;
      if (!set.slots) set.slots = other->slots;
      // Slots of the question belong to no known executors.
      if (set.slots != other->slots) {
        other->executors = 0;
        other->cores = 0;
      }
      auto answer = AnswerOf(*other, set, row, name);
      if (!answer.ok()) return ReportWhatIfError(InPlanFile(arguments.subject, answer.status()));
      if (modelled) answer->as_it_is = *modelled;
      answers.push_back(*std::move(answer));
    }
    if (has_idle_memory) answers.back().remarks.emplace_back(kMemoryInLocalMode);
  }
  if (modelled) SayWhatIsCompared(*modelled, answers);
  return Show(arguments, answers);
}

// Returns whether the file is not an event log, whatever its name. Plans are never folders or
// archives.
bool IsPlan(const std::string& subject) {
  std::error_code ignored;
  if (std::filesystem::is_directory(subject, ignored)) return false;
  // To open a pipe would block. The reader of plans reports why it reads no such file.
  if (!std::filesystem::is_regular_file(subject, ignored)) return true;
  return !spark::IsArchive(subject) && !cli::IsEventLog(subject);
}

int OfPlan(const WhatIfArguments& arguments) {
  const auto scenarios = ScenariosOf(arguments);
  absl::StatusOr<Plan> plan;
  if (IsPlan(arguments.subject)) {
    if (HasSparkSettings(arguments)) return RefuseSettingsOfPlan(arguments);
    plan = cli::ReadPlanFile(arguments.subject, cli::PlanUse::kEstimate);
  } else {
    auto run = ReadSparkRun(arguments.subject);
    if (!run.ok()) return ReportWhatIfError(run.status());
    for (const std::string& remark : run->remarks) {
      Complain(fmt::format("{}: {}", arguments.subject, remark));
    }
    if (HasSparkSettings(arguments)) return OfSparkSettings(arguments, *run);
    plan = std::move(run->plan);
  }
  if (!plan.ok()) return ReportWhatIfError(plan.status());
  if (plan->id.empty() && plan->name.empty()) {
    plan->name = std::filesystem::path(arguments.subject).stem();
  }
  if (cli::IsOfStages(*plan)) {
    Outcomes outcomes;
    for (const Scenario& scenario : scenarios) {
      auto outcome = cli::EstimateStages(*plan, scenario, absl::Now());
      if (!outcome.ok()) return ReportWhatIfError(InPlanFile(arguments.subject, outcome.status()));
      outcomes.push_back(*std::move(outcome));
    }
    return Show(arguments, scenarios, outcomes, plan->cluster.slots);
  }
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const auto outcomes = master.EstimatePlan(*plan, scenarios);
    if (absl::IsInvalidArgument(outcomes.status())) {
      return ReportWhatIfError(InPlanFile(arguments.subject, outcomes.status()));
    }
    if (!outcomes.ok()) return outcomes.status();
    return Show(arguments, scenarios, *outcomes, plan->cluster.slots);
  });
}

}  // namespace

int Do(const WhatIfArguments& arguments) {
  if (IsFile(arguments.subject)) return OfPlan(arguments);
  if (!OptionsOfLogs(arguments).empty()) return RefuseSettingsOfJob(arguments);
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
    return Show(arguments, scenarios, *outcomes);
  });
}

}  // namespace tidemark::cli
