#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "console/contention_table.h"
#include "console/waits_table.h"
#include "master/waits/cluster_contention.h"
#include "master/waits/cluster_waits.h"
#include "tidemark/contention.h"
#include "whatif/spark_run.h"

namespace tidemark::cli {
namespace {

struct ContentionArguments {
  std::string subject;  // a Spark event log, a job or one of its queries; empty for all jobs
  ContentionQuestion question;
  MasterArguments master;
  TableFormat format = TableFormat::kTable;
};

nlohmann::json JsonOf(const ContentionParty& party) {
  nlohmann::json json = nlohmann::json::object();
  if (!party.job_id.empty()) json["job_id"] = party.job_id;
  if (!party.query.empty()) json["query"] = party.query;
  if (party.stage) json["stage"] = *party.stage;
  if (party.job_id.empty() && party.jobs > 0) json["other_jobs"] = party.jobs;
  if (party.job_id.empty() && party.jobs == 0) json["unreported"] = true;
  return json;
}

void AddAmount(const std::string& name, const std::optional<LimitedAmount>& amount,
               nlohmann::json& json) {
  if (!amount) return;
  json[name] = amount->value;
  json[name + "_lower"] = amount->lower;
  json[name + "_upper"] = amount->upper;
}

nlohmann::json JsonOf(const ContentionRow& row) {
  nlohmann::json json = {{"responsibility", row.responsibility}, {"queries", row.queries}};
  if (row.delayed) json["delayed"] = JsonOf(*row.delayed);
  if (row.cause) json["cause"] = JsonOf(*row.cause);
  if (row.resource) json["resource"] = std::string(InfoOf(*row.resource).name);
  if (!row.host.empty()) json["host"] = row.host;
  AddAmount("seconds", row.seconds, json);
  AddAmount("share", row.share, json);
  if (row.impact > 0) json["impact"] = row.impact;
  return json;
}

int ShowContention(const ClusterContention& contention, const ContentionArguments& arguments) {
  const console::TableOptions options = TableOptionsFor(arguments.format);
  if (!IsJson(arguments.format)) {
    return PrintLines(console::RenderContention(contention, options));
  }
  std::vector<std::string> values;
  for (const ContentionList& list : contention.lists) {
    nlohmann::json json = {{"list", console::ContentionName(list.kind)},
                           {"left_out", list.left_out},
                           {"is_partial", contention.is_partial}};
    json["rows"] = nlohmann::json::array();
    for (const ContentionRow& row : list.rows) json["rows"].push_back(JsonOf(row));
    values.push_back(JsonText(json));
  }
  return PrintJson(std::move(values), arguments.format);
}

int ShowContentionOfLog(const ContentionArguments& arguments) {
  if (arguments.question.last) {
    PrintError("--last requires a master; a log is always shown in full");
    return kUsage;
  }
  const auto log = whatif::JobLog::Open(arguments.subject);
  absl::Status status = log.status();
  waits::ClusterWaits waits;
  while (status.ok()) {
    const auto event = (*log)->Next();
    status = event.status();
    if (!event.ok() || !*event) break;
    waits.Apply(**event);
  }
  bool is_torn = absl::IsDataLoss(status);
  if (log.ok() && (status.ok() || is_torn)) {
    for (const std::string& remark : (*log)->Remarks(0)) PrintError(remark);
    is_torn |= (*log)->has_damage();
  }
  if (!status.ok()) PrintError(status);
  if (!status.ok() && (!is_torn || waits.jobs().empty())) return is_torn ? kLogTorn : kUsage;
  waits.Finish();
  waits::ContentionSums sums(arguments.question, [](const std::string&) { return true; });
  for (const std::string& job_id : waits.jobs()) waits.AddContention(job_id, sums);
  if (const absl::Status ok = sums.Check(); !ok.ok()) {
    PrintError(ok);
    return kUsage;
  }
  const int shown = ShowContention(std::move(sums).Finish(), arguments);
  return shown == kSuccess && is_torn ? kLogTorn : shown;
}

// Queries a job, or JOB/QUERY. Ids may also contain slashes, and the token may cover only the job.
// Returns the first error if no part of the subject is a known job.
absl::StatusOr<int> ShowContentionAtMaster(const ContentionArguments& arguments,
                                           const Client& master) {
  const std::string& subject = arguments.subject;
  ContentionQuestion question = arguments.question;
  question.job_id = subject;
  absl::StatusOr<ClusterContention> contention = master.ExplainCluster(question);
  const absl::Status first = contention.status();
  absl::StatusOr<Snapshot> job = absl::NotFoundError("");
  if (!first.ok() && !subject.empty()) job = master.GetJob(subject);
  const auto may_be_query = [&] {
    const absl::Status& status = contention.status();
    return !job.ok() && (absl::IsNotFound(status) || absl::IsPermissionDenied(status));
  };
  for (std::size_t at = subject.rfind('/'); may_be_query() && at != std::string::npos && at > 0;
       at = subject.rfind('/', at - 1)) {
    question.job_id = subject.substr(0, at);
    question.query = subject.substr(at + 1);
    contention = master.ExplainCluster(question);
    if (!contention.ok()) job = master.GetJob(question.job_id);
  }
  if (contention.ok()) return ShowContention(*contention, arguments);
  if (job.ok() && job->info && job->info->kind == JobKind::kWorkflow) {
    PrintError(console::WorkflowHasNo("queries", *job));
    return kUsage;
  }
  // The job has no such query, or no job has such a host.
  if (absl::IsNotFound(contention.status()) && (job.ok() || subject.empty())) {
    PrintError(DescribeMasterError(master.address(), contention.status()));
    return kUsage;
  }
  if (absl::IsNotFound(first)) return NoSuchFileOrJob(subject, master);
  return job.ok() ? contention.status() : first;
}

int RunContention(const ContentionArguments& arguments) {
  if (!CheckWaitFilters(arguments.question)) return kUsage;
  if (IsPath(arguments.subject)) return ShowContentionOfLog(arguments);
  return AtMaster(arguments.master, arguments.subject,
                  [&](const Client& master) { return ShowContentionAtMaster(arguments, master); });
}

}  // namespace

void AddContention(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand(
      "contention",
      "Show which jobs delay others, which are delayed, and on which resources and hosts");
  auto& arguments = ArgumentsOf<ContentionArguments>(app, invocation, RunContention);
  app.add_option("ID|LOG", arguments.subject,
                 "Show only the delays of this job, of JOB/QUERY, or in a Spark event log");
  AddWaitFilters(app, arguments.question, "Show only the last MINUTES minutes");
  Between(
      std::size_t{1}, std::size_t{100},
      app.add_option("--top", arguments.question.rows_max, "Maximum number of rows per table [5]"));
  AddFormat(app, arguments.format, "-o,--output,--format");
  AddMaster(app, arguments.master);
  AddFooter(app, "-o wide also shows the stages between each delay and its cause.");
  AddFooter(
      app,
      "With a log: 0 success, 2 the log cannot be read or does not contain the host, 4 the log\n"
      "is truncated or damaged.");
  AddFooter(app, kExitCodes);
}

}  // namespace tidemark::cli
