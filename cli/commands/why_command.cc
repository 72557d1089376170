#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "cli/at_master.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/table_output.h"
#include "console/waits_table.h"
#include "master/waits/cluster_waits.h"
#include "whatif/job_log.h"

namespace tidemark::cli {
namespace {

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
  for (const WaitedResource resource : kWaitedResources) {
    const QueryWait& wait = query.waits[resource];
    if (!wait.seconds) continue;
    nlohmann::json& told = json["waits"][std::string(console::ResourceName(resource))];
    told["seconds"] = *wait.seconds;
    told["is_least"] = wait.is_least;
  }
  json["because_of"] = nlohmann::json::array();
  for (const Culprit& culprit : query.culprits) {
    nlohmann::json cause = {{"resource", std::string(console::ResourceName(culprit.resource))},
                            {"seconds", culprit.seconds}};
    if (culprit.seconds_lower) cause["seconds_lower"] = *culprit.seconds_lower;
    if (culprit.seconds_upper) cause["seconds_upper"] = *culprit.seconds_upper;
    if (culprit.sooner_seconds) cause["sooner_seconds"] = *culprit.sooner_seconds;
    if (culprit.sooner_seconds_lower) cause["sooner_seconds_lower"] = *culprit.sooner_seconds_lower;
    if (culprit.sooner_seconds_upper) cause["sooner_seconds_upper"] = *culprit.sooner_seconds_upper;
    if (!culprit.job_id.empty()) cause["job_id"] = culprit.job_id;
    if (!culprit.query.empty()) cause["query"] = culprit.query;
    if (culprit.job_id.empty() && culprit.jobs > 0) cause["other_jobs"] = culprit.jobs;
    cause["unreported"] = culprit.job_id.empty() && culprit.jobs == 0;
    if (!culprit.host.empty()) cause["host"] = culprit.host;
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
  Complain(std::string(status.message()));
  return absl::IsDataLoss(status) ? kLogTorn : kUsage;
}

int NoSuchQuery(const WhyArguments& arguments) {
  Complain(arguments.question.query.empty()
               ? fmt::format("{}: no task has ended; there is nothing to say", arguments.subject)
               : fmt::format("{}: no query {} ran tasks; without --query all that did are shown",
                             arguments.subject, arguments.question.query));
  return kUsage;
}

int OfLog(const WhyArguments& arguments) {
  if (arguments.question.last) {
    Complain("--last is for a job of a master; of a log all is shown");
    return kUsage;
  }
  const auto log = JobLog::Open(arguments.subject);
  if (!log.ok()) return ReportWhyError(log.status());
  blame::ClusterWaits waits;
  absl::Status trouble;
  for (;;) {
    const auto event = (*log)->Next();
    trouble = event.status();
    if (!event.ok() || !*event) break;
    waits.Apply(**event);
  }
  if (!trouble.ok() && !absl::IsDataLoss(trouble)) return ReportWhyError(trouble);
  waits.Finish();
  const std::vector<std::string> jobs = waits.jobs();
  Explanation explanation;
  if (!jobs.empty()) {
    explanation = waits.Ask(jobs.front(), arguments.question).value_or(Explanation());
  }
  if (explanation.queries.empty() && trouble.ok()) return NoSuchQuery(arguments);
  for (const std::string& remark : (*log)->Remarks(0)) {
    Complain(fmt::format("{}: {}", arguments.subject, remark));
  }
  const int shown = explanation.queries.empty() ? kSuccess : Show(explanation, arguments);
  return shown == kSuccess && !trouble.ok() ? ReportWhyError(trouble) : shown;
}

// Of a job, or of JOB/QUERY, such as app-7/sql/3, which `arguments` then say apart; ids of jobs may
// have slashes, too.
absl::StatusOr<Explanation> Ask(const Client& master, WhyArguments& arguments) {
  absl::StatusOr<Explanation> explanation =
      master.ExplainJob(arguments.subject, arguments.question);
  if (!arguments.question.query.empty()) return explanation;
  const std::string subject = arguments.subject;
  for (std::size_t at = subject.rfind('/');
       absl::IsNotFound(explanation.status()) && at != std::string::npos && at > 0;
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

// The answer has no queries.
int NothingSeen(const WhyArguments& arguments, Explanation explanation, const Client& master) {
  const auto job = master.GetJob(arguments.subject);
  if (job.ok() && job->info && job->info->kind == JobKind::kWorkflow) {
    Complain(console::NoQueriesOfWorkflow(*job));
    return kUsage;
  }
  if (explanation.is_partial && job.ok() && job->ended_at && *job->ended_at < explanation.since) {
    Complain(fmt::format(
        "{} ended before this master saw anything of it; what jobs waited for is not kept over a "
        "restart",
        arguments.subject));
    return kUsage;
  }
  const bool has_ended = job.ok() && job->is_final;
  if (has_ended && explanation.at < job->at) {
    const std::string to_come = console::WaitsToCome(arguments.subject, blame::kSilenceMax,
                                                     TableOptionsFor(arguments.format).text);
    const bool is_table = !IsJson(arguments.format) && arguments.format != TableFormat::kDot;
    if (is_table) return PrintLines({to_come});
    Complain(to_come);  // standard output is for programs
    explanation.more_to_come = true;
    return Show(explanation, arguments);
  }
  if (!arguments.question.query.empty()) return NoSuchQuery(arguments);
  explanation.has_ended = has_ended;
  return Show(explanation, arguments);
}

int OfJob(const WhyArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    WhyArguments asked = arguments;
    const auto explanation = Ask(master, asked);
    if (absl::IsNotFound(explanation.status())) return NoSuchJob(arguments.subject, master);
    if (!explanation.ok()) return explanation.status();
    if (explanation->queries.empty()) return NothingSeen(asked, *explanation, master);
    return Show(*explanation, asked);
  });
}

}  // namespace

int Do(const WhyArguments& arguments) {
  if (arguments.question.resource == WaitedResource::kScheduler &&
      !arguments.question.host.empty()) {
    Complain("--host: slots are of no host; leave it out, or ask about another --resource");
    return kUsage;
  }
  std::error_code ignored;
  const bool is_log = std::filesystem::exists(arguments.subject, ignored) ||
                      arguments.subject.starts_with('/') || arguments.subject.starts_with('.');
  return is_log ? OfLog(arguments) : OfJob(arguments);
}

}  // namespace tidemark::cli
