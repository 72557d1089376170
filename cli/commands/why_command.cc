#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "console/job_summary.h"
#include "console/text.h"
#include "console/waits_table.h"
#include "master/waits/cluster_waits.h"
#include "text/counted.h"
#include "text/did_you_mean.h"
#include "text/duration_text.h"
#include "whatif/spark_run.h"

namespace tidemark::cli {
namespace {

struct WhyArguments {
  std::string subject;  // a log, or the id of a job
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
      values.push_back(JsonText(value));
    }
    return PrintJson(std::move(values), format);
  }
  if (format == TableFormat::kDot) return PrintLines({console::WaitsGraph(explanation)});
  return PrintLines(console::RenderWaits(explanation, arguments.question, TableOptionsFor(format)));
}

// Counts the attempts of a log: failed attempts, with their time, and attempts that ran at once.
class LoggedAttempts {
 public:
  void Observe(const Event& event) {
    if (const auto* const opened = std::get_if<JobOpened>(&event.body)) {
      is_mapreduce_ = is_mapreduce_ || std::ranges::any_of(opened->stages, [](const auto& stage) {
                        return stage.kind == StageKind::kMap;
                      });
      opened_ = std::min(opened_, event.sent_at);
    }
    last_ = event.sent_at;
    const auto* const changed = std::get_if<AttemptChanged>(&event.body);
    if (changed == nullptr || changed->state == AttemptState::kQueued) return;
    const AttemptId& id = changed->attempt;
    const std::tuple key(id.stage, id.stage_attempt, id.index, id.attempt);
    const absl::Time at = changed->at.value_or(event.sent_at);
    Starts& starts = starts_[id.stage];
    if (changed->state == AttemptState::kStarted && started_.try_emplace(key, at).second) {
      starts.most_running = std::max(starts.most_running, ++starts.running);
      if (starts.tasks.empty()) starts.first = at;
      starts.tasks.insert(id.index);
      first_ = std::min(first_, at);
      starts.last = at;
    }
    if (changed->state < AttemptState::kFinished) return;
    const auto started = started_.find(key);
    if (started == started_.end()) return;
    --starts.running;
    if (changed->state == AttemptState::kFailed) {
      ++count_;
      time_ += std::max(at - started->second, absl::ZeroDuration());
      // Further lines are a stack trace.
      const std::string& failure = changed->failure;
      if (!failure.empty()) last_failure_ = failure.substr(0, failure.find('\n'));
    }
    started_.erase(started);
  }
  // Returns a sentence about the time before the first task of a MapReduce job, one for each of its
  // stages that ran in waves, and one for failed attempts.
  std::vector<std::string> Sentences(const console::TextOptions& options) const {
    std::vector<std::string> sentences;
    if (is_mapreduce_ && first_ < absl::InfiniteFuture()) {
      const std::string before = console::BeforeFirstTaskText(first_ - opened_, last_ - opened_);
      if (!before.empty()) {
        sentences.push_back(before + "; the column SLOTS counts only waits behind other queries");
      }
    }
    for (const auto& [stage, starts] : starts_) {
      const std::size_t tasks = starts.tasks.size();
      if (!is_mapreduce_ || tasks <= starts.most_running) continue;
      sentences.push_back(
          fmt::format("{}: {}, at most {} at once; the last started {} after the first",
                      stage == kMapStage ? "map" : "reduce", text::Counted(tasks, "task"),
                      starts.most_running, text::ElapsedText(starts.last - starts.first)));
    }
    if (count_ == 0) return sentences;
    std::string failures = fmt::format("{} failed after {} in total",
                                       text::Counted(count_, "attempt"), text::ElapsedText(time_));
    if (!last_failure_.empty()) {
      failures +=
          fmt::format("; last failure: {}", console::Printable(last_failure_, options.unicode));
    }
    sentences.push_back(std::move(failures));
    return sentences;
  }

 private:
  // Attempts of one stage.
  struct Starts {
    std::set<std::uint32_t> tasks;
    std::uint64_t running = 0;
    std::uint64_t most_running = 0;
    absl::Time first;
    absl::Time last;
  };
  bool is_mapreduce_ = false;
  absl::Time opened_ = absl::InfiniteFuture();
  absl::Time first_ = absl::InfiniteFuture();  // start of the first task
  absl::Time last_;                            // time of the last event
  std::map<std::uint32_t, Starts> starts_;     // by stage
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, absl::Time>
      started_;  // running attempts
  std::uint64_t count_ = 0;
  absl::Duration time_;
  std::string last_failure_;
};

// Prints why the answer has no query. `all` is the answer about all queries.
int NoSuchQuery(const WhyArguments& arguments, const absl::StatusOr<Explanation>& all) {
  std::vector<std::string> queries;
  if (all.ok()) {
    for (const QueryWaits& query : all->queries) queries.push_back(query.query);
  }
  PrintError(
      arguments.question.query.empty() ? fmt::format("{}: no task has ended", arguments.subject)
      : queries.empty()
          ? fmt::format("{}: query {} ran no tasks; omit --query to see all queries",
                        arguments.subject, arguments.question.query)
          : fmt::format("{}: query {} ran no tasks; queries with tasks: {}", arguments.subject,
                        arguments.question.query, text::FewNames(queries)));
  return kUsage;
}

