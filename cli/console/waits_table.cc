#include "cli/console/waits_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "cli/console/text.h"
#include "text/did_you_mean.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

// Less is not worth a word.
constexpr double kSecondsShown = 0.05;
// The same of an estimate, which is no more exact than whole seconds.
constexpr double kSoonerShown = 1;
// Of a query's time: what is worth a word in the bar, and what is of its own doing.
constexpr double kWorthTelling = 0.2;
constexpr double kOwnDoingShown = 0.1;

std::string Text(const QueryWait& wait) {
  if (!wait.seconds) return "not told";
  return fmt::format("{}{:.1f} s", wait.is_least ? ">= " : "", *wait.seconds);
}

std::string NameOf(const Explanation& explanation, const QueryWaits& query) {
  return query.query.empty() ? explanation.job_id : query.query;
}

std::string Cause(const Explanation& explanation, const Culprit& culprit) {
  const std::string where = culprit.host.empty() ? "" : " on " + culprit.host;
  return fmt::format("{}{} because of {}", WaitedFor(culprit.resource), where,
                     CulpritName(explanation.job_id, culprit));
}

// " (6.0 to 9.5)"; nothing where the limits are close.
std::string LimitsOf(const std::optional<double>& lower, const std::optional<double>& upper) {
  if (!lower || !upper || *upper - *lower < 2 * kSecondsShown) return "";
  return fmt::format(" ({:.1f} to {:.1f})", *lower, *upper);
}

// "sql/3 waited, of 60.0 s: 8.0 s (6.0 to 9.5) for a slot because of sql/1; 2.0 s ..., cause not
// told".
std::string Sentence(const Explanation& explanation, const QueryWaits& query) {
  std::vector<std::string> parts;
  for (const Culprit& culprit : query.culprits) {
    if (culprit.seconds < kSecondsShown) continue;
    parts.push_back(fmt::format("{:.1f} s{} {}", culprit.seconds,
                                LimitsOf(culprit.seconds_lower, culprit.seconds_upper),
                                Cause(explanation, culprit)));
  }
  for (const WaitedResource resource : kWaitedResources) {
    const QueryWait& wait = query.waits[resource];
    if (resource == WaitedResource::kScheduler || wait.seconds.value_or(0) < kSecondsShown)
      continue;
    const bool has_culprit =
        std::any_of(query.culprits.begin(), query.culprits.end(),
                    [&](const Culprit& culprit) { return culprit.resource == resource; });
    if (has_culprit) continue;
    parts.push_back(fmt::format("{:.1f} s {}, cause not told", *wait.seconds, WaitedFor(resource)));
  }
  if (parts.empty()) return "";
  const std::string lasted = query.seconds ? fmt::format(", of {:.1f} s", *query.seconds) : "";
  return fmt::format("{} waited{}: {}", NameOf(explanation, query), lasted, fmt::join(parts, "; "));
}

bool IsWorthTelling(double seconds, double of_seconds) {
  return seconds >= std::max(kSecondsShown, kOwnDoingShown * of_seconds);
}

std::string SkewSentence(const Explanation& explanation, const QueryWaits& query) {
  const double skew = query.skew_seconds.value_or(0);
  if (!query.seconds || !IsWorthTelling(skew, *query.seconds)) return "";
  return fmt::format("{}: the longest tasks of its stages took {:.1f} s more than the mean ones",
                     NameOf(explanation, query), skew);
}

std::string Size(double bytes) {
  constexpr double kLargest = 1e18;  // fits into the integer
  return text::SizeText(static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kLargest)));
}

// "sql/3: stages of it read 20.0 GB, in earlier runs 10.0 GB: that took their tasks about 40.0 s
// (30.0 to 48.0) more, summed over tasks"; of other stages nothing is said.
std::string GrowthSentence(const Explanation& explanation, const QueryWaits& query) {
  if (!query.data_growth) return "";
  const DataGrowth& growth = *query.data_growth;
  // Seconds of tasks are compared with such, not with those for which the query lasted.
  if (!IsWorthTelling(growth.task_seconds, growth.all_task_seconds)) return "";
  return fmt::format(
      "{}: stages of it read {}, in earlier runs {}: that took their tasks about {:.1f} s{} more, "
      "summed over tasks",
      NameOf(explanation, query), Size(growth.read_bytes), Size(growth.earlier_read_bytes),
      growth.task_seconds, LimitsOf(growth.task_seconds_lower, growth.task_seconds_upper));
}

