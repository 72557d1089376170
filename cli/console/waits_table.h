// What the queries of a job waited for, and because of which others: a table and sentences. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cli/console/table.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"

namespace tidemark::console {

// "slots", "processor", "memory", "network", "io".
std::string_view ResourceName(WaitedResource resource);

// A query as others call it: "sql/3" of `job_id` itself, "app-7/sql/3" of another job, "another
// job" of one that may not be seen.
std::string CulpritName(const std::string& job_id, const Culprit& culprit);

struct WaitsWords {
  // Of each query: its name, how long it lasted, what it waited for each resource, "not asked" for
  // those that the question leaves out.
  std::vector<Row> rows;
  std::vector<std::string> sentences;  // for each that waited, then what is not known
};
WaitsWords DescribeWaits(const Explanation& explanation, const ExplainQuestion& question,
                         const TextOptions& options);

// A table of the queries, with columns for what was asked, then a sentence for each that waited,
// then what is not known.
std::vector<std::string> RenderWaits(const Explanation& explanation,
                                     const ExplainQuestion& question, const TableOptions& options);

// Of a job that has ended, while what it waited for is not known yet: that it will be, about
// `within` after its end at the latest.
std::string WaitsToCome(const std::string& job_id, absl::Duration within,
                        const TextOptions& options);

// "nightly is a workflow, which has no queries of its own; ask about one of its jobs: load, count":
// those that have begun.
std::string NoQueriesOfWorkflow(const Snapshot& workflow);

// "waits for a processor on node-3, mostly because of app-7/sql/3": of the query that lost more
// than a fifth of its time the largest cause; empty where there is none.
std::string WorstWait(const Explanation& explanation, const TextOptions& options);

// The same for Graphviz: an arrow from each culprit to the query that waited.
std::string WaitsGraph(const Explanation& explanation);

}  // namespace tidemark::console
