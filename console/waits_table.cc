#include "console/waits_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "console/duration_text.h"
#include "console/job_wording.h"
#include "console/wait_findings.h"
#include "text/did_you_mean.h"

namespace tidemark::console {
namespace {

// Smaller gains, in seconds, are not shown, since the estimate is not more precise.
constexpr double kSoonerShown = 1;
// Smallest share of a query's time that the bar labels.
constexpr double kLabelledShare = 0.2;
constexpr double kMostShare = 0.5;

bool IsAsked(const ExplainQuestion& question, WaitReason resource) {
  if (question.resource) return *question.resource == resource;
  return question.host.empty() || resource != WaitReason::kSlots;
}

// Keeps the requested reasons of a row. The row has two cells before the reasons.
void KeepAsked(const ExplainQuestion& question, Row& row) {
  constexpr std::size_t kBefore = 2;
  Row kept(row.begin(), row.begin() + kBefore);
  for (const WaitReason resource : kWaitReasons) {
    std::string& cell = row[kBefore + static_cast<std::size_t>(resource)];
    if (IsAsked(question, resource)) kept.push_back(std::move(cell));
  }
  row = std::move(kept);
}

std::string Text(const QueryWait& wait) {
  if (!wait.seconds) return "not reported";
  return fmt::format("{}{}", wait.is_least ? ">= " : "", SecondsText(*wait.seconds));
}

std::string NameOf(const Explanation& explanation, const QueryWaits& query) {
  return query.query.empty() ? explanation.job_id : query.query;
}

std::string SkewSentence(const Explanation& explanation, const QueryWaits& query) {
  const double skew = query.skew_seconds.value_or(0);
  if (!query.seconds || !IsNotable(skew, *query.seconds)) return "";
  return fmt::format(
      "{}: excluding waits, the longest tasks of its stages took {} longer than the average task",
      NameOf(explanation, query), SecondsText(skew));
}

std::string LongestTaskSentence(const Explanation& explanation, const QueryWaits& query) {
  const LongestTask* const task = FoundLongestTask(query);
  if (task == nullptr) return "";
  return fmt::format("{}: its longest task, {}, took {}", NameOf(explanation, query),
                     LongestTaskText(*task), LongestTaskTimes(*task));
}

// Returns a sentence about stages that read more than in past runs, if this cost notable time.
std::string GrowthSentence(const Explanation& explanation, const QueryWaits& query, bool unicode) {
  if (!query.data_growth) return "";
  const DataGrowth& growth = *query.data_growth;
  // Task seconds are compared with task seconds and not with the duration of the query.
  if (!IsNotable(growth.task_seconds, growth.all_task_seconds)) return "";
  return fmt::format("{}: its stages {}", NameOf(explanation, query), GrowthText(growth, unicode));
}

// Returns "Without app-7/sql/3 from now on, app would end about 40 s sooner (25-60 s)." or "Without
// app-7/sql/3, app would have ended ..." once for each cause.
std::vector<std::string> SoonerSentences(const Explanation& explanation, bool unicode) {
  std::vector<std::string> sentences;
  std::set<std::string> named;
  for (const QueryWaits& query : explanation.queries) {
    for (const ContendingQuery& cause : query.culprits) {
      if (cause.sooner_seconds.value_or(0) < kSoonerShown) continue;
      if (!cause.sooner_seconds_lower || !cause.sooner_seconds_upper) continue;
      const std::string name = CauseName(explanation.job_id, cause);
      if (!named.insert(name).second) continue;
      const absl::Duration whole = absl::Seconds(1);
      sentences.push_back(fmt::format(
          "Without {}{} about {} sooner ({}).", name,
          explanation.has_ended ? fmt::format(", {} would have ended", explanation.job_id)
                                : fmt::format(" from now on, {} would end", explanation.job_id),
          DurationText(absl::Seconds(*cause.sooner_seconds) + whole / 2),
          RangeText(absl::Floor(absl::Seconds(*cause.sooner_seconds_lower), whole),
                    absl::Ceil(absl::Seconds(*cause.sooner_seconds_upper), whole), unicode)));
    }
  }
  return sentences;
}

bool IsReported(const Explanation& explanation, WaitReason resource) {
  return std::ranges::any_of(explanation.queries, [&](const QueryWaits& query) {
    return query.waits[resource].seconds.has_value();
  });
}

// Returns why the answer lacks the requested waits, or "" if it has some of them.
std::string WhyUnreported(const Explanation& explanation, const ExplainQuestion& question) {
  const std::vector<std::string>& hosts = explanation.hosts;
  const std::string& job = explanation.job_id;
  const char* const when = question.last ? " in that time" : "";
  if (!question.host.empty() && hosts.empty()) {
    return fmt::format("No task of {} reported a host{}.", job, when);
  }
  if (!question.host.empty() && std::ranges::find(hosts, question.host) == hosts.end()) {
    const std::string meant = text::DidYouMean(question.host, hosts);
    return fmt::format("No task of {} ran on {}{}{}", job, question.host, when,
                       meant.empty() ? "; its hosts: " + text::FewNames(hosts) : meant);
  }
  if (question.resource == WaitReason::kSlots) {
    return IsReported(explanation, WaitReason::kSlots)
               ? ""
               : fmt::format(
                     "The waits of {} for slots are unknown: its number of slots is not "
                     "reported.",
                     job);
  }
  const bool has_metrics = std::ranges::any_of(kWaitReasons, [&](WaitReason resource) {
    return resource != WaitReason::kSlots && IsReported(explanation, resource);
  });
  if (has_metrics) return "";
  return fmt::format("The tasks of {} reported no waits{}.", job,
                     question.resource ? " " + std::string(InfoOf(*question.resource).phrase) : "");
}

std::string ClockText(absl::Time at) {
  return absl::FormatTime("%H:%M:%S", at, absl::LocalTimeZone());
}

// Returns the sentence for an answer that ends before its job.
std::string ToCome(const Explanation& explanation) {
  return fmt::format(
      "The waits of {} after {} are unknown until the reports of other tasks have arrived.",
      explanation.job_id, ClockText(explanation.at));
}

// Returns notes on the facts that the answer lacks.
std::vector<std::string> Missing(const Explanation& explanation) {
  std::vector<std::string> lines;
  if (explanation.more_to_come) lines.push_back(ToCome(explanation));
  if (explanation.is_partial) {
    lines.push_back(fmt::format(
        "The waits are incomplete: the master has no waits from before {}, or the job exceeded "
        "the master's limits.",
        ClockText(explanation.since)));
  }
  return lines;
}

// Returns the sentences about the whole answer.
std::vector<std::string> Remarks(const Explanation& explanation, const ExplainQuestion& question,
                                 bool has_sentence) {
  if (explanation.queries.empty()) return Missing(explanation);
  std::vector<std::string> lines;
  if (std::string unreported = WhyUnreported(explanation, question); !unreported.empty()) {
    lines.push_back(std::move(unreported));
  }
  if (!has_sentence && IsReported(explanation, WaitReason::kSlots)) {
    lines.emplace_back("No waits of one query for another were found.");
  }
  if (explanation.queries_left_out > 0) {
    lines.push_back(fmt::format("{} older queries are omitted.", explanation.queries_left_out));
  }
  for (std::string& missing : Missing(explanation)) lines.push_back(std::move(missing));
  return lines;
}

std::string NothingKnown(const std::string& job, bool has_ended, const ExplainQuestion& question) {
  if (question.last) return fmt::format("{} sent no reports in that time", job);
  if (has_ended) return fmt::format("the waits of {} are unknown", job);
  return fmt::format("{} has sent no reports yet; retry in 5 s", job);
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : Printable(text, /*unicode=*/true)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::vector<std::string> QuerySentences(const Explanation& explanation, const QueryWaits& query,
                                        const ExplainQuestion& question,
                                        const TextOptions& options) {
  std::vector<std::string> sentences;
  const bool is_of_one_cause = !question.because_of.empty();
  for (WaitFinding& finding :
       WaitFindings(explanation, query, question.culprits_max, options.unicode)) {
    if (is_of_one_cause && !finding.blames_jobs) continue;
    sentences.push_back(std::move(finding.sentence));
  }
  if (is_of_one_cause && sentences.empty()) {
    const bool has_wait = std::ranges::any_of(
        query.culprits, [](const ContendingQuery& cause) { return cause.seconds > 0; });
    const std::string name = NameOf(explanation, query);
    sentences.push_back(
        has_wait ? fmt::format("{}: waited less than {} s behind {}", name, kSecondsShown,
                               question.because_of)
                 : fmt::format("{}: no waits behind {} were found", name, question.because_of));
  }
  if (is_of_one_cause) return sentences;
  sentences.push_back(SkewSentence(explanation, query));
  sentences.push_back(LongestTaskSentence(explanation, query));
  sentences.push_back(GrowthSentence(explanation, query, options.unicode));
  std::erase(sentences, "");
  return sentences;
}

std::vector<std::string> WaitHeadings() {
  constexpr std::size_t kAbbreviationMax = 3;
  std::vector<std::string> headings;
  for (const WaitReason reason : kWaitReasons) {
    std::string heading(InfoOf(reason).name);
    if (heading.size() <= kAbbreviationMax) {
      absl::AsciiStrToUpper(&heading);
    } else {
      heading[0] = absl::ascii_toupper(static_cast<unsigned char>(heading[0]));
    }
    headings.push_back(std::move(heading));
  }
  return headings;
}

WaitsWords DescribeWaits(const Explanation& explanation, const ExplainQuestion& question,
                         const TextOptions& options) {
  WaitsWords words;
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) words.sentences.push_back(Printable(sentence, options.unicode));
  };
  for (const QueryWaits& query : explanation.queries) {
    Row row = {Printable(NameOf(explanation, query), options.unicode),
               query.seconds ? SecondsText(*query.seconds) : "not reported"};
    for (const WaitReason resource : kWaitReasons) {
      row.push_back(IsAsked(question, resource) ? Text(query.waits[resource]) : "not requested");
    }
    words.rows.push_back(std::move(row));
    for (const std::string& sentence : QuerySentences(explanation, query, question, options)) {
      add(sentence);
    }
  }
  const bool has_sentence = !words.sentences.empty();
  for (const std::string& sentence : SoonerSentences(explanation, options.unicode)) add(sentence);
  for (const std::string& remark : Remarks(explanation, question, has_sentence)) add(remark);
  return words;
}

std::vector<std::string> RenderWaits(const Explanation& explanation,
                                     const ExplainQuestion& question, const TableOptions& options) {
  WaitsWords words = DescribeWaits(explanation, question, options.text);
  std::vector<std::string> lines;
  if (explanation.queries.empty()) {
    const std::string job = Printable(explanation.job_id, options.text.unicode);
    if (!explanation.more_to_come) {
      lines.push_back(NothingKnown(job, explanation.has_ended, question));
    }
  } else {
    Row headings = {"QUERY", "LASTED"};
    for (const WaitReason reason : kWaitReasons) {
      headings.push_back(absl::AsciiStrToUpper(std::string(InfoOf(reason).name)));
    }
    words.rows.insert(words.rows.begin(), std::move(headings));
    for (Row& row : words.rows) KeepAsked(question, row);
    lines = RenderTable(words.rows, options);
    lines.emplace_back();
  }
  lines.insert(lines.end(), words.sentences.begin(), words.sentences.end());
  return lines;
}

std::string WaitsToCome(const std::string& job_id, absl::Duration within,
                        const TextOptions& options) {
  return fmt::format(
      "{} has ended; its waits will be known when the reports of other tasks have arrived, at most "
      "about {} after its end",
      Printable(job_id, options.unicode), DurationText(within));
}

std::string WorkflowHasNo(const std::string& parts, const Snapshot& workflow) {
  std::vector<std::string> started;
  for (const Child& child : workflow.children) {
    if (!child.job_id.empty() && child.started_at) started.push_back(child.job_id);
  }
  return fmt::format("{} is a workflow and has no {}; pass one of its jobs{}", workflow.job_id,
                     parts,
                     started.empty() ? " once it has started" : ": " + text::FewNames(started));
}

std::vector<DecisiveJob> DecisiveJobs(const Snapshot& workflow) {
  const auto end_of = [](const Child& child) {
    return child.ended_at.value_or(absl::InfiniteFuture());
  };
  const auto ends_later = [&](const Child& a, const Child& b) {
    return std::tuple(end_of(a), a.is_critical, *b.started_at) >
           std::tuple(end_of(b), b.is_critical, *a.started_at);
  };
  const Child* next = nullptr;
  for (const Child& child : workflow.children) {
    if (child.started_at && (next == nullptr || ends_later(child, *next))) next = &child;
  }
  std::vector<DecisiveJob> jobs;
  // The bound ends the loop even if a damaged snapshot has a cycle.
  while (next != nullptr && jobs.size() < workflow.children.size()) {
    const Child& child = *next;
    DecisiveJob& job = jobs.emplace_back();
    job.job = &child;
    job.lasted =
        std::max(child.ended_at.value_or(workflow.at) - *child.started_at, absl::ZeroDuration());
    next = nullptr;
    for (const std::uint32_t number : child.after) {
      if (number == 0 || number > workflow.children.size()) continue;
      const Child& before = workflow.children[number - 1];
      if (!before.started_at || !before.ended_at) continue;
      if (next == nullptr || *before.ended_at > *next->ended_at) next = &before;
    }
    if (next != nullptr) {
      job.pause = std::max(*child.started_at - *next->ended_at, absl::ZeroDuration());
    }
  }
  std::ranges::reverse(jobs);
  const auto lasted = [&](const StageProgress& stage) {
    return stage.ended_at.value_or(workflow.at) - *stage.started_at;
  };
  std::map<std::uint32_t, const StageProgress*> longest;  // stages by child
  for (const StageProgress& stage : workflow.stages) {
    if (!stage.started_at) continue;
    const StageProgress*& of_child = longest[stage.id.child];
    if (of_child == nullptr || lasted(stage) > lasted(*of_child)) of_child = &stage;
  }
  for (DecisiveJob& job : jobs) {
    const auto stage = longest.find(job.job->number);
    if (stage == longest.end()) continue;
    job.stage = StageName(workflow, stage->second->id, {.unicode = true});
    job.stage_lasted = lasted(*stage->second);
  }
  return jobs;
}

std::vector<std::string> RenderDecisiveJobs(const Snapshot& workflow,
                                            const std::vector<DecisiveJob>& jobs,
                                            const std::vector<std::vector<std::string>>& sentences,
                                            const TableOptions& options) {
  std::vector<Row> rows = {{"JOB", "ID", "PAUSE BEFORE", "LASTED", "LONGEST STAGE"}};
  absl::Duration pauses;
  absl::Duration whole;
  for (const DecisiveJob& job : jobs) {
    pauses += job.pause;
    whole += job.pause + job.lasted;
    rows.push_back({Printable(job.job->name, options.text.unicode),
                    Printable(job.job->job_id, options.text.unicode), DurationText(job.pause),
                    DurationText(job.lasted),
                    job.stage.empty() ? "unknown"
                                      : Printable(fmt::format("{}, {}", job.stage,
                                                              DurationText(job.stage_lasted)),
                                                  options.text.unicode)});
  }
  std::vector<std::string> lines = RenderTable(rows, options);
  lines.emplace_back();
  lines.push_back(workflow.is_final ? "These jobs determined the duration of the workflow."
                                    : "These jobs determined the duration of the workflow so far.");
  if (pauses >= absl::Seconds(1)) {
    lines.back() +=
        fmt::format(" {} of {} passed between them.", DurationText(pauses), DurationText(whole));
  }
  for (const std::vector<std::string>& of_job : sentences) {
    for (const std::string& sentence : of_job) {
      lines.push_back(Printable(sentence, options.text.unicode));
    }
  }
  return lines;
}

std::string WorstWait(const Explanation& explanation, const TextOptions& options) {
  const ContendingQuery* worst = nullptr;
  const QueryWaits* of = nullptr;
  for (const QueryWaits& query : explanation.queries) {
    if (query.culprits.empty() || !query.seconds) continue;
    const ContendingQuery& cause = query.culprits.front();
    if (cause.seconds <= kLabelledShare * *query.seconds) continue;
    if (worst != nullptr && !(cause.seconds > worst->seconds)) continue;
    worst = &cause;
    of = &query;
  }
  if (worst == nullptr) return "";
  const std::string where = worst->host.empty() ? "" : " on " + worst->host;
  const double all = std::max(of->waits[worst->resource].seconds.value_or(0), worst->seconds);
  return Printable(fmt::format("waits {}{}, {} behind {}", InfoOf(worst->resource).phrase, where,
                               worst->seconds > kMostShare * all ? "mostly" : "partly",
                               CauseName(explanation.job_id, *worst)),
                   options.unicode);
}

std::string WaitsGraph(const Explanation& explanation) {
  std::string graph = fmt::format("digraph {} {{\n  rankdir=LR;\n", Quoted(explanation.job_id));
  if (explanation.more_to_come) graph += fmt::format("  label={};\n", Quoted(ToCome(explanation)));
  for (const QueryWaits& query : explanation.queries) {
    const std::string target = Quoted(NameOf(explanation, query));
    graph += fmt::format("  {};\n", target);
    for (const FoundWait& wait : FoundWaits(query, query.culprits.size())) {
      if (wait.cause == nullptr) continue;
      const std::string where = wait.cause->host.empty() ? "" : ", " + wait.cause->host;
      const std::string label = fmt::format("{}{}: {}{}", InfoOf(wait.resource).name, where,
                                            AtLeast(wait.is_least), SecondsText(wait.seconds));
      graph +=
          fmt::format("  {} -> {} [label={}];\n",
                      Quoted(CauseName(explanation.job_id, *wait.cause)), target, Quoted(label));
    }
  }
  return graph + "}";
}

}  // namespace tidemark::console
