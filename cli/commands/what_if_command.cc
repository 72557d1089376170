#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plan_file.h"
#include "cli/progress.h"
#include "console/job_table.h"
#include "console/text.h"
#include "proto/wire/job_codec.h"
#include "spark/log_files.h"
#include "text/ascii_json.h"
#include "whatif/plan_estimate.h"
#include "whatif/spark_run.h"
#include "whatif/what_if.h"

namespace tidemark::cli {
namespace {

// --- output -----------------------------------------------------------------------------------

// Returns a state as JSON, like the message PlanState.
std::string JsonOf(const PlanState& state) {
  std::vector<std::string> stages;
  for (const PlanState::Stage& stage : state.stages) {
    stages.push_back(fmt::format(
        R"({{"id":{{"child":{},"stage":{}}},"task_count":{},"task_time":"{:.3f}s","bottleneck":{}}})",
        stage.id.child, stage.id.stage, stage.tasks, absl::ToDoubleSeconds(stage.task_time),
        text::QuotedJson(stage.bottleneck)));
  }
  return fmt::format(R"({{"starts_in":"{:.3f}s","ends_in":"{:.3f}s","stages":[{}]}})",
                     absl::ToDoubleSeconds(state.starts_in), absl::ToDoubleSeconds(state.ends_in),
                     fmt::join(stages, ","));
}

std::string JsonOf(const whatif::Row& row) {
  std::string json = fmt::format(R"({{"snapshot":{})", wire::SnapshotJson(row.outcome.snapshot));
  if (row.outcome.busy_share) {
    json += fmt::format(R"(,"busy_share":{})", *row.outcome.busy_share);
  }
  if (row.core_hours) json += fmt::format(R"(,"core_hours":{})", *row.core_hours);
  if (row.outcome.slots > 0) json += fmt::format(R"(,"slots":{})", row.outcome.slots);
  if (row.outcome.executors > 0) {
    json += fmt::format(R"(,"executors":{})", row.outcome.executors);
  }
  if (!row.outcome.states.empty()) {
    std::vector<std::string> states;
    for (const PlanState& state : row.outcome.states) states.push_back(JsonOf(state));
    json += fmt::format(R"(,"states":[{}])", fmt::join(states, ","));
  }
  if (!row.model.empty()) json += fmt::format(R"(,"model":{})", text::QuotedJson(row.model));
  if (!row.binding.empty()) json += fmt::format(R"(,"binding":{})", text::QuotedJson(row.binding));
  if (row.data_factor) json += fmt::format(R"(,"data_factor":{})", *row.data_factor);
  return json + fmt::format(R"(,"settings":{},"remarks":{}}})",
                            JsonText(nlohmann::json(row.settings)),
                            JsonText(nlohmann::json(row.remarks)));
}

// Returns true if the row repeats the row of the unchanged run, "as it is: 4 executors, 16 slots".
bool IsRepeated(const whatif::Row& row, const whatif::Row& unchanged) {
  const std::string same = "as it is: " + row.name;
  const auto& takes = row.outcome.snapshot.estimate.remaining;
  return (unchanged.name == same || unchanged.name.starts_with(same + ", ")) && takes &&
         takes == unchanged.outcome.snapshot.estimate.remaining;
}

// Values of parameters may be long.
constexpr int kNameColumnsMax = 100;

int Show(const WhatIfArguments& arguments, const std::vector<whatif::Row>& answer) {
  if (IsJson(arguments.format)) {
    std::vector<std::string> lines;
    for (const whatif::Row& row : answer) lines.push_back(JsonOf(row));
    return PrintJson(lines, arguments.format);
  }
  const auto options = TableOptionsFor(arguments.format);
  std::vector<console::ScenarioRow> rows;
  for (const whatif::Row& row : answer) {
    if (IsRepeated(row, answer[0])) continue;
    std::vector<std::string> remarks = row.remarks;
    const Snapshot& snapshot = row.outcome.snapshot;
    if (snapshot.info && snapshot.info->kind == JobKind::kWorkflow) {
      remarks.insert(remarks.end(), snapshot.notes.begin(), snapshot.notes.end());
    }
    rows.push_back({console::ClipMiddle(row.name, kNameColumnsMax, options.text.unicode),
                    row.outcome, row.core_hours, row.binding, std::move(remarks), row.as_it_is});
  }
  std::vector<std::string> lines;
  if (answer.size() == 1) {
    lines = console::RenderEstimate(answer[0].outcome, options);
  } else {
    lines = console::RenderScenarios(rows, options);
  }
  const std::vector<std::string> remarks = console::RenderRemarks(rows, options.text);
  lines.insert(lines.end(), remarks.begin(), remarks.end());
  return PrintLines(lines);
}

// --- jobs of a master -------------------------------------------------------------------------

std::vector<std::string> ChangesOf(const WhatIfArguments& arguments) {
  std::vector<std::string> options;
  if (!arguments.question.slots.empty()) options.emplace_back("--slots");
  if (!arguments.question.executors.empty()) options.emplace_back("--executors");
  if (arguments.question.data_factor) options.emplace_back("--data-factor");
  if (arguments.question.policy) options.emplace_back("--policy");
  return options;
}

std::string EndOfJob(const Snapshot& job) {
  const char* const how = job.state == JobState::kFailed       ? "has failed"
                          : job.state == JobState::kKilled     ? "was killed"
                          : job.state == JobState::kAbandoned  ? "was abandoned"
                          : job.state == JobState::kUnknownEnd ? "has ended with an unknown outcome"
                                                               : "has ended";
  if (job.message.empty()) return how;
  return fmt::format("{} ({})", how, console::Printable(job.message, /*unicode=*/true));
}

// Returns why the master rejects the question about this job, or "" if only the master's message
// states the reason.
std::string WhyRejected(const WhatIfArguments& arguments, const Snapshot& job) {
  const std::string& id = arguments.subject;
  const std::vector<std::string> options = ChangesOf(arguments);
  if (options.empty()) return "";
  if (job.is_final) {
    return fmt::format(
        "{} {}, so {} would have no effect; omit {} to see how it ended, or pass a plan "
        "or a log",
        id, EndOfJob(job), fmt::join(options, " and "), options.size() == 1 ? "it" : "them");
  }
  const bool is_workflow = job.info && job.info->kind == JobKind::kWorkflow;
  if (is_workflow && !arguments.question.executors.empty()) {
    return fmt::format(
        "{} is a workflow: --executors is for Spark applications; pass the id of one of its "
        "jobs, or use --slots",
        id);
  }
  if (!is_workflow && (arguments.question.data_factor || arguments.question.policy)) {
    const std::string workflow = job.info ? job.info->workflow_id : "";
    return fmt::format("{} is a job, and jobs do not support {}; use --slots, or pass {}", id,
                       arguments.question.data_factor ? "--data-factor" : "--policy",
                       workflow.empty() ? "a plan, a Spark event log or a workflow"
                                        : fmt::format("its workflow, {}", workflow));
  }
  return "";
}

// Returns the error in --executors if the master's message names that field, or "" for other
// messages.
std::string WrongExecutors(std::string_view message) {
  constexpr std::string_view kField = "].executors: ";
  const std::size_t at = message.find(kField);
  if (!message.starts_with("scenarios[") || at == std::string_view::npos) return "";
  return fmt::format("--executors: {}", message.substr(at + kField.size()));
}

int AnswerFromMaster(const WhatIfArguments& arguments, const whatif::Question& question) {
  if (const auto options = question.LogOptions(); !options.empty()) {
    PrintError(
        fmt::format("{} is not a file, so it is treated as the id of a job; {} requires an event "
                    "log; for a job, pass --executors or --slots",
                    arguments.subject, fmt::join(options, " and ")));
    return kUsage;
  }
  const std::string& subject = arguments.subject;
  return AtMaster(arguments.master, subject, [&](const Client& master) -> absl::StatusOr<int> {
    const auto outcomes = master.EstimateJob(subject, whatif::ScenariosOf(question));
    if (absl::IsNotFound(outcomes.status())) return NoSuchFileOrJob(subject, master);
    if (absl::IsInvalidArgument(outcomes.status()) ||
        absl::IsFailedPrecondition(outcomes.status())) {
      const auto job = master.GetJob(subject, View::kBasic);
      std::string reason = job.ok() ? WhyRejected(arguments, *job) : "";
      if (reason.empty()) reason = WrongExecutors(std::string(outcomes.status().message()));
      if (!reason.empty()) {
        PrintError(reason);
        return kUsage;
      }
    }
    if (!outcomes.ok()) return outcomes.status();
    std::vector<whatif::Row> rows = whatif::NamedRows(question, *outcomes);
    whatif::AddRemarksOnJob(rows);
    return Show(arguments, rows);
  });
}

// --- files ------------------------------------------------------------------------------------

bool IsPlanName(const std::string& subject) {
  const std::string extension = std::filesystem::path(subject).extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// Returns true if the content of the file is not an event log. Plans are never folders or archives.
bool IsPlan(const std::string& subject) {
  std::error_code ignored;
  if (!std::filesystem::exists(subject, ignored)) return IsPlanName(subject);
  if (std::filesystem::is_directory(subject, ignored)) return false;
  // Opening a pipe would block. The reader of plans reports why it rejects such a file.
  if (!std::filesystem::is_regular_file(subject, ignored)) return true;
  return !spark::IsArchive(subject) && !whatif::IsEventLog(subject);
}

int AnswerFromPlanFile(const WhatIfArguments& arguments, const whatif::Question& question) {
  if (question.HasSparkSettings() || !question.reducers.empty()) {
    std::vector<std::string> options = question.LogOptions();
    if (!question.executors.empty()) options.insert(options.begin(), "--executors");
    PrintError(
        fmt::format("{} is not a log; for a plan, use --slots, --data-factor or --policy, "
                    "not {}",
                    arguments.subject, fmt::join(options, " or ")));
    return kUsage;
  }
  absl::StatusOr<Plan> plan = ReadPlanFile(arguments.subject, PlanUse::kEstimate);
  if (!plan.ok()) return ReportInputError(plan.status());
  if (plan->id.empty() && plan->name.empty()) {
    plan->name = std::filesystem::path(arguments.subject).stem();
  }
  if (whatif::IsOfStages(*plan)) {
    const auto rows = whatif::AnswerFromPlan(*plan, question, absl::Now());
    if (!rows.ok()) return ReportInputError(InPlanFile(arguments.subject, rows.status()));
    return Show(arguments, *rows);
  }
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const auto outcomes = master.EstimatePlan(*plan, whatif::ScenariosOf(question));
    if (absl::IsInvalidArgument(outcomes.status())) {
      return ReportInputError(InPlanFile(arguments.subject, outcomes.status()));
    }
    if (!outcomes.ok()) return outcomes.status();
    std::vector<whatif::Row> rows = whatif::NamedRows(question, *outcomes, plan->cluster.slots);
    whatif::AddRemarksOnJob(rows);
    return Show(arguments, rows);
  });
}

}  // namespace

