#include "console/waits_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "console/duration_text.h"
#include "console/text.h"
#include "console/wait_findings.h"
#include "text/did_you_mean.h"

namespace tidemark::console {
namespace {

// In seconds of an estimate, which is no more exact than whole seconds: smaller gains are not
// shown.
constexpr double kSoonerShown = 1;
// The smallest share of a query's time that the bar labels.
constexpr double kWorthTelling = 0.2;
constexpr double kMost = 0.5;

bool IsAsked(const ExplainQuestion& question, WaitedResource resource) {
  if (question.resource) return *question.resource == resource;
  return question.host.empty() || resource != WaitedResource::kScheduler;
}

// Of a row with a cell for each resource behind two others.
void KeepAsked(const ExplainQuestion& question, Row& row) {
  constexpr std::size_t kBefore = 2;
  Row kept(row.begin(), row.begin() + kBefore);
  for (const WaitedResource resource : kWaitedResources) {
    std::string& cell = row[kBefore + static_cast<std::size_t>(resource)];
    if (IsAsked(question, resource)) kept.push_back(std::move(cell));
  }
  row = std::move(kept);
}

std::string Text(const QueryWait& wait) {
  if (!wait.seconds) return "not told";
  return fmt::format("{}{}", wait.is_least ? ">= " : "", SecondsText(*wait.seconds));
}

std::string NameOf(const Explanation& explanation, const QueryWaits& query) {
  return query.query.empty() ? explanation.job_id : query.query;
}

std::string SkewSentence(const Explanation& explanation, const QueryWaits& query) {
  const double skew = query.skew_seconds.value_or(0);
  if (!query.seconds || !IsWorthTelling(skew, *query.seconds)) return "";
  return fmt::format(
      "{}: the longest tasks of its stages took {} more than the mean ones, apart from what they "
      "waited",
      NameOf(explanation, query), SecondsText(skew));
}

std::string LongestTaskSentence(const Explanation& explanation, const QueryWaits& query) {
  const LongestTask* const task = FoundLongestTask(query);
  if (task == nullptr) return "";
  return fmt::format("{}: its longest task was {}: {}", NameOf(explanation, query),
                     LongestTaskText(*task), LongestTaskTimes(*task));
}

// "sql/3: stages of it read 20.0 GB, in earlier runs 10.0 GB: that took their tasks about 40 s
// (30-48 s) more, summed over tasks"; of other stages nothing is said.
std::string GrowthSentence(const Explanation& explanation, const QueryWaits& query, bool unicode) {
  if (!query.data_growth) return "";
  const DataGrowth& growth = *query.data_growth;
  // Seconds of tasks are compared with such, not with those for which the query lasted.
  if (!IsWorthTelling(growth.task_seconds, growth.all_task_seconds)) return "";
  return fmt::format("{}: {}", NameOf(explanation, query), GrowthText(growth, unicode));
}

// "Without app-7/sql/3 from now on, app would end about 40 s sooner (25-60 s).", or "Without
// app-7/sql/3, app would have ended ..."; of each culprit once.
std::vector<std::string> SoonerSentences(const Explanation& explanation, bool unicode) {
  std::vector<std::string> sentences;
  std::set<std::string> named;
  for (const QueryWaits& query : explanation.queries) {
    for (const Culprit& culprit : query.culprits) {
      if (culprit.sooner_seconds.value_or(0) < kSoonerShown) continue;
      if (!culprit.sooner_seconds_lower || !culprit.sooner_seconds_upper) continue;
      const std::string name = CulpritName(explanation.job_id, culprit);
      if (!named.insert(name).second) continue;
      const absl::Duration whole = absl::Seconds(1);
      sentences.push_back(fmt::format(
          "Without {}{} about {} sooner ({}).", name,
          explanation.has_ended ? fmt::format(", {} would have ended", explanation.job_id)
                                : fmt::format(" from now on, {} would end", explanation.job_id),
          DurationText(absl::Seconds(*culprit.sooner_seconds) + whole / 2),
          RangeText(absl::Floor(absl::Seconds(*culprit.sooner_seconds_lower), whole),
                    absl::Ceil(absl::Seconds(*culprit.sooner_seconds_upper), whole), unicode)));
    }
  }
  return sentences;
}

bool IsTold(const Explanation& explanation, WaitedResource resource) {
  return std::ranges::any_of(explanation.queries, [&](const QueryWaits& query) {
    return query.waits[resource].seconds.has_value();
  });
}

// Empty: some of what was asked was told.
std::string NotTold(const Explanation& explanation, const ExplainQuestion& question) {
  const std::vector<std::string>& hosts = explanation.hosts;
  const char* const when = question.last ? " in that time" : "";
  if (!question.host.empty() && hosts.empty()) {
    return fmt::format("No task of it was seen{} on a host whose name is told.", when);
  }
  if (!question.host.empty() && std::ranges::find(hosts, question.host) == hosts.end()) {
    const std::string meant = text::DidYouMean(question.host, hosts);
    return fmt::format("No task of it was seen on {}{}{}", question.host, when,
                       meant.empty() ? "; its hosts: " + text::FewNames(hosts) : meant);
  }
  if (question.resource == WaitedResource::kScheduler) {
    return IsTold(explanation, WaitedResource::kScheduler)
               ? ""
               : "How many slots it has is not told, so neither is how long it waited.";
  }
  const bool has_metrics = std::ranges::any_of(kWaitedResources, [&](WaitedResource resource) {
    return resource != WaitedResource::kScheduler && IsTold(explanation, resource);
  });
  return has_metrics ? ""
                     : "Of what was asked, no task told how long it waited: there are no metrics.";
}

std::string ClockText(absl::Time at) {
  return absl::FormatTime("%H:%M:%S", at, absl::LocalTimeZone());
}

// Of an answer that is behind the end of its job.
std::string ToCome(const Explanation& explanation) {
  return fmt::format(
      "What {} waited for after {} is still to come: it is worked out once the reports of other "
      "tasks that ran meanwhile are in.",
      explanation.job_id, ClockText(explanation.at));
}

// What the answer does not hold.
std::vector<std::string> Missing(const Explanation& explanation) {
  std::vector<std::string> lines;
  if (explanation.more_to_come) lines.push_back(ToCome(explanation));
  if (explanation.is_partial) {
    lines.push_back(
        fmt::format("Not all of the job was seen: what was before {}, or what there was no room "
                    "for.",
                    ClockText(explanation.since)));
  }
  return lines;
}

// What is said of it all beside the queries.
std::vector<std::string> Remarks(const Explanation& explanation, const ExplainQuestion& question,
                                 bool has_sentence) {
  if (explanation.queries.empty()) return Missing(explanation);
  std::vector<std::string> lines;
  if (std::string not_told = NotTold(explanation, question); !not_told.empty()) {
    lines.push_back(std::move(not_told));
  }
  if (!has_sentence && IsTold(explanation, WaitedResource::kScheduler)) {
    lines.emplace_back("No query is seen to have waited for another.");
  }
  if (explanation.queries_left_out > 0) {
    lines.push_back(fmt::format("{} older queries are left out.", explanation.queries_left_out));
  }
  for (std::string& missing : Missing(explanation)) lines.push_back(std::move(missing));
  return lines;
}

std::string NothingKnown(const std::string& job, bool has_ended, const ExplainQuestion& question) {
  if (question.last) return fmt::format("nothing was seen of {} in that time", job);
  if (has_ended) return fmt::format("nothing is known of what {} waited for", job);
  return fmt::format("nothing was seen of {} yet; ask again in 5 seconds", job);
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

std::string_view ResourceName(WaitedResource resource) {
  switch (resource) {
    case WaitedResource::kScheduler:
      return "slots";
    case WaitedResource::kProcessor:
      return "processor";
    case WaitedResource::kMemory:
      return "memory";
    case WaitedResource::kNetwork:
      return "network";
    case WaitedResource::kIo:
      return "io";
  }
  return "";
}

std::vector<std::string> QuerySentences(const Explanation& explanation, const QueryWaits& query,
                                        const ExplainQuestion& question,
                                        const TextOptions& options) {
  std::vector<std::string> sentences;
  for (WaitFinding& finding :
       WaitFindings(explanation, query, question.culprits_max, options.unicode)) {
    sentences.push_back(std::move(finding.sentence));
  }
  sentences.push_back(SkewSentence(explanation, query));
  sentences.push_back(LongestTaskSentence(explanation, query));
  sentences.push_back(GrowthSentence(explanation, query, options.unicode));
  std::erase(sentences, "");
  return sentences;
}

WaitsWords DescribeWaits(const Explanation& explanation, const ExplainQuestion& question,
                         const TextOptions& options) {
  WaitsWords words;
  const auto say = [&](const std::string& sentence) {
    if (!sentence.empty()) words.sentences.push_back(Printable(sentence, options.unicode));
  };
  for (const QueryWaits& query : explanation.queries) {
    Row row = {Printable(NameOf(explanation, query), options.unicode),
               query.seconds ? SecondsText(*query.seconds) : "not told"};
    for (const WaitedResource resource : kWaitedResources) {
      row.push_back(IsAsked(question, resource) ? Text(query.waits[resource]) : "not asked");
    }
    words.rows.push_back(std::move(row));
    for (const std::string& sentence : QuerySentences(explanation, query, question, options)) {
      say(sentence);
    }
  }
  const bool has_sentence = !words.sentences.empty();
  for (const std::string& sentence : SoonerSentences(explanation, options.unicode)) say(sentence);
  for (const std::string& remark : Remarks(explanation, question, has_sentence)) say(remark);
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
    words.rows.insert(words.rows.begin(),
                      {"QUERY", "LASTED", "SLOTS", "PROCESSOR", "MEMORY", "NETWORK", "IO"});
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
      "{} has ended; what it waited for is worked out once the reports of other tasks that ran "
      "meanwhile are in, about {} after its end at the latest",
      Printable(job_id, options.unicode), DurationText(within));
}

std::string NoQueriesOfWorkflow(const Snapshot& workflow) {
  std::vector<std::string> begun;
  for (const Child& child : workflow.children) {
    if (!child.job_id.empty() && child.started_at) begun.push_back(child.job_id);
  }
  return fmt::format(
      "{} is a workflow, which has no queries of its own; ask about one of its jobs{}",
      workflow.job_id, begun.empty() ? " once it has begun" : ": " + text::FewNames(begun));
}

std::string WorstWait(const Explanation& explanation, const TextOptions& options) {
  const Culprit* worst = nullptr;
  const QueryWaits* of = nullptr;
  for (const QueryWaits& query : explanation.queries) {
    if (query.culprits.empty() || !query.seconds) continue;
    const Culprit& culprit = query.culprits.front();
    if (culprit.seconds <= kWorthTelling * *query.seconds) continue;
    if (worst != nullptr && !(culprit.seconds > worst->seconds)) continue;
    worst = &culprit;
    of = &query;
  }
  if (worst == nullptr) return "";
  const std::string where = worst->host.empty() ? "" : " on " + worst->host;
  const double all = std::max(of->waits[worst->resource].seconds.value_or(0), worst->seconds);
  return Printable(fmt::format("waits {}{}, {} behind {}", WaitedFor(worst->resource), where,
                               worst->seconds > kMost * all ? "mostly" : "partly",
                               CulpritName(explanation.job_id, *worst)),
                   options.unicode);
}

std::string WaitsGraph(const Explanation& explanation) {
  std::string graph = fmt::format("digraph {} {{\n  rankdir=LR;\n", Quoted(explanation.job_id));
  if (explanation.more_to_come) graph += fmt::format("  label={};\n", Quoted(ToCome(explanation)));
  for (const QueryWaits& query : explanation.queries) {
    const std::string target = Quoted(NameOf(explanation, query));
    graph += fmt::format("  {};\n", target);
    for (const FoundWait& wait : FoundWaits(query, query.culprits.size())) {
      if (wait.culprit == nullptr) continue;
      const std::string where = wait.culprit->host.empty() ? "" : ", " + wait.culprit->host;
      const std::string label = fmt::format("{}{}: {}{}", ResourceName(wait.resource), where,
                                            AtLeast(wait.is_least), SecondsText(wait.seconds));
      graph += fmt::format("  {} -> {} [label={}];\n",
                           Quoted(CulpritName(explanation.job_id, *wait.culprit)), target,
                           Quoted(label));
    }
  }
  return graph + "}";
}

}  // namespace tidemark::console
