#include "console/contention_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "console/wait_findings.h"
#include "tidemark/explanation.h"

namespace tidemark::console {
namespace {

// Shorter delays, in seconds, get no sentence.
constexpr double kDelayShown = 0.5;

// Maximum of --top.
constexpr std::size_t kTopMax = 100;

struct ContentionColumn {
  const char* heading;
  std::function<std::string(const ContentionRow&)> text;
  // Returns true if the row has the part that the column shows. The part may be missing in
  // messages.
  bool (*is_set)(const ContentionRow&) = [](const ContentionRow&) { return true; };
};

std::string ContendingName(const ContentionParty& party) {
  const std::string name = CauseName(
      "", ContendingQuery{.job_id = party.job_id, .query = party.query, .jobs = party.jobs});
  return party.stage ? fmt::format("{} stage {}", name, *party.stage) : name;
}

std::string DelayText(const LimitedAmount& seconds, bool unicode) {
  return SecondsText(seconds.value) +
         LimitsText(seconds.value, seconds.lower, seconds.upper, unicode);
}

int WholePercent(double share) { return static_cast<int>(std::round(100 * share)); }

// Returns "38 % (20-61 %)".
std::string SharesText(const LimitedAmount& share, bool unicode) {
  const int lower = static_cast<int>(std::floor(100 * share.lower));
  const int upper = std::min(100, static_cast<int>(std::ceil(100 * share.upper)));
  if (upper - lower <= 1) return fmt::format("{} %", WholePercent(share.value));
  return fmt::format("{} % ({}{}{} %)", WholePercent(share.value), lower, unicode ? "–" : "-",
                     upper);
}

std::string TwoDigits(double number) { return fmt::format("{:.2f}", number); }

struct ListWords {
  ContentionKind kind;
  const char* name;
  const char* title;
  bool is_of_stages = false;
};

// In the order of the tables.
constexpr std::array<ListWords, kContentionKindCount> kListWords = {{
    {ContentionKind::kCausingQueries, "causing_queries", "Queries that delayed others"},
    {ContentionKind::kDelayedQueries, "delayed_queries", "Delayed queries"},
    {ContentionKind::kHosts, "hosts", "Hosts"},
    {ContentionKind::kResources, "resources", "Resources"},
    {ContentionKind::kPlaces, "places", "Resources by host"},
    {ContentionKind::kDelayedStages, "delayed_stages", "Delayed stages", true},
    {ContentionKind::kStageWaits, "stage_waits", "Waits of stages", true},
    {ContentionKind::kStageHosts, "stage_hosts", "Waits of stages by host", true},
    {ContentionKind::kPaths, "paths", "Paths from a cause to a delayed stage", true},
    {ContentionKind::kCausingStages, "causing_stages", "Stages that delayed others", true},
}};

const ListWords& WordsOfList(ContentionKind kind) {
  return *std::ranges::find(kListWords, kind, &ListWords::kind);
}

std::vector<ContentionColumn> ContentionColumnsOf(ContentionKind kind, bool unicode) {
  using Each = ContentionRow;
  const ContentionColumn delayed = {"Query",
                                    [](const Each& row) { return ContendingName(*row.delayed); },
                                    [](const Each& row) { return row.delayed.has_value(); }};
  const ContentionColumn cause = {"Query",
                                  [](const Each& row) { return ContendingName(*row.cause); },
                                  [](const Each& row) { return row.cause.has_value(); }};
  const ContentionColumn behind = {"Behind", cause.text, cause.is_set};
  const ContentionColumn resource = {
      "Resource", [](const Each& row) { return std::string(InfoOf(*row.resource).name); },
      [](const Each& row) { return row.resource.has_value(); }};
  const ContentionColumn host = {"Host", [](const Each& row) { return row.host; }};
  const ContentionColumn seconds = {
      "Delay", [unicode](const Each& row) { return DelayText(*row.seconds, unicode); },
      [](const Each& row) { return row.seconds.has_value(); }};
  const ContentionColumn share = {
      "Share", [unicode](const Each& row) { return SharesText(*row.share, unicode); },
      [](const Each& row) { return row.share.has_value(); }};
  const ContentionColumn responsibility = {
      "Responsibility", [](const Each& row) {
        // Processes outside Tidemark are no query, so responsibility does not apply.
        const bool is_outside = row.cause && row.cause->jobs == 0 && !(row.responsibility > 0);
        return is_outside ? "-" : TwoDigits(row.responsibility);
      }};
  const ContentionColumn impact = {"Impact", [](const Each& row) { return TwoDigits(row.impact); }};
  const ContentionColumn queries = {"Queries",
                                    [](const Each& row) { return fmt::to_string(row.queries); }};
  switch (kind) {
    case ContentionKind::kCausingQueries:
      return {cause, seconds, share, responsibility, queries};
    case ContentionKind::kDelayedQueries:
      return {delayed, seconds, share, responsibility};
    case ContentionKind::kHosts:
      return {host, seconds, share, impact, queries};
    case ContentionKind::kResources:
      return {resource, seconds, share, impact, queries};
    case ContentionKind::kPlaces:
      return {resource, host, seconds, share, queries};
    case ContentionKind::kDelayedStages:
      return {delayed, responsibility};
    case ContentionKind::kStageWaits:
      return {delayed, resource, responsibility};
    case ContentionKind::kStageHosts:
      return {delayed, resource, host, responsibility};
    case ContentionKind::kPaths:
      return {delayed, resource, host, behind, responsibility};
    case ContentionKind::kCausingStages:
      return {cause, responsibility, queries};
  }
  return {};
}

bool IsWhole(ContentionKind kind, const ContentionRow& row) {
  return std::ranges::all_of(ContentionColumnsOf(kind, /*unicode=*/true),
                             [&](const ContentionColumn& column) { return column.is_set(row); });
}

// Returns the rows of a list that have a notable delay, largest delay first.
std::vector<const ContentionRow*> NotableRows(const ClusterContention& contention,
                                              ContentionKind kind) {
  std::vector<const ContentionRow*> rows;
  const auto list = std::ranges::find(contention.lists, kind, &ContentionList::kind);
  if (list == contention.lists.end()) return rows;
  for (const ContentionRow& row : list->rows) {
    if (IsWhole(kind, row) && row.seconds->value >= kDelayShown) rows.push_back(&row);
  }
  return rows;
}

// Returns the first query. If it may have caused no delay, also returns the queries with similar
// shares. REQUIRES: `queries` is not empty and is sorted, largest delay first.
std::vector<std::string> SimilarCauses(const std::vector<const ContentionRow*>& queries) {
  constexpr std::size_t kNamesMax = 3;
  constexpr double kSimilarPart = 0.5;  // chosen by hand
  const ContentionRow& first = *queries.front();
  std::vector<std::string> names = {ContendingName(*first.cause)};
  if (WholePercent(first.share->lower) > 0) return names;
  for (std::size_t i = 1; i < queries.size() && names.size() < kNamesMax; ++i) {
    const LimitedAmount& share = *queries[i]->share;
    if (share.value < kSimilarPart * first.share->value || share.upper < first.share->value) break;
    names.push_back(ContendingName(*queries[i]->cause));
  }
  return names;
}

// Returns the sentence about the worst causes, or an empty string if none is notable.
std::string CauseSentence(const ClusterContention& contention, bool unicode) {
  std::vector<const ContentionRow*> queries =
      NotableRows(contention, ContentionKind::kCausingQueries);
  std::string sentence;
  if (queries.empty()) return sentence;
  const auto is_outside = [](const ContentionRow* row) { return row->cause->jobs == 0; };
  const bool is_mostly_outside = is_outside(queries.front());
  if (is_mostly_outside) {
    sentence = fmt::format("Processes outside Tidemark caused {} of all delay",
                           SharesText(*queries.front()->share, unicode));
  }
  std::erase_if(queries, is_outside);
  if (queries.empty()) return sentence + ".";
  const std::vector<std::string> similar = SimilarCauses(queries);
  const ContentionRow& worst = *queries.front();
  if (similar.size() > 1) {
    const std::string others =
        fmt::format("{}", fmt::join(similar.begin(), std::prev(similar.end()), ", "));
    return fmt::format("{}No single query is clearly the cause: {} and {} have similar shares.",
                       is_mostly_outside ? sentence + ". " : "", others, similar.back());
  }
  if (is_mostly_outside) {
    return fmt::format("{}; of the queries, {} caused the most, {}.", sentence, similar.front(),
                       SharesText(*worst.share, unicode));
  }
  return fmt::format("{} delayed {} by {} in total, {} of all delay.", similar.front(),
                     worst.queries == 1 ? "one query" : fmt::format("{} queries", worst.queries),
                     DelayText(*worst.seconds, unicode), SharesText(*worst.share, unicode));
}

}  // namespace

bool IsOfStages(ContentionKind kind) { return WordsOfList(kind).is_of_stages; }

std::string ContentionName(ContentionKind kind) { return WordsOfList(kind).name; }

std::vector<ContentionTable> DescribeContention(const ClusterContention& contention,
                                                const TextOptions& options) {
  std::vector<ContentionTable> tables;
  for (const ListWords& words : kListWords) {
    const auto list = std::ranges::find(contention.lists, words.kind, &ContentionList::kind);
    if (list == contention.lists.end()) continue;
    ContentionTable table = {.kind = words.kind,
                             .title = words.title,
                             .headings = {},
                             .rows = {},
                             .job_ids = {},
                             .left_out = 0};
    const std::vector<ContentionColumn> columns = ContentionColumnsOf(words.kind, options.unicode);
    for (const ContentionColumn& column : columns) table.headings.emplace_back(column.heading);
    table.left_out = list->left_out;
    for (const ContentionRow& from : list->rows) {
      if (!IsWhole(words.kind, from)) continue;
      if (from.seconds && !(from.seconds->value >= kSecondsShown)) {
        table.left_out = 0;  // Rows beyond the limit have even less delay.
        continue;
      }
      Row row;
      for (const ContentionColumn& column : columns) {
        row.push_back(Printable(column.text(from), options.unicode));
      }
      table.rows.push_back(std::move(row));
      const auto& first = from.delayed ? from.delayed : from.cause;
      table.job_ids.push_back(first ? first->job_id : "");
    }
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<std::string> ContentionSentences(const ClusterContention& contention,
                                             const TextOptions& options) {
  std::vector<std::string> sentences;
  const auto add = [&](const std::string& sentence) {
    sentences.push_back(Printable(sentence, options.unicode));
  };
  const std::string cause = CauseSentence(contention, options.unicode);
  const auto delayed = NotableRows(contention, ContentionKind::kDelayedQueries);
  if (!cause.empty()) add(cause);
  if (!delayed.empty()) {
    add(fmt::format("{} had the longest delay, {}.", ContendingName(*delayed.front()->delayed),
                    DelayText(*delayed.front()->seconds, options.unicode)));
  }
  if (cause.empty() && delayed.empty() && contention.jobs > 0) {
    const auto tables = DescribeContention(contention, options);
    const bool has_delays = std::ranges::any_of(
        tables, [](const ContentionTable& table) { return !IsOfStages(table.kind); });
    add(has_delays ? fmt::format("All reported delays are shorter than {:g} s.", kDelayShown)
                   : "No delays of one query by another were reported.");
  }
  if (contention.jobs == 0 && contention.is_partial) {
    add(fmt::format("No job that you may read has reported since the master started at {}.",
                    absl::FormatTime("%H:%M:%S", contention.since,
                                     options.zone ? *options.zone : absl::LocalTimeZone())));
  } else if (contention.jobs == 0) {
    add("No job that you may read has reported.");
  } else if (contention.is_partial) {
    add("The answer is incomplete: some jobs began before the master started or before their first "
        "report, or exceeded the master's limits.");
  }
  return sentences;
}

std::vector<std::string> RenderContention(const ClusterContention& contention,
                                          const TableOptions& options) {
  std::vector<std::string> lines = ContentionSentences(contention, options.text);
  for (ContentionTable& table : DescribeContention(contention, options.text)) {
    if (IsOfStages(table.kind) && !options.is_wide) continue;
    lines.emplace_back();
    lines.push_back(TableLine(table.title, options, Style::kStrong));
    for (std::string& heading : table.headings) absl::AsciiStrToUpper(&heading);
    table.rows.insert(table.rows.begin(), std::move(table.headings));
    const std::size_t shown = table.rows.size() - 1;
    for (std::string& line : RenderTable(table.rows, options)) lines.push_back(std::move(line));
    if (table.left_out > 0) {
      const std::size_t top = std::min(shown + table.left_out, kTopMax);
      lines.push_back(fmt::format("{} more", table.left_out) +
                      (top > shown ? fmt::format("; --top {}", top) : ""));
    }
  }
  return lines;
}

}  // namespace tidemark::console