// "Without app-7/sql/3 from now on, app would end about 40 s sooner (25 to 60 s).", or "Without
// app-7/sql/3, app would have ended ..."; of each culprit once.
std::vector<std::string> SoonerSentences(const Explanation& explanation) {
  std::vector<std::string> sentences;
  std::set<std::string> named;
  for (const QueryWaits& query : explanation.queries) {
    for (const Culprit& culprit : query.culprits) {
      if (culprit.sooner_seconds.value_or(0) < kSoonerShown) continue;
      if (!culprit.sooner_seconds_lower || !culprit.sooner_seconds_upper) continue;
      const std::string name = CulpritName(explanation.job_id, culprit);
      if (!named.insert(name).second) continue;
      sentences.push_back(fmt::format(
          "Without {}{} about {:.0f} s sooner ({:.0f} to {:.0f} s).", name,
          explanation.has_ended ? fmt::format(", {} would have ended", explanation.job_id)
                                : fmt::format(" from now on, {} would end", explanation.job_id),
          *culprit.sooner_seconds, std::floor(*culprit.sooner_seconds_lower),
          std::ceil(*culprit.sooner_seconds_upper)));
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

// What is said of it all beside the queries.
std::vector<std::string> Remarks(const Explanation& explanation, const ExplainQuestion& question,
                                 bool has_sentence) {
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
  if (explanation.is_partial) {
    lines.push_back(fmt::format(
        "Not all of the job was seen: what was before {}, or what there was no room for.",
        absl::FormatTime("%H:%M:%S", explanation.since, absl::LocalTimeZone())));
  }
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

std::string_view WaitedFor(WaitedResource resource) {
  switch (resource) {
    case WaitedResource::kScheduler:
      return "for a slot";
    case WaitedResource::kProcessor:
      return "for a processor";
    case WaitedResource::kMemory:
      return "for garbage collection";
    case WaitedResource::kNetwork:
      return "for shuffle data";
    case WaitedResource::kIo:
      return "for shuffle writes";
  }
  return "";
}

std::string CulpritName(const std::string& job_id, const Culprit& culprit) {
  if (culprit.job_id.empty()) {
    if (culprit.jobs == 0) return "what no task reports";
    return culprit.jobs == 1 ? "another job" : fmt::format("{} other jobs", culprit.jobs);
  }
  if (culprit.query.empty()) return culprit.job_id;
  return culprit.job_id == job_id ? culprit.query : culprit.job_id + "/" + culprit.query;
}

WaitsWords DescribeWaits(const Explanation& explanation, const ExplainQuestion& question,
                         const TextOptions& options) {
  WaitsWords words;
  for (const QueryWaits& query : explanation.queries) {
    Row row = {Printable(NameOf(explanation, query), options.unicode),
               query.seconds ? fmt::format("{:.1f} s", *query.seconds) : "not told"};
    for (const WaitedResource resource : kWaitedResources)
      row.push_back(Text(query.waits[resource]));
    words.rows.push_back(std::move(row));
    for (const std::string& sentence :
         {Sentence(explanation, query), SkewSentence(explanation, query),
          GrowthSentence(explanation, query)}) {
      if (!sentence.empty()) words.sentences.push_back(Printable(sentence, options.unicode));
    }
  }
  const bool has_sentence = !words.sentences.empty();
  for (const std::string& sentence : SoonerSentences(explanation)) {
    words.sentences.push_back(Printable(sentence, options.unicode));
  }
  for (const std::string& remark : Remarks(explanation, question, has_sentence)) {
    words.sentences.push_back(Printable(remark, options.unicode));
  }
  if (explanation.queries.empty()) {
    if (explanation.is_partial)
      words.sentences.erase(words.sentences.begin(), words.sentences.end() - 1);
    if (!explanation.is_partial) words.sentences.clear();
  }
  return words;
}

std::vector<std::string> RenderWaits(const Explanation& explanation,
                                     const ExplainQuestion& question, const TableOptions& options) {
  WaitsWords words = DescribeWaits(explanation, question, options.text);
  std::vector<std::string> lines;
  if (explanation.queries.empty()) {
    const std::string job = Printable(explanation.job_id, options.text.unicode);
    lines.push_back(NothingKnown(job, explanation.has_ended, question));
  } else {
    words.rows.insert(words.rows.begin(),
                      {"QUERY", "LASTED", "SLOTS", "PROCESSOR", "MEMORY", "NETWORK", "IO"});
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
      "meanwhile are in, about {:.0f} s after its end at the latest",
      Printable(job_id, options.unicode), absl::ToDoubleSeconds(within));
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
  for (const QueryWaits& query : explanation.queries) {
    if (query.culprits.empty() || !query.seconds) continue;
    const Culprit& culprit = query.culprits.front();
    if (culprit.seconds <= kWorthTelling * *query.seconds) continue;
    if (worst == nullptr || culprit.seconds > worst->seconds) worst = &culprit;
  }
  if (worst == nullptr) return "";
  const std::string where = worst->host.empty() ? "" : " on " + worst->host;
  return Printable(fmt::format("waits {}{}, mostly because of {}", WaitedFor(worst->resource),
                               where, CulpritName(explanation.job_id, *worst)),
                   options.unicode);
}

std::string WaitsGraph(const Explanation& explanation) {
  std::string graph = fmt::format("digraph {} {{\n  rankdir=LR;\n", Quoted(explanation.job_id));
  for (const QueryWaits& query : explanation.queries) {
    const std::string target = Quoted(NameOf(explanation, query));
    graph += fmt::format("  {};\n", target);
    for (const Culprit& culprit : query.culprits) {
      const std::string where = culprit.host.empty() ? "" : ", " + culprit.host;
      const std::string label =
          fmt::format("{}{}: {:.1f} s", ResourceName(culprit.resource), where, culprit.seconds);
      graph += fmt::format("  {} -> {} [label={}];\n",
                           Quoted(CulpritName(explanation.job_id, culprit)), target, Quoted(label));
    }
  }
  return graph + "}";
}

}  // namespace tidemark::console
