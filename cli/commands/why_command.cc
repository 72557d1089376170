#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "console/waits_table.h"
#include "master/waits/cluster_waits.h"
#include "whatif/spark_run.h"

namespace tidemark::cli {
namespace {

struct WhyArguments {
  std::string subject;  // a Spark event log, or the id of a job
  ExplainQuestion question;
  MasterArguments master;
  TableFormat format = TableFormat::kTable;
};

nlohmann::json JsonOf(const DataGrowth& growth) {
  nlohmann::json json = {{"task_seconds", growth.task_seconds},
                         {"read_bytes", growth.read_bytes},
                         {"earlier_read_bytes", growth.earlier_read_bytes},
                         {"all_task_seconds", growth.all_task_seconds}};
  if (growth.task_seconds_lower) json["task_seconds_lower"] = *growth.task_seconds_lower;
  if (growth.task_seconds_upper) json["task_seconds_upper"] = *growth.task_seconds_upper;
  return json;
}

nlohmann::json JsonOf(const LongestTask& task) {
  nlohmann::json json = {{"stage", task.attempt.stage},
                         {"index", task.attempt.index},
                         {"attempt", task.attempt.attempt},
                         {"seconds", task.seconds},
                         {"mean_seconds", task.mean_seconds}};
  if (!task.host.empty()) json["host"] = task.host;
  if (task.group_bytes > 0) {
    json["group_bytes"] = task.group_bytes;
    json["group_seconds"] = task.group_seconds;
  }
  return json;
}

nlohmann::json JsonOf(const QueryWaits& query) {
  nlohmann::json json = {{"query", query.query}};
  if (query.seconds) json["seconds"] = *query.seconds;
  if (query.skew_seconds) json["skew_seconds"] = *query.skew_seconds;
  if (query.longest_task) json["longest_task"] = JsonOf(*query.longest_task);
  if (query.data_growth) json["data_growth"] = JsonOf(*query.data_growth);
  json["waits"] = nlohmann::json::object();
  for (const WaitReason resource : kWaitReasons) {
    const QueryWait& wait = query.waits[resource];
    if (!wait.seconds) continue;
    nlohmann::json& told = json["waits"][std::string(InfoOf(resource).name)];
    told["seconds"] = *wait.seconds;
    told["is_least"] = wait.is_least;
  }
  json["because_of"] = nlohmann::json::array();
  for (const ContendingQuery& contender : query.culprits) {
    nlohmann::json cause = {{"resource", std::string(InfoOf(contender.resource).name)},
                            {"seconds", contender.seconds}};
    if (contender.seconds_lower) cause["seconds_lower"] = *contender.seconds_lower;
    if (contender.seconds_upper) cause["seconds_upper"] = *contender.seconds_upper;
    if (contender.sooner_seconds) cause["sooner_seconds"] = *contender.sooner_seconds;
    if (contender.sooner_seconds_lower)
      cause["sooner_seconds_lower"] = *contender.sooner_seconds_lower;
    if (contender.sooner_seconds_upper)
      cause["sooner_seconds_upper"] = *contender.sooner_seconds_upper;
    if (!contender.job_id.empty()) cause["job_id"] = contender.job_id;
    if (!contender.query.empty()) cause["query"] = contender.query;
    if (contender.job_id.empty() && contender.jobs > 0) cause["other_jobs"] = contender.jobs;
    cause["unreported"] = contender.job_id.empty() && contender.jobs == 0;
    if (!contender.host.empty()) cause["host"] = contender.host;
    json["because_of"].push_back(cause);
  }
  return json;
}

int Show(const Explanation& explanation, const WhyArguments& arguments) {
  const TableFormat format = arguments.format;
  if (IsJson(format)) {
    std::vector<std::string> values;
    for (const QueryWaits& query : explanation.queries) {
      nlohmann::json value = JsonOf(query);
      value["sentences"] =
          console::QuerySentences(explanation, query, arguments.question, {.unicode = true});
      value["job_has_ended"] = explanation.has_ended;
      value["more_to_come"] = explanation.more_to_come;
      values.push_back(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    }
    return PrintJson(std::move(values), format);
  }
  if (format == TableFormat::kDot) return PrintLines({console::WaitsGraph(explanation)});
  return PrintLines(console::RenderWaits(explanation, arguments.question, TableOptionsFor(format)));
}

int ReportWhyError(const absl::Status& status) {
  PrintError(status);
  return absl::IsDataLoss(status) ? kLogTorn : kUsage;
}

int NoSuchQuery(const WhyArguments& arguments) {
  PrintError(arguments.question.query.empty()
                 ? fmt::format("{}: no task has ended", arguments.subject)
                 : fmt::format("{}: query {} ran no tasks; omit --query to see all queries",
                               arguments.subject, arguments.question.query));
  return kUsage;
}

int ExplainLog(const WhyArguments& arguments) {
  if (arguments.question.last) {
    PrintError("--last requires a job on a master; a log is always shown in full");
    return kUsage;
  }
  const auto log = whatif::JobLog::Open(arguments.subject);
  if (!log.ok()) return ReportWhyError(log.status());
  waits::ClusterWaits waits;
  absl::Status status;
  for (;;) {
    const auto event = (*log)->Next();
    status = event.status();
    if (!event.ok() || !*event) break;
    waits.Apply(**event);
  }
  if (!status.ok() && !absl::IsDataLoss(status)) return ReportWhyError(status);
  waits.Finish();
  const std::vector<std::string> jobs = waits.jobs();
  Explanation explanation;
  if (!jobs.empty()) {
    explanation = waits.Ask(jobs.front(), arguments.question).value_or(Explanation());
  }
  for (const std::string& remark : (*log)->Remarks(0)) {
    PrintError(fmt::format("{}: {}", arguments.subject, remark));
  }
  const bool is_empty = explanation.queries.empty();
  if (is_empty && status.ok()) {
    const int none = NoSuchQuery(arguments);
    return (*log)->has_damage() ? kLogTorn : none;
  }
  const int shown = is_empty ? kSuccess : Show(explanation, arguments);
  if (shown == kSuccess && (*log)->has_damage()) return kLogTorn;
  return shown == kSuccess && !status.ok() ? ReportWhyError(status) : shown;
}

// Queries the waits of a job, or of JOB/QUERY, such as app-7/sql/3. In the latter case, splits the
// subject in `arguments`. Ids may also contain slashes.
absl::StatusOr<Explanation> Ask(const Client& master, WhyArguments& arguments) {
  absl::StatusOr<Explanation> explanation =
      master.ExplainJob(arguments.subject, arguments.question);
  if (!arguments.question.query.empty()) return explanation;
  const std::string subject = arguments.subject;
  for (std::size_t at = subject.rfind('/');
       (absl::IsNotFound(explanation.status()) || absl::IsPermissionDenied(explanation.status())) &&
       at != std::string::npos && at > 0;
       at = subject.rfind('/', at - 1)) {
    ExplainQuestion question = arguments.question;
    question.query = subject.substr(at + 1);
    explanation = master.ExplainJob(subject.substr(0, at), question);
    if (!explanation.ok()) continue;
    arguments.subject = subject.substr(0, at);
    arguments.question = question;
  }
  return explanation;
}

// Prints why the answer contains no queries.
int ReportNoQueries(const WhyArguments& arguments, Explanation explanation, const Client& master) {
  const auto job = master.GetJob(arguments.subject);
  if (job.ok() && job->info && job->info->kind == JobKind::kWorkflow) {
    PrintError(console::WorkflowHasNo("queries", *job));
    return kUsage;
  }
  if (explanation.is_partial && job.ok() && job->ended_at && *job->ended_at < explanation.since) {
    PrintError(fmt::format("{} ended before this master started; a master does not store waits",
                           arguments.subject));
    return kUsage;
  }
  const bool has_ended = job.ok() && job->is_final;
  if (has_ended && explanation.at < job->at) {
    const std::string to_come = console::WaitsToCome(arguments.subject, waits::kSilenceMax,
                                                     TableOptionsFor(arguments.format).text);
    const bool is_table = !IsJson(arguments.format) && arguments.format != TableFormat::kDot;
    if (is_table) return PrintLines({to_come});
    PrintError(to_come);  // Standard output is for programs.
    explanation.more_to_come = true;
    return Show(explanation, arguments);
  }
  if (!arguments.question.query.empty()) return NoSuchQuery(arguments);
  explanation.has_ended = has_ended;
  return Show(explanation, arguments);
}

// If --because-of names no job and no query, prints an error, unless the answer has a cause.
void CheckCause(const WhyArguments& arguments, const Explanation& explanation,
                const Client& master) {
  const std::string& cause = arguments.question.because_of;
  const bool has_slash = cause.find('/') != std::string::npos;
  // The answer about one query does not name the job's other queries.
  if (cause.empty() || (has_slash && !arguments.question.query.empty())) return;
  for (const QueryWaits& query : explanation.queries) {
    if (!query.culprits.empty() || query.query == cause) return;
  }
  for (std::size_t at = cause.size(); at != std::string::npos && at > 0;
       at = cause.rfind('/', at - 1)) {
    if (!absl::IsNotFound(master.GetJob(cause.substr(0, at)).status())) return;
  }
  NoSuchJob(cause, master);
}

int ExplainJobOfMaster(const WhyArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    WhyArguments asked = arguments;
    const auto explanation = Ask(master, asked);
    if (absl::IsNotFound(explanation.status())) return NoSuchJob(arguments.subject, master);
    if (!explanation.ok()) return explanation.status();
    if (explanation->queries.empty()) return ReportNoQueries(asked, *explanation, master);
    CheckCause(asked, *explanation, master);
    return Show(*explanation, asked);
  });
}

int Run(const WhyArguments& arguments) {
  if (!CheckWaitFilters(arguments.question)) return kUsage;
  return IsPath(arguments.subject) ? ExplainLog(arguments) : ExplainJobOfMaster(arguments);
}

const std::map<std::string, TableFormat> kWaitsFormats = {{"table", TableFormat::kTable},
                                                          {"json", TableFormat::kJson},
                                                          {"jsonl", TableFormat::kJsonl},
                                                          {"dot", TableFormat::kDot}};

}  // namespace

