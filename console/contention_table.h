// The contention of a cluster as tables and sentences, for the terminal and the page. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "console/text.h"
#include "tidemark/contention.h"

namespace tidemark::console {

// One list of contention. All text is Printable().
struct ContentionTable {
  ContentionKind kind = ContentionKind::kDelayedQueries;
  std::string title;  // "Queries that delayed others"
  Row headings;       // "Query", "Delay", ...
  std::vector<Row> rows;
  std::vector<std::string> job_ids;  // the job in the first cell of each row; empty if none
  std::uint32_t left_out = 0;        // number of rows beyond the limit of the question
};

// Returns the tables of causes, delayed queries, hosts, resources and places, then the tables of
// stages. Omits rows whose delay is rounded to 0.
std::vector<ContentionTable> DescribeContention(const ClusterContention& contention,
                                                const TextOptions& options);

bool IsOfStages(ContentionKind kind);

// Returns the name of a list in JSON: "causing_queries".
std::string ContentionName(ContentionKind kind);

// Returns the worst causes and the most delayed query in one sentence each, and the limitations of
// the answer. No query is named as the worst cause if other queries may have caused as much delay.
std::vector<std::string> ContentionSentences(const ClusterContention& contention,
                                             const TextOptions& options);

// Returns the sentences, then the tables. Includes tables of stages if the output is wide.
std::vector<std::string> RenderContention(const ClusterContention& contention,
                                          const TableOptions& options);

}  // namespace tidemark::console
