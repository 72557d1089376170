#include "spark/log_reader.h"

#include "spark/log_files.h"
#include "tests/scratch_directory.h"
#include "tests/spark/packing.h"
#include "tests/spark/some_log.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::spark::log_reader_test {
namespace {

namespace fs = std::filesystem;
using test::Gzip;
using test::Zstd;

constexpr char kStart[] =
    R"({"Event":"SparkListenerApplicationStart","App Name":"sales","App ID":"app-1","Timestamp":1000000})"
    "\n";
constexpr char kJob[] =
    R"({"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1001000,"Stage Infos":[{"Stage ID":0,"Stage Name":"scan","Number of Tasks":1,"Parent IDs":[]}]})"
    "\n";
constexpr char kEnd[] = R"({"Event":"SparkListenerApplicationEnd","Timestamp":1002000})"
                        "\n";

class LogReaderTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes, bool appends = false) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | (appends ? std::ios::app : std::ios::trunc)) << bytes;
    return path.string();
  }

  const test::ScratchDirectory directory_;
  const fs::path folder_ = directory_.path();
};

struct Outcome {
  std::vector<Event> events;
  absl::Status status;
  LogCounts counts;
  std::vector<std::string> remarks;
};

Outcome ReadOn(LogReader& reader) {
  Outcome outcome;
  for (;;) {
    auto event = reader.Next();
    if (!event.ok()) outcome.status = event.status();
    if (!event.ok() || !*event) break;
    outcome.events.push_back(**std::move(event));
  }
  outcome.counts = reader.counts();
  outcome.remarks = reader.remarks();
  return outcome;
}

Outcome Read(const std::string& path) {
  const auto reader = LogReader::Open(path, {});
  if (!reader.ok()) return {.status = reader.status()};
  return ReadOn(**reader);
}

std::string Message(const Outcome& outcome) { return std::string(outcome.status.message()); }

// Returns the remarks on a log, which must be readable.
std::vector<std::string> RemarksOn(const std::string& path) {
  return ReadOn(*LogReader::Open(path, {}).value()).remarks;
}

TEST_F(LogReaderTest, LogsOfSparkBecomeJobsThatEnd) {
  struct Log {
    const char* name;
    std::uint32_t stages;
    std::uint32_t finished_tasks;
    std::uint32_t failed_attempts;
  };
  // The counts come from the index of the data set.
  for (const Log& log :
       {Log{"app-20161116163331-0000", 1, 16, 8}, Log{"app-20180109111548-0000", 2, 20, 2},
        Log{"local-1430917381534", 2, 110, 0}, Log{"local-1642039451826", 6, 35, 0}}) {
    const Outcome outcome = Read(std::string(TIDEMARK_SPARK_LOGS) + "/" + log.name + ".zst");
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    std::uint32_t finished = 0;
    std::uint32_t failed = 0;
    std::set<std::uint32_t> ran;
    JobMonitor monitor(log.name, {});
    for (const Event& event : outcome.events) {
      EXPECT_TRUE(monitor.Apply(event).ok()) << log.name << ": " << monitor.Apply(event);
      if (const auto* changed = std::get_if<AttemptChanged>(&event.body)) {
        ran.insert(changed->attempt.stage);
        finished += changed->state == AttemptState::kFinished ? 1 : 0;
        failed += changed->state == AttemptState::kFailed ? 1 : 0;
      }
    }
    EXPECT_EQ(ran.size(), log.stages) << log.name;
    EXPECT_EQ(finished, log.finished_tasks) << log.name;
    EXPECT_EQ(failed, log.failed_attempts) << log.name;
    const LogCounts& counts = outcome.counts;
    EXPECT_EQ(counts.contradictions + counts.broken_events + counts.oversized_events, 0u);
    EXPECT_EQ(counts.missing_events, 0u) << log.name;
    const Snapshot last = monitor.Tick(outcome.events.back().arrived_at);
    EXPECT_TRUE(monitor.is_closed()) << log.name;
    EXPECT_EQ(last.coverage->anomalies, 0u) << log.name;
    EXPECT_EQ(last.coverage->lost_events, 0u) << log.name;
    EXPECT_EQ(last.coverage->missing_task_ends, 0u) << log.name;
  }
}

