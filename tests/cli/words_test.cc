// Compares the text of the console with the file words.txt, so that a diff of the file shows every
// change. TIDEMARK_UPDATE_WORDS=FILE writes the current text to FILE.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/hadoop/yarn_outcome.h"
#include "cli/master_call.h"
#include "console/contention_table.h"
#include "console/job_frame.h"
#include "console/job_lines.h"
#include "console/job_summary.h"
#include "console/job_table.h"
#include "console/waits_table.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"
#include "transport/channel.h"

namespace tidemark::cli::words_test {
namespace {

using console::TextOptions;

constexpr TextOptions kText = {.unicode = true};
constexpr int kWidth = 100;

std::string Section(const std::string& title, const std::string& text) {
  return fmt::format("=== {} ===\n{}\n", title, text);
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string OutputOf(std::vector<std::string> words) {
  words.insert(words.begin(), "tidemark");
  const auto parsed = ParseCommandLine(words);
  const Answer* answer = std::get_if<Answer>(&parsed);
  return answer == nullptr ? "" : answer->out;
}

// Appends the help of the command and of its subcommands.
void AppendHelp(const std::vector<std::string>& command, std::string& text) {
  std::vector<std::string> words = command;
  words.emplace_back("--help");
  text += Section(fmt::format("tidemark {}", fmt::join(words, " ")), OutputOf(words));
  words.back() = "";
  for (const std::string& subcommand : CompletionsOf(words).words) {
    words.back() = subcommand;
    AppendHelp(words, text);
  }
}

std::string MasterErrors() {
  const absl::Status errors[] = {
      absl::UnauthenticatedError("this master requires a token: send the metadata"),
      absl::UnauthenticatedError("another token"),
      absl::UnimplementedError(""),
      absl::DeadlineExceededError("Deadline Exceeded"),
      absl::UnavailableError("Connection refused"),
      absl::UnavailableError(transport::kAnswersOtherwise),
      absl::UnavailableError(transport::kDoesNotAnswer),
      absl::UnavailableError(transport::kUnknownHost),
      absl::UnavailableError(transport::kUsesNoTls),
      absl::UnavailableError(transport::kUntrusted),
      absl::UnavailableError(transport::kOtherName),
      absl::UnavailableError(transport::kNoHandshake),
      absl::UnavailableError(transport::kClosed)};
  std::string text;
  for (const absl::Status& error : errors) text += DescribeMasterError("host:7411", error) + "\n";
  return text;
}

Snapshot WithAllWarnings() {
  Snapshot job = console::SomeSnapshot();
  job.silent_since = job.at - absl::Minutes(6);
  job.coverage.emplace();
  job.coverage->lost_events = 1;
  job.coverage->dropped_events = 2;
  job.coverage->dropped_points = 3;
  job.coverage->missing_task_ends = 4;
  job.coverage->tasks_beyond_slots = 5;
  job.coverage->rejected_events = 6;
  job.coverage->anomalies = 7;
  job.coverage->map_profiles = 0.5;
  job.stages[1].failure = "out of disk";
  job.stages[1].failed_attempts = 2;
  job.deadline = job.at + absl::Minutes(3);
  job.late_probability = 0.83;
  return job;
}

Snapshot Guess() {
  Snapshot job = console::SomeSnapshot();
  job.estimate.basis = Basis::kGuess;
  job.estimate.method = EstimateMethod::kMapPhase;
  job.estimate.remaining = Range{absl::Seconds(20), absl::Seconds(1), absl::Minutes(110)};
  return job;
}

Snapshot Raised() {
  Snapshot job = console::Query();
  job.estimate_raised = {RaiseCause::kMoreStages, 2};
  job.idle_since = job.at - absl::Minutes(3);
  return job;
}

std::string Jobs() {
  const std::pair<const char*, Snapshot> jobs[] = {{"running", console::SomeSnapshot()},
                                                   {"warnings", WithAllWarnings()},
                                                   {"warming up", console::WarmingUp()},
                                                   {"guess", Guess()},
                                                   {"raised", Raised()},
                                                   {"overdue", console::Overdue()},
                                                   {"failed", console::Failed()},
                                                   {"succeeded", console::Succeeded()},
                                                   {"workflow", console::Visits()},
                                                   {"application", console::Query()},
                                                   {"query", console::SecondQuery()}};
  std::string text;
  for (const auto& [name, job] : jobs) {
    text += fmt::format("--- {}\n", name);
    text += Lines(console::RenderFrame(job, {.width = kWidth, .unicode = true}));
    text += console::PlainLine(job, kText, /*compare=*/false) + "\n";
    text += Lines(console::RenderSummary(job, kWidth, kText, "", /*compare=*/true));
  }
  return text;
}

std::string Methods() {
  std::string text;
  Snapshot job = console::SomeSnapshot();
  for (int method = 1; method <= static_cast<int>(EstimateMethod::kJobs); ++method) {
    job.estimate.method = static_cast<EstimateMethod>(method);
    text += console::RenderFrame(job, {.width = kWidth, .unicode = true})[0] + "\n";
  }
  return text;
}

std::string Tables() {
  const console::TableOptions options = {.width = kWidth, .text = kText};
  std::string text = Lines(console::RenderJobTable(
      {console::SomeSnapshot(), console::Failed(), console::Visits()}, options));
  for (const Snapshot& job : {console::SomeSnapshot(), console::Visits(), console::Query()}) {
    text += Lines(console::RenderStageTable(job, options));
    text += Lines(console::RenderTaskTable(job, options));
    text += Lines(console::RenderEstimate({.snapshot = job}, options));
  }
  return text;
}

Explanation SomeWaits() {
  QueryWaits query = {.query = "sql/3", .seconds = 33, .skew_seconds = 12};
  query.waits[WaitReason::kSlots].seconds = 6;
  query.waits[WaitReason::kProcessor] = {25, true};
  query.waits[WaitReason::kMemory].seconds = 4;
  query.culprits = {{.jobs = 0,
                     .resource = WaitReason::kProcessor,
                     .host = "vm",
                     .seconds = 12,
                     .seconds_lower = 0,
                     .seconds_upper = 26},
                    {.job_id = "synthetic",
                     .resource = WaitReason::kProcessor,
                     .host = "vm",
                     .seconds = 8,
                     .sooner_seconds = 7,
                     .sooner_seconds_lower = 5,
                     .sooner_seconds_upper = 9},
                    {.job_id = "app-7", .query = "sql/1", .seconds = 6}};
  query.longest_task = LongestTask{.attempt = {.stage = 1, .index = 2},
                                   .kind = StageKind::kReduce,
                                   .host = "vm",
                                   .seconds = 28,
                                   .mean_seconds = 9,
                                   .group_bytes = 1'200'000,
                                   .group_seconds = 20};
  query.data_growth = DataGrowth{
      .task_seconds = 40, .read_bytes = 20e9, .earlier_read_bytes = 10e9, .all_task_seconds = 80};
  return {.job_id = "app-6", .queries = {query}, .queries_left_out = 3};
}

std::string Waits() {
  const console::TableOptions options = {.width = kWidth, .text = kText};
  Explanation waits = SomeWaits();
  std::string text = Lines(console::RenderWaits(waits, {}, options));
  text += console::WorstWait(waits, kText) + "\n";
  Snapshot ended = console::Succeeded();
  ended.started_at = *ended.ended_at - absl::Seconds(100);
  text += console::TimeSpentText(ended, {}, waits, kText) + "\n";
  waits.more_to_come = true;
  text += Lines(console::RenderWaits(waits, {}, options));
  text += Lines(console::RenderWaits({.job_id = "app-6"}, {}, options));
  text += Lines(console::RenderWaits(waits, {.because_of = "app-8"}, options));
  text += console::WaitsToCome("app-6", absl::Seconds(45), kText) + "\n";
  text += console::WorkflowHasNo("queries", console::Visits()) + "\n";
  return text;
}

std::string Contention() {
  const ContentionRow cause = {.cause = ContentionParty{.job_id = "app-7", .query = "sql/1"},
                               .seconds = LimitedAmount{54, 40, 60},
                               .share = LimitedAmount{0.75, 0.6, 0.9},
                               .responsibility = 1.25,
                               .queries = 2};
  const ContentionRow place = {.resource = WaitReason::kIo,
                               .host = "node-3",
                               .seconds = LimitedAmount{54, 40, 60},
                               .share = LimitedAmount{1, 1, 1},
                               .queries = 2};
  ClusterContention contention = {
      .since = absl::FromUnixSeconds(1'700'000'000),
      .is_partial = true,
      .jobs = 3,
      .lists = {{.kind = ContentionKind::kCausingQueries, .rows = {cause}}}};
  for (const ContentionKind kind :
       {ContentionKind::kHosts, ContentionKind::kResources, ContentionKind::kPlaces}) {
    contention.lists.push_back({.kind = kind, .rows = {place}});
  }
  return Lines(console::RenderContention(contention, {.width = kWidth, .text = kText})) +
         Lines(console::RenderContention({}, {.width = kWidth, .text = kText}));
}

std::string YarnOutcomes() {
  return Lines({YarnEnding("application_1_0001", {.state = "FINISHED",
                                                  .final_status = "SUCCEEDED",
                                                  .is_over = true,
                                                  .outcome = JobOutcome::kSucceeded}),
                YarnEnding("application_1_0001", {.state = "KILLED",
                                                  .final_status = "KILLED",
                                                  .is_over = true,
                                                  .outcome = JobOutcome::kKilled,
                                                  .diagnostics = "killed by user etl"}),
                YarnEnding("application_1_0001", {.state = "RUNNING"}),
                UnknownEnding(3, "http://rm:8088: Couldn't connect to server")});
}

TEST(Words, AreThoseThatWereReviewed) {
  setenv("TZ", "UTC", 1);
  std::string text;
  AppendHelp({}, text);
  text += Section("tidemark help connection", OutputOf({"help", "connection"}));
  text += Section("errors of calls to a master", MasterErrors());
  text += Section("jobs", Jobs());
  text += Section("methods of estimates", Methods());
  text += Section("tables", Tables());
  text += Section("waits", Waits());
  text += Section("contention", Contention());
  text += Section("outcomes that YARN reports", YarnOutcomes());
  if (const char* const file = std::getenv("TIDEMARK_UPDATE_WORDS")) std::ofstream(file) << text;
  std::ifstream reviewed(TIDEMARK_SOURCE_DIR "/tests/cli/words.txt");
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(reviewed), {}))
      << "TIDEMARK_UPDATE_WORDS=tests/cli/words.txt writes the current text; review its diff";
}

}  // namespace
}  // namespace tidemark::cli::words_test