int ExplainLog(const WhyArguments& arguments) {
  if (arguments.question.last) {
    PrintError("--last requires a job on a master; a log is always shown in full");
    return kUsage;
  }
  const auto log = whatif::JobLog::Open(arguments.subject);
  if (!log.ok()) return ReportInputError(log.status());
  waits::ClusterWaits waits;
  LoggedAttempts attempts;
  absl::Status status;
  for (;;) {
    const auto event = (*log)->Next();
    status = event.status();
    if (!event.ok() || !*event) break;
    waits.Apply(**event);
    attempts.Observe(**event);
  }
  if (!status.ok() && !absl::IsDataLoss(status)) return ReportInputError(status);
  waits.Finish();
  const std::vector<std::string> jobs = waits.jobs();
  Explanation explanation;
  if (!jobs.empty()) {
    explanation = waits.Ask(jobs.front(), arguments.question).value_or(Explanation());
  }
  for (const std::string& remark : (*log)->Remarks(0)) PrintError(remark);
  const bool is_empty = explanation.queries.empty();
  if (is_empty && status.ok()) {
    const int none =
        NoSuchQuery(arguments, jobs.empty() ? Explanation()
                                            : waits.Ask(jobs.front(), {}).value_or(Explanation()));
    return (*log)->has_damage() ? kLogTorn : none;
  }
  int shown = is_empty ? kSuccess : Show(explanation, arguments);
  const auto options = TableOptionsFor(arguments.format);
  const std::vector<std::string> sentences = attempts.Sentences(options.text);
  // The sentences count the attempts of the whole log.
  const bool is_whole = arguments.question.query.empty() && arguments.question.because_of.empty();
  const bool is_table = !IsJson(arguments.format) && arguments.format != TableFormat::kDot;
  if (shown == kSuccess && is_table && is_whole && !sentences.empty())
    shown = PrintLines(sentences);
  if (shown == kSuccess && (*log)->has_damage()) return kLogTorn;
  return shown == kSuccess && !status.ok() ? ReportInputError(status) : shown;
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

// Shows the jobs that determined the duration of a workflow, and the waits of each.
int ExplainWorkflow(const WhyArguments& arguments, const Snapshot& workflow, const Client& master) {
  const std::vector<console::DecisiveJob> jobs = console::DecisiveJobs(workflow);
  if (jobs.empty() || arguments.format == TableFormat::kDot || !arguments.question.query.empty()) {
    PrintError(console::WorkflowHasNo("queries", workflow));
    return kUsage;
  }
  std::vector<std::vector<std::string>> sentences;
  for (const console::DecisiveJob& job : jobs) {
    std::vector<std::string>& of_job = sentences.emplace_back();
    const auto explanation = master.ExplainJob(job.job->job_id, arguments.question);
    // If this fails, the master has removed the job, or the user may not read it.
    if (!explanation.ok()) continue;
    for (const QueryWaits& query : explanation->queries) {
      for (std::string& sentence : console::QuerySentences(
               *explanation, query, arguments.question, TableOptionsFor(arguments.format).text)) {
        of_job.push_back(std::move(sentence));
      }
    }
  }
  if (!IsJson(arguments.format)) {
    return PrintLines(
        console::RenderDecisiveJobs(workflow, jobs, sentences, TableOptionsFor(arguments.format)));
  }
  std::vector<std::string> values;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    nlohmann::json value = {{"job", jobs[i].job->name},
                            {"job_id", jobs[i].job->job_id},
                            {"pause_seconds", absl::ToDoubleSeconds(jobs[i].pause)},
                            {"seconds", absl::ToDoubleSeconds(jobs[i].lasted)},
                            {"sentences", sentences[i]}};
    if (!jobs[i].stage.empty()) {
      value["longest_stage"] = {{"name", jobs[i].stage},
                                {"seconds", absl::ToDoubleSeconds(jobs[i].stage_lasted)}};
    }
    values.push_back(JsonText(value));
  }
  return PrintJson(std::move(values), arguments.format);
}

// Prints why the answer contains no queries.
int ReportNoQueries(const WhyArguments& arguments, Explanation explanation, const Client& master) {
  const auto job = master.GetJob(arguments.subject);
  if (job.ok() && job->info && job->info->kind == JobKind::kWorkflow) {
    return ExplainWorkflow(arguments, *job, master);
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
  if (!arguments.question.query.empty()) {
    return NoSuchQuery(arguments, master.ExplainJob(arguments.subject));
  }
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
  const std::string& subject = arguments.subject;
  return AtMaster(arguments.master, subject, [&](const Client& master) -> absl::StatusOr<int> {
    WhyArguments asked = arguments;
    const auto explanation = Ask(master, asked);
    if (absl::IsNotFound(explanation.status())) return NoSuchFileOrJob(subject, master);
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
      "Show what a job, a workflow or a logged run waited for, and which jobs caused the waits");
  auto& arguments = ArgumentsOf<WhyArguments>(app, invocation, Run);
  app.add_option("ID|LOG", arguments.subject,
                 "Id of a job or workflow on a master, a Spark event log (a file, or the folder of "
                 "a rolling log), or a history file of a MapReduce job (.jhist)")
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