TEST_F(LogReaderTest, RunsOfAnApplicationHaveTheSameSignatures) {
  std::vector<std::vector<std::string>> runs;
  for (const char* name : {"eventlog_v2_local-1795466270213", "local-1795466322781.zst"}) {
    const Outcome outcome = Read(std::string(TIDEMARK_SPARK_LOGS) + "/" + name);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    std::set<std::string> signatures;
    std::set<std::uint32_t> stages;
    for (const Event& event : outcome.events) {
      const auto* stage = std::get_if<StageOpened>(&event.body);
      if (stage == nullptr) continue;
      signatures.insert(stage->signature);
      stages.insert(stage->stage);
    }
    EXPECT_EQ(stages.size(), 16u);
    EXPECT_EQ(signatures.size(), stages.size());
    runs.emplace_back(signatures.begin(), signatures.end());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST_F(LogReaderTest, ARollingFolderIsReadByNumbers) {
  const std::string log = "eventlog_v2_app-1/";
  Write(log + "appstatus_app-1.inprogress", "");
  Write(log + "events_1_app-1.zstd", Zstd(kStart));
  Write(log + "events_10_app-1.zstd", Zstd(kEnd));
  Write(log + "events_9_app-1.zstd", Zstd(kJob));
  Write(log + "events_2_app-1.zstd", Zstd(""));
  for (int i = 3; i < 9; ++i) Write(log + "events_" + std::to_string(i) + "_app-1.zstd", "");
  const Outcome whole = Read((folder_ / log).string());
  EXPECT_TRUE(whole.status.ok()) << whole.status;
  ASSERT_EQ(whole.events.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<GroupOpened>(whole.events[1].body));
  EXPECT_TRUE(std::holds_alternative<StageOpened>(whole.events[2].body));
  EXPECT_TRUE(std::holds_alternative<JobClosed>(whole.events[3].body));

  Write(log + "events_9_app-1.zstd.compact", Zstd(kStart));
  EXPECT_EQ(Read((folder_ / log).string()).events.size(), 2u);
}

TEST_F(LogReaderTest, AFileThatEndsWithinAnEventLosesNoEventOfTheNextFile) {
  for (const bool is_packed : {false, true}) {
    const std::string log = is_packed ? "eventlog_v2_app-2/" : "eventlog_v2_app-1/";
    const auto packed = [&](const std::string& text) { return is_packed ? Zstd(text) : text; };
    Write(log + "events_1_app-1", packed(kStart + std::string(kJob).substr(0, 40)));
    Write(log + "events_2_app-1", packed(kEnd));
    const Outcome outcome = Read((folder_ / log).string());
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    ASSERT_EQ(outcome.events.size(), 2u);
    EXPECT_EQ(std::get<JobClosed>(outcome.events[1].body).outcome, JobOutcome::kSucceeded);
    EXPECT_EQ(outcome.counts.broken_events, 1u);
    EXPECT_THAT(outcome.remarks,
                ElementsAre(HasSubstr("events_1_app-1 ends within an event, which is lost")));
  }
}

TEST_F(LogReaderTest, AMissingFileIsNamedAndItsEventsCountAsLost) {
  const std::string log = (folder_ / "eventlog_v2_app-1").string();
  Write("eventlog_v2_app-1/events_1_app-1", std::string(kStart) + kJob);
  Write("eventlog_v2_app-1/events_3_app-1", kEnd);
  const Outcome outcome = Read(log);
  ASSERT_EQ(outcome.events.size(), 4u);
  EXPECT_EQ(outcome.events[3].sequence, 5u);
  EXPECT_THAT(outcome.remarks, ElementsAre(HasSubstr("events_2_app-1 is missing")));
  EXPECT_EQ(outcome.counts.missing_events, 1u);
  fs::rename(folder_ / "eventlog_v2_app-1/events_3_app-1",
             folder_ / "eventlog_v2_app-1/events_5_app-1");
  EXPECT_THAT(Read(log).remarks,
              ElementsAre(HasSubstr("the 3 files from events_2_app-1 to events_4_app-1")));
  fs::remove(folder_ / "eventlog_v2_app-1/events_1_app-1");
  Write("eventlog_v2_app-1/events_5_app-1", kJob);
  EXPECT_THAT(Message(Read(log)), HasSubstr("from events_1_app-1 to events_4_app-1"));
}

TEST_F(LogReaderTest, AFileBesideItsCompressedCopyIsReadOnce) {
  Write("eventlog_v2_app-1/events_1_app-1", kStart);
  Write("eventlog_v2_app-1/events_1_app-1.zstd", Zstd(kStart));
  Write("eventlog_v2_app-1/events_2_app-1.zstd", Zstd(kEnd));
  const auto files = FilesOfLog((folder_ / "eventlog_v2_app-1").string()).value();
  EXPECT_THAT(files, ElementsAre(::testing::EndsWith("events_1_app-1"),
                                 ::testing::EndsWith("events_2_app-1.zstd")));
}

TEST_F(LogReaderTest, AClockThatIsSetBackIsNamed) {
  const std::string job_end =
      R"({"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":9002000})"
      "\n";
  std::string start = kStart;
  start.replace(start.find("1000000"), 7, "9000000");
  std::string job = kJob;
  job.replace(job.find("1001000"), 7, "9001000");
  std::string set_back = job_end;
  set_back.replace(set_back.find("9002000"), 7, "5403000");
  std::string again = job;
  again.replace(again.find("9001000"), 7, "5404000");
  again.replace(again.find("Job ID\":0"), 9, "Job ID\":1");
  const Outcome outcome = Read(Write("app", start + job + set_back + again));
  EXPECT_THAT(outcome.remarks,
              ElementsAre(HasSubstr("clock was set back by 59 min 58 s at 1970-01-01 02:30:01")));
  EXPECT_EQ(outcome.events.back().arrived_at, absl::FromUnixMillis(9'002'000));
}

TEST_F(LogReaderTest, AFrameThatANextFileFollowsMayHaveLostEvents) {
  const std::string frame = Zstd(kJob);
  Write("eventlog_v2_app-1/events_1_app-1.zstd", Zstd(kStart) + frame.substr(0, 20));
  Write("eventlog_v2_app-1/events_2_app-1.zstd", Zstd(kEnd));
  const Outcome outcome = Read((folder_ / "eventlog_v2_app-1").string());
  EXPECT_EQ(outcome.events.size(), 2u);
  EXPECT_THAT(outcome.remarks, ElementsAre(HasSubstr("within a compressed frame")));
}

TEST_F(LogReaderTest, ATruncatedCompressedLogIsNamedUnlessItIsBeingWritten) {
  const std::string rest = std::string(kJob) + kEnd;
  for (const std::string& packed : {Gzip(kStart) + Gzip(rest), Zstd(kStart) + Zstd(rest)}) {
    const std::string cut = packed.substr(0, packed.size() - 5);
    EXPECT_THAT(RemarksOn(Write("app.gz", cut)),
                Contains(HasSubstr("app.gz ends within a compressed frame")));
    EXPECT_THAT(RemarksOn(Write("app.inprogress", cut)), IsEmpty());
    EXPECT_THAT(RemarksOn(Write("app.gz", packed)), IsEmpty());
  }
}

// A rolled log keeps the names of its files while Spark writes the last file. Its status file shows
// that the application is running.
TEST_F(LogReaderTest, TheLastFileOfARolledLogIsNotTruncatedWhileItsApplicationRuns) {
  const std::string packed = Zstd(kJob);
  Write("eventlog_v2_app-1/events_1_app-1.zstd", Zstd(kStart));
  Write("eventlog_v2_app-1/events_2_app-1.zstd", packed.substr(0, packed.size() - 5));
  for (const bool runs : {true, false}) {
    const std::string status = Write("eventlog_v2_app-1/appstatus_app-1.inprogress", "");
    if (!runs) fs::rename(status, folder_ / "eventlog_v2_app-1/appstatus_app-1");
    EXPECT_EQ(RemarksOn((folder_ / "eventlog_v2_app-1").string()).empty(), runs);
  }
}

TEST_F(LogReaderTest, EventsBeforeTheDamageOfAFrameCount) {
  std::string damaged = Gzip(std::string(kStart) + kJob + kEnd);
  damaged[damaged.size() - 8] ^= 1;  // Changes the checksum.
  const Outcome outcome = Read(Write("app.gz", damaged));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(outcome.counts.events, 3u);
}

// Three of five tasks finished, and the ends of two are missing.
TEST_F(LogReaderTest, NamesMissingEndsOfTasks) {
  const nlohmann::json stage = test::SomeLog::StageInfo(0, 5);
  test::SomeLog log;
  log.StartJob(0, 0, {stage}).Submit(0, stage);
  for (const std::uint32_t task : {0u, 1u, 2u, 3u, 4u}) log.StartTask(0, 0, task);
  for (const std::uint32_t task : {0u, 2u, 4u}) log.EndTask(0, 1000, 0, task);
  log.Complete(1000, stage).EndJob(1000, 0).End(2000);
  const auto reader = LogReader::Open(Write("app-1", log.text()), {}).value();
  ReadOn(*reader);
  EXPECT_EQ(reader->counts().missing_ends, 2u);
  EXPECT_THAT(RemarksOn(*reader, 0),
              ElementsAre(HasSubstr("at least 2 ends of tasks are missing from the log")));
}

// Returns the start of job `job`, which has as many stages as each job before it.
std::string StartOf(std::uint32_t job, std::uint32_t stages) {
  std::string text = "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":" + std::to_string(job) +
                     ",\"Submission Time\":1700000001000,\"Properties\":{},\"Stage Infos\":[";
  for (std::uint32_t i = 0; i < stages; ++i) {
    text += i > 0 ? ",{\"Stage ID\":" : "{\"Stage ID\":";
    text += std::to_string(job * stages + i);
    text += ",\"Stage Attempt ID\":0,\"Stage Name\":\"s\",\"Number of Tasks\":1,\"Parent IDs\":[]}";
  }
  return text + "]}\n";
}

TEST_F(LogReaderTest, RejectsAnApplicationWithTooManyStagesEarly) {
  std::string text = test::SomeLog().text();
  constexpr std::uint32_t kStagesOfJob = 10'000;
  for (std::uint32_t job = 0; job <= JobLimits::kStagesMax / kStagesOfJob; ++job) {
    text += StartOf(job, kStagesOfJob);
  }
  const Outcome outcome = Read(Write("large", text));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(outcome), HasSubstr("large: the application has more than 70000 stages"));
}

TEST_F(LogReaderTest, RejectsAnApplicationWithTooManyJobsEarly) {
  std::string text = test::SomeLog().text();
  for (std::uint32_t job = 0; job <= LogReader::kGroupsMax; ++job) text += StartOf(job, 1);
  const Outcome outcome = Read(Write("large", text));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(outcome),
              HasSubstr("large: the application has more than 50000 jobs and SQL queries"));
}