int Run(const WhatIfArguments& arguments) {
  whatif::Question question = arguments.question;
  if (!arguments.limits.empty() && !arguments.goal) {
    PrintError("--limit requires --find time or --find core-hours");
    return kUsage;
  }
  if (arguments.goal) {
    const auto limits = whatif::ParseLimits(arguments.limits);
    if (!limits.ok()) return ReportInputError(limits.status());
    question.find = whatif::Find{.goal = *arguments.goal, .limits = *limits};
  }
  const bool is_file = IsPath(arguments.subject) || IsPlanName(arguments.subject);
  if (!is_file) return AnswerFromMaster(arguments, question);
  if (IsPlan(arguments.subject)) return AnswerFromPlanFile(arguments, question);
  const auto answer = whatif::AnswerFromLog(arguments.subject, question, absl::Now());
  if (!answer.ok()) return ReportInputError(answer.status());
  for (const std::string& warning : answer->warnings) PrintError(warning);
  const int shown = Show(arguments, answer->rows);
  return shown == kSuccess && answer->is_damaged ? kLogTorn : shown;
}

namespace {

const std::map<std::string, SchedulingPolicy> kPolicies = {
    {"fifo", SchedulingPolicy::kFifo},
    {"fair", SchedulingPolicy::kFair},
    {"drf", SchedulingPolicy::kDrf},
    {"capacity", SchedulingPolicy::kCapacity}};

const std::map<std::string, whatif::Goal> kGoals = {{"time", whatif::Goal::kTime},
                                                    {"core-hours", whatif::Goal::kCoreHours}};

// Adds the options that take lists of values. The answer has a row for each combination.
void AddSparkLevels(CLI::App& app, WhatIfArguments& arguments) {
  whatif::Question& question = arguments.question;
  Between(1U, 10'000U, AddList(app, "--cores", question.cores, "Spark log: cores of an executor"));
  NotEmpty(
      AddList(app, "--memory", question.memory, "Spark log: memory of an executor, such as 4g"));
  Between(1U, 1'000'000U,
          AddList(app, "--partitions", question.partitions, "Spark log: partitions of shuffles"));
  OneOf({"true", "false"},
        AddList(app, "--compress", question.compress, "Spark log: whether to compress shuffles"));
  Between(1e-6, 1e6,
          AddList(app, "--data", question.data, "Spark log: factors that scale its data"));
  AddAssignments(app, "--param", question.parameters,
                 "Spark log: parameters of the program, as in spark.tidemark.param.NAME")
      ->type_name("NAME=VALUE");
  AddAssignments(app, "--size", question.sizes,
                 "Spark log: formula for the size of the shuffle that a stage reads")
      ->type_name("STAGE=FORMULA");
  AddAssignments(app, "--probe", question.probes,
                 "Spark log: log of a run that ends this stage before --size changes its data")
      ->type_name("STAGE=LOG")
      ->check(
          [](const std::string& word) -> std::string {
            return word.ends_with('=') ? word + " names no log; is a shell variable unset?" : "";
          },
          "");
  AddChoice(app, "--find", kGoals, arguments.goal,
            "Spark log: find the executors, cores, memory and partitions that minimize this");
  AddAssignments(app, "--limit", arguments.limits,
                 "Limits of --find: time=20min core-hours=3 executors=16 cores=64 memory=256g")
      ->type_name("NAME=VALUE");
  NotEmpty(
      app.add_option("--learn", question.learn,
                     "Logs of runs of the same application with different settings, to learn from"))
      ->expected(1, -1)
      ->type_name("LOG");
}

}  // namespace

void AddWhatIf(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand(
      "what-if", "Estimate when a plan or a job will end, as it is or with changes");
  auto& arguments = ArgumentsOf<WhatIfArguments>(app, invocation, Run);
  whatif::Question& question = arguments.question;
  app.add_option(
         "FILE|LOG|ID", arguments.subject,
         "Plan (YAML or JSON; docs/plans.md), Spark event log, history file of a MapReduce job "
         "(.jhist), Tidemark event log, or id of a job")
      ->required();
  CLI::Option* slots =
      Between(1U, 1'000'000U,
              AddList(app, "--slots", question.slots, "Numbers of slots, separated by commas"));
  Between(1U, 1'000'000U,
          AddList(app, "--executors", question.executors,
                  "Spark log or running application: numbers of executors, separated by commas"))
      ->excludes(slots);
  Between(1U, 20'000U,
          AddList(app, "--reducers", question.reducers,
                  "Log of a MapReduce job: numbers of reduce tasks, separated by commas"));
  AddAssignments(app, "--conf", question.settings,
                 "Spark log: settings, as spark-submit takes them; see docs/what-if.md")
      ->type_name("KEY=VALUE");
  AddSparkLevels(app, arguments);
  Between(1e-6, 1e6,
          app.add_option("--data-factor", question.data_factor,
                         "Scale the data of jobs and stages that have not started"));
  AddChoice(app, "--policy", kPolicies, question.policy, "Policy that assigns free slots to jobs");
  AddFormat(app, arguments.format);
  AddMaster(app, arguments.master);
  AddFooter(
      app,
      "A plan of stages or a log needs no master, because the file contains the task times.\n"
      "With a log: 0 success, 2 the log cannot be read or has no finished task, 4 the log is\n"
      "truncated or damaged.");
  AddFooter(app, kExitCodes);
}

}  // namespace tidemark::cli
