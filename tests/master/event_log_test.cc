#include "master/store/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "master/store/log_record.h"
#include "proto/wire/encode_event.h"
#include "tests/master/virtual_job.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::store {
namespace {

using test::At;
using test::Closed;
using test::Emitted;
using test::Ended;
using test::Finished;
using test::Key;
using test::M;
using test::Opened;
using test::Partition;
using test::Point;
using test::R;
using test::Read;
using test::Reduced;
using test::Source;
using test::Started;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

// Every kind of event.
std::vector<Event> EveryKind() {
  Source source;
  ReduceProfile reduced = Reduced(R(0), At(15), {Point(1000, 3), Point(70, 0.25, 4)});
  reduced.bins = {{.bin = 59, .count = 1, .size_bytes = 1000, .seconds = 3, .seconds_squared = 9}};
  reduced.keys_named = true;
  reduced.finished_keys = {Ended(Key(7, 1000))};
  reduced.running_group = RunningGroup{KeyHash{8}, absl::Milliseconds(1500), 10, 2, 3};
  reduced.dropped_points = 1;
  JobOpened opened = Opened(1, 1);
  opened.submitted_at = At(-1);
  return {source.At(0, opened),
          source.At(1, Started(M(0), 500)),
          source.At(2.000000001, Read(M(0), 250)),
          source.At(3, Emitted(M(0), {Partition(0, 4000, {Key(7, 1000)})})),
          source.At(3, Finished(M(0))),
          source.At(16, reduced),
          source.At(17, Closed(JobOutcome::kFailed, "why not"))};
}

class EventLog : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tidemark-event-log-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = directory_ + "/job.tidemark-log";
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::unique_ptr<EventLogWriter> Create() {
    auto writer = EventLogWriter::Create(path_, "job-1", options_);
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *std::move(writer);
  }
  static absl::Status Append(EventLogWriter& writer, const Event& event) {
    v1::Envelope envelope;
    wire::EncodeEvent(event, envelope);
    return writer.Append(envelope, event.arrived_at);
  }
  // Every kind of event, each followed by a tick, and an envelope that was malformed.
  void WriteEveryKind() {
    const auto writer = Create();
    for (const Event& event : EveryKind()) {
      EXPECT_TRUE(Append(*writer, event).ok());
      EXPECT_TRUE(writer->AppendTick(event.arrived_at).ok());
    }
    EXPECT_TRUE(writer->AppendMalformed("no source").ok());
    EXPECT_TRUE(writer->AppendMalformed("newer", {"agent", 7}).ok());
  }
  static std::vector<LogRecord> RecordsOfEveryKind() {
    std::vector<LogRecord> records;
    for (const Event& event : EveryKind()) {
      records.emplace_back(event);
      records.emplace_back(Tick{event.arrived_at});
    }
    records.emplace_back(Malformed{});
    records.emplace_back(Malformed{{"agent", 7}});
    return records;
  }

  // All records up to the end or the first error, which is left in `status`.
  static std::vector<LogRecord> ReadAll(EventLogReader& reader, absl::Status& status) {
    std::vector<LogRecord> records;
    while (true) {
      auto record = reader.Next();
      status = record.status();
      if (!record.ok() || !record->has_value()) return records;
      records.push_back(**std::move(record));
    }
  }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void SetBytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  JobMonitorOptions options_;
  std::string directory_;
  std::string path_;
};

