// What the queries of a job waited for, and because of which others: a table and sentences. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "console/table.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"

namespace tidemark::console {

// "slots", "processor", "memory", "network", "io".
std::string_view ResourceName(WaitedResource resource);

// Returns a sentence for each finding about the query: its waits, then what its own tasks did. All
// fronts show these sentences.
std::vector<std::string> QuerySentences(const Explanation& explanation, const QueryWaits& query,
                                        const ExplainQuestion& question,
                                        const TextOptions& options);

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

// Returns the message for a job that has ended while its waits are still unknown: they will be
// known at most about `within` after its end.
std::string WaitsToCome(const std::string& job_id, absl::Duration within,
                        const TextOptions& options);

// Returns, for example, "nightly is a workflow, which has no queries of its own; ask about one of
// its jobs: load, count". Names the jobs that have begun.
std::string NoQueriesOfWorkflow(const Snapshot& workflow);

// Returns "waits for a processor on node-3, mostly behind app-7/sql/3": the largest cause of the
// query that lost more than a fifth of its time; "partly" if that is less than half of the wait.
// Empty without such a query.
std::string WorstWait(const Explanation& explanation, const TextOptions& options);

// The same for Graphviz: an arrow from each culprit to the query that waited.
std::string WaitsGraph(const Explanation& explanation);

}  // namespace tidemark::console
