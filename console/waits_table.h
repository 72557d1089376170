// The waits of the queries of a job, and their causes: a table, sentences, and a graph. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "console/text.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"

namespace tidemark::console {

// Returns a sentence for each finding about the query: its waits, then its own tasks.
std::vector<std::string> QuerySentences(const Explanation& explanation, const QueryWaits& query,
                                        const ExplainQuestion& question,
                                        const TextOptions& options);

// Returns the headings of the waits in a row of DescribeWaits(): "Slots", "Processor", ..., "IO".
// Names of at most three letters are abbreviations, in upper case.
std::vector<std::string> WaitHeadings();

struct WaitsWords {
  // One row per query: its name, its duration, and its wait for each reason, or "not requested" for
  // reasons outside the question.
  std::vector<Row> rows;
  std::vector<std::string> sentences;  // findings of each query, then the limitations of the answer
};
WaitsWords DescribeWaits(const Explanation& explanation, const ExplainQuestion& question,
                         const TextOptions& options);

// Returns a table with a row for each query and a column for each requested reason, followed by the
// sentences.
std::vector<std::string> RenderWaits(const Explanation& explanation,
                                     const ExplainQuestion& question, const TableOptions& options);

// Returns the message for an ended job whose waits remain unknown for at most about `within` after
// its end.
std::string WaitsToCome(const std::string& job_id, absl::Duration within,
                        const TextOptions& options);

// Returns "nightly is a workflow and has no queries; pass one of its jobs: load, count" if `parts`
// is "queries". Names the jobs that have started.
std::string WorkflowHasNo(const std::string& parts, const Snapshot& workflow);

// A job of a workflow that determined the duration of the workflow until its end, or until now.
struct DecisiveJob {
  const Child* job = nullptr;
  // Time from the end of the last job that it waited for until its start. Zero for the first job.
  absl::Duration pause;
  absl::Duration lasted;  // until now if the job runs
  std::string stage;      // name of its longest stage; empty if unknown
  absl::Duration stage_lasted;
};

// Returns the jobs that determined the duration of the workflow, from first to last. The last one
// is the job that ends last. Each earlier one is the job that ended last among those for which the
// next one waited. Returns none before the first job starts. The workflow must outlive the result.
// O(edges + (jobs + stages) log jobs).
std::vector<DecisiveJob> DecisiveJobs(const Snapshot& workflow);

// Returns a table with a row for each of these jobs, a sentence about the pauses between them, and
// `sentences`, which has a list for each job.
std::vector<std::string> RenderDecisiveJobs(const Snapshot& workflow,
                                            const std::vector<DecisiveJob>& jobs,
                                            const std::vector<std::vector<std::string>>& sentences,
                                            const TableOptions& options);

// Returns "waits for CPU on node-3, mostly behind app-7/sql/3" for the cause that delays a query
// longest. The text has "partly" if the cause explains less than half of the wait. Returns "" if no
// cause delays its query by more than a fifth of the query's time.
std::string WorstWait(const Explanation& explanation, const TextOptions& options);

// Returns a graph for Graphviz with an arrow from each cause to the query that waited.
std::string WaitsGraph(const Explanation& explanation);

}  // namespace tidemark::console