void AddWhy(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand(
      "why",
      "Show what a job or a logged Spark application waited for, and which jobs caused the waits");
  auto& arguments = ArgumentsOf<WhyArguments>(app, invocation, Run);
  app.add_option(
         "ID|LOG", arguments.subject,
         "Id of a job on a master, or a Spark event log (a file, or the folder of a rolling log)")
      ->required();
  NotEmpty(
      app.add_option("--query", arguments.question.query, "Show only this query: sql/3 or job/7"));
  Between(std::size_t{1}, std::size_t{100},
          app.add_option("--top", arguments.question.culprits_max,
                         "Maximum number of causes per query [3]"));
  NotEmpty(app.add_option("--because-of", arguments.question.because_of,
                          "Show only waits behind this job, or behind JOB/QUERY"));
  AddWaitFilters(app, arguments.question,
                 "Show only the last MINUTES minutes of a job on a master");
  AddChoice(app, "-o,--output,--format", kWaitsFormats, arguments.format,
            "Output format; dot is for Graphviz [table]");
  AddMaster(app, arguments.master);
  AddFooter(app,
            "With a log: 0 success, 2 the log cannot be read or does not contain the query, 4 the "
            "log is\n"
            "truncated or damaged.");
  AddFooter(app, kExitCodes);
}

}  // namespace tidemark::cli