TEST_F(LogReaderTest, ALogThatIsBeingWrittenIsFollowed) {
  const std::string log = (folder_ / "eventlog_v2_app-1").string();
  const std::string frame = Zstd(kJob);
  Write("eventlog_v2_app-1/events_1_app-1.zstd", Zstd(kStart) + frame.substr(0, 20));
  const auto reader = LogReader::Open(log, {.follows = true}).value();
  EXPECT_EQ(ReadOn(*reader).events.size(), 1u);
  EXPECT_TRUE(reader->is_cut());
  EXPECT_EQ(ReadOn(*reader).events.size(), 0u);
  Write("eventlog_v2_app-1/events_1_app-1.zstd", frame.substr(20), /*appends=*/true);
  EXPECT_EQ(ReadOn(*reader).events.size(), 2u);  // the job as a group, and its stage
  EXPECT_FALSE(reader->is_cut());
  Write("eventlog_v2_app-1/events_2_app-1.zstd", Zstd(kEnd));
  EXPECT_EQ(ReadOn(*reader).events.size(), 0u);  // The end of the job may follow.
  reader->Finish();
  ASSERT_EQ(ReadOn(*reader).events.size(), 1u);
  EXPECT_TRUE(reader->application().is_closed());
}

TEST_F(LogReaderTest, ATruncatedLogCountsUpToItsEnd) {
  const std::string whole = std::string(kStart) + kJob + kEnd;
  const std::vector<Event> events = Read(Write("whole", whole)).events;
  ASSERT_EQ(events.size(), 4u);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Outcome cut = Read(Write("cut", whole.substr(0, size)));
    ASSERT_LE(cut.events.size(), events.size());
    EXPECT_TRUE(std::equal(cut.events.begin(), cut.events.end(), events.begin())) << size;
    EXPECT_EQ(cut.status.ok(), !cut.events.empty()) << size;
  }
}