TEST_F(EventLog, GivesBackEveryKindOfRecord) {
  WriteEveryKind();
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  absl::Status status;
  EXPECT_EQ(ReadAll(**reader, status), RecordsOfEveryKind());
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(EventLog, GivesBackWhatWasKnownOfEarlierRuns) {
  const std::vector<PastRun> runs = {
      {absl::Seconds(10), absl::Milliseconds(1500), absl::Seconds(30), 4'096},
      {absl::Seconds(11), absl::ZeroDuration(), absl::Seconds(29), 0}};
  std::string record;
  EncodePastRuns(runs, record);
  ASSERT_TRUE(Create()->AppendEncoded(record).ok());
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  absl::Status status;
  EXPECT_EQ(ReadAll(**reader, status), std::vector<LogRecord>{PastRuns{runs}});
}

TEST_F(EventLog, StaysAtItsEnd) {
  WriteEveryKind();
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  absl::Status status;
  ReadAll(**reader, status);
  EXPECT_EQ((*reader)->Next().value(), std::nullopt);
}

TEST_F(EventLog, KnowsWhatIsNeededToMakeTheSameEstimates) {
  options_.indicators = {"hadoop", "nearestfit"};
  options_.lambda = 17;
  options_.abandon_after = absl::Milliseconds(1500);
  Create();
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->job_id(), "job-1");
  EXPECT_EQ((*reader)->options().indicators, options_.indicators);
  EXPECT_EQ((*reader)->options().lambda, 17u);
  EXPECT_EQ((*reader)->options().abandon_after, absl::Milliseconds(1500));
}

TEST_F(EventLog, CanBeReadUpToItsLastTickWhileItIsWritten) {
  const auto writer = Create();
  EXPECT_TRUE(Append(*writer, EveryKind()[0]).ok());
  EXPECT_TRUE(writer->AppendTick(At(1)).ok());
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  absl::Status status;
  EXPECT_EQ(ReadAll(**reader, status).size(), 2u);
}

// Live and replayed monitors see a whole job alike, duplicates, refusals and all.
TEST_F(EventLog, AReplayMakesTheSameSnapshots) {
  const test::Story story = Tell(test::QuadraticJob());
  JobMonitor live("job-1", options_);
  std::vector<Snapshot> snapshots;
  {
    const auto writer = Create();
    std::size_t number = 0;
    for (const Event& event : story.events) {
      EXPECT_TRUE(Append(*writer, event).ok());
      live.Apply(event).IgnoreError();
      if (++number % 7 == 0) {
        EXPECT_TRUE(Append(*writer, event).ok());
        live.Apply(event).IgnoreError();
        EXPECT_TRUE(writer->AppendMalformed("nonsense").ok());
        live.CountRejected();
        Event refused = Source("stranger").At(0, Started(M(77)));
        refused.sequence = number;
        refused.arrived_at = event.arrived_at;
        EXPECT_TRUE(Append(*writer, refused).ok());
        live.Apply(refused).IgnoreError();
        EXPECT_TRUE(writer->AppendTick(event.arrived_at).ok());
        snapshots.push_back(live.Tick(event.arrived_at));
      }
    }
    EXPECT_TRUE(writer->AppendTick(At(story.ends)).ok());
    snapshots.push_back(live.Tick(At(story.ends)));
  }
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  JobMonitor replayed((*reader)->job_id(), (*reader)->options());
  absl::Status status;
  std::vector<Snapshot> again;
  for (const LogRecord& record : ReadAll(**reader, status)) {
    if (const auto snapshot = Replay(record, replayed)) again.push_back(*snapshot);
  }
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(snapshots.back().is_final());
  EXPECT_EQ(again, snapshots);
}

// --- logs that are not whole

TEST_F(EventLog, ATornTailLosesOnlyTheTornRecord) {
  WriteEveryKind();
  const std::vector<LogRecord> records = RecordsOfEveryKind();
  std::size_t left = records.size();
  bool has_header = true;
  for (std::size_t length = Bytes().size(); length-- > 0;) {
    SCOPED_TRACE(length);
    fs::resize_file(path_, length);
    auto reader = EventLogReader::Open(path_);
    if (!reader.ok()) {
      has_header = false;
      EXPECT_EQ(left, 0u) << "the header is whole";
      EXPECT_EQ(reader.status().code(),
                length < 8 ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kDataLoss);
      continue;
    }
    EXPECT_TRUE(has_header);
    absl::Status status;
    const std::vector<LogRecord> read = ReadAll(**reader, status);
    // A log that ends between two records is whole.
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
    ASSERT_TRUE(read.size() == left || (read.size() + 1 == left && !status.ok()));
    left = read.size();
    EXPECT_TRUE(std::equal(read.begin(), read.end(), records.begin()));
  }
  EXPECT_FALSE(has_header);
}

TEST_F(EventLog, SaysWhereATornTailBegins) {
  WriteEveryKind();
  const std::string whole = Bytes();
  SetBytes(whole.substr(0, whole.size() - 1));
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  absl::Status status;
  ReadAll(**reader, status);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path_), HasSubstr("torn record at byte"),
                    HasSubstr("everything before it is good")));
}

TEST_F(EventLog, AFlippedByteIsFoundOut) {
  WriteEveryKind();
  const std::string whole = Bytes();
  const std::vector<LogRecord> records = RecordsOfEveryKind();
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&file](std::size_t position, char byte) {
    file.seekp(static_cast<std::streamoff>(position)).put(byte).flush();
  };
  for (std::size_t position = 0; position < whole.size(); ++position) {
    SCOPED_TRACE(position);
    if (position > 0) put(position - 1, whole[position - 1]);
    put(position, static_cast<char>(whole[position] ^ 0x55));
    auto reader = EventLogReader::Open(path_);
    if (!reader.ok()) continue;
    absl::Status status;
    const std::vector<LogRecord> read = ReadAll(**reader, status);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    ASSERT_LT(read.size(), records.size());
    EXPECT_TRUE(std::equal(read.begin(), read.end(), records.begin()));
  }
}

TEST_F(EventLog, ADamagedLogDoesNotGoOn) {
  WriteEveryKind();
  const std::string whole = Bytes();
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(~flipped[whole.size() / 2]);
  SetBytes(flipped);
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  absl::Status first;
  ReadAll(**reader, first);
  ASSERT_TRUE(absl::IsDataLoss(first));
  EXPECT_EQ((*reader)->Next().status(), first);
}

TEST_F(EventLog, ALengthThatCannotBeIsNotBelieved) {
  Create();
  SetBytes(Bytes() + std::string("\xff\xff\xff\xff\0\0\0\0", 8));
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(std::string((*reader)->Next().status().message()),
              HasSubstr("impossible record length"));
}

struct NoLog {
  const char* name;
  const char* bytes;
};
class EventLogOfOtherBytes : public EventLog, public ::testing::WithParamInterface<NoLog> {};

TEST_P(EventLogOfOtherBytes, IsNotALog) {
  SetBytes(GetParam().bytes);
  const auto reader = EventLogReader::Open(path_);
  EXPECT_TRUE(absl::IsInvalidArgument(reader.status())) << reader.status();
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr("not an event log"));
}

INSTANTIATE_TEST_SUITE_P(All, EventLogOfOtherBytes,
                         ::testing::Values(NoLog{"Empty", ""}, NoLog{"Short", "TIDE"},
                                           NoLog{"Text", "a diary of a journey"},
                                           NoLog{"NewerVersion", "TIDELOG2........"}),
                         [](const auto& row) { return std::string(row.param.name); });

// --- files that cannot be used

TEST_F(EventLog, AMissingFileIsNotFound) {
  const auto reader = EventLogReader::Open(path_);
  EXPECT_TRUE(absl::IsNotFound(reader.status())) << reader.status();
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr(path_));
}

TEST_F(EventLog, ADirectoryIsNoLog) { EXPECT_FALSE(EventLogReader::Open(directory_).ok()); }

TEST_F(EventLog, ADirectoryThatIsNotThereCannotBeWritten) {
  const auto writer = EventLogWriter::Create(directory_ + "/gone/job.tidemark-log", "job-1", {});
  EXPECT_TRUE(absl::IsNotFound(writer.status())) << writer.status();
  EXPECT_THAT(std::string(writer.status().message()), HasSubstr("gone/job.tidemark-log"));
}

TEST_F(EventLog, ADirectoryWithoutPermissionCannotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(absl::IsPermissionDenied(EventLogWriter::Create(path_, "job-1", {}).status()));
  fs::permissions(directory_, fs::perms::owner_all);
}

TEST_F(EventLog, AFullDiskIsToldAndEveryLaterCallFailsAlike) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto writer = EventLogWriter::Create("/dev/full", "job-1", {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const absl::Status status = (*writer)->AppendTick(At(0));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
  EXPECT_EQ((*writer)->AppendTick(At(1)), status);
  EXPECT_EQ((*writer)->AppendMalformed("late"), status);
  EXPECT_EQ(Append(**writer, EveryKind()[0]), status);
}

TEST_F(EventLog, AFullDiskIsToldWithinALongRecord) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto writer = EventLogWriter::Create("/dev/full", "job-1", {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(absl::IsResourceExhausted((*writer)->AppendMalformed(std::string(1 << 20, 'x'))));
}

// --- the name of the file

struct Path {
  const char* name;
  const char* job_id;
  const char* file;
};
class EventLogPathTest : public ::testing::TestWithParam<Path> {};

TEST_P(EventLogPathTest, StaysInItsDirectory) {
  EXPECT_EQ(EventLogPath("logs", GetParam().job_id), std::string("logs/") + GetParam().file);
}

INSTANTIATE_TEST_SUITE_P(All, EventLogPathTest,
                         ::testing::Values(Path{"Plain", "job_2024-05-01",
                                                "job_2024-05-01.tidemark-log"},
                                           Path{"Parent", "../../etc/passwd",
                                                "%2e%2e%2f%2e%2e%2fetc%2fpasswd.tidemark-log"},
                                           Path{"Dots", "..", "%2e%2e.tidemark-log"},
                                           Path{"NotAscii", "\xc3\xa4", "%c3%a4.tidemark-log"},
                                           Path{"Escape", "%2e", "%252e.tidemark-log"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(EventLogPathOfLongIds, FitsIntoAFileNameAndStaysUnique) {
  const std::string id(256, '.');
  const std::string other = id.substr(1) + "-";
  const std::string file = fs::path(EventLogPath("logs", id)).filename();
  EXPECT_LE(file.size(), 255u);
  EXPECT_NE(EventLogPath("logs", id), EventLogPath("logs", other));
}

}  // namespace
}  // namespace tidemark::store