TEST_F(LogReaderTest, ReportsWhyALogIsRejected) {
  EXPECT_EQ(Read((folder_ / "none").string()).status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(Read("/dev/null")), HasSubstr("Not a regular file"));
  fs::create_directories(folder_ / "folder");
  EXPECT_THAT(Message(Read((folder_ / "folder").string())),
              HasSubstr("contains no Spark event log"));
  EXPECT_THAT(Message(Read(Write("empty", ""))),
              HasSubstr("is neither a Spark event log nor a Hadoop history file"));
  EXPECT_THAT(Message(Read(Write("large", std::string(3 << 20, 'x')))),
              HasSubstr("is neither a Spark event log nor a Hadoop history file"));
  EXPECT_THAT(Message(Read(Write("idle", R"({"Event":"SparkListenerLogStart"})"))),
              HasSubstr("never started"));
  EXPECT_THAT(Message(Read(Write("late", std::string(kJob) + kStart + kEnd))),
              HasSubstr("late: the log has no SparkListenerApplicationStart"));
  EXPECT_THAT(Message(Read(Write("log.bz2", "BZh91AY"))),
              HasSubstr("log.bz2: compressed with bzip2"));
  std::string damaged = Zstd(kStart) + Zstd(kJob);
  damaged[Zstd(kStart).size()] ^= 1;
  const Outcome outcome = Read(Write("damaged", damaged));
  EXPECT_EQ(outcome.events.size(), 1u);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tidemark::spark::log_reader_test
