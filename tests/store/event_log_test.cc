#include "master/store/event_log.h"

#include <sys/mman.h>
#include <unistd.h>

#include "master/store/log_record.h"
#include "tests/monitor/virtual_job.h"
#include "tests/scratch_directory.h"
#include "tests/store/written_log.h"
#include "tests/test.h"

namespace tidemark::store::event_log_test {
namespace {

using test::Ended;
using test::Read;

namespace fs = std::filesystem;

// Returns one event of every kind.
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
  const AttemptId task = {.stage = 2, .index = 1, .attempt = 3, .stage_attempt = 1};
  TaskHeartbeat waits = Read(task, 9);
  waits.time = {.cpu = absl::Seconds(1), .waits = {{WaitReason::kIo, absl::ZeroDuration()}}};
  return {source.At(0, opened),
          source.At(0, StageOpened{.stage = 2, .attempt = 1, .task_bytes = {}}),
          source.At(0, ExecutorOpened{.executor = 3, .host = "a"}),
          source.At(0, UnknownEvent{}),
          source.At(1, waits),
          source.At(1, Started(M(0), 500)),
          source.At(2.000000001, Read(M(0), 250)),
          source.At(3, Emitted(M(0), {Partition(0, 4000, {Key(7, 1000)})})),
          source.At(3, Finished(M(0))),
          source.At(16, reduced),
          source.At(17, Closed(JobOutcome::kFailed, "why not"))};
}

class EventLog : public ::testing::Test {
 protected:
  std::unique_ptr<WrittenLog> Create() {
    auto writer = WrittenLog::Create(path_, "job-1", options_);
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *std::move(writer);
  }
  // Writes events of every kind, each followed by a tick, and two rejected events.
  void WriteEveryKind() {
    const auto writer = Create();
    for (const Event& event : EveryKind()) {
      EXPECT_TRUE(writer->Append(event).ok());
      EXPECT_TRUE(writer->AppendTick(event.arrived_at).ok());
    }
    EXPECT_TRUE(writer->AppendRefused("no source").ok());
    EXPECT_TRUE(writer->AppendRefused("newer", {"agent", 7}).ok());
  }
  static std::vector<LogRecord> RecordsOfEveryKind() {
    std::vector<LogRecord> records;
    for (const Event& event : EveryKind()) {
      records.emplace_back(event);
      records.emplace_back(Tick{event.arrived_at});
    }
    records.emplace_back(Refused{});
    records.emplace_back(Refused{{"agent", 7}});
    return records;
  }

  // The records of a log up to its end or its first error.
  struct Contents {
    std::vector<LogRecord> records;
    absl::Status status;
  };
  static Contents ReadAll(EventLogReader& reader) {
    Contents contents;
    while (true) {
      auto record = reader.Next();
      contents.status = record.status();
      if (!record.ok() || !record->has_value()) return contents;
      contents.records.push_back(**std::move(record));
    }
  }
  Contents ReadFile() const {
    auto reader = EventLogReader::Open(path_);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? ReadAll(**reader) : Contents{{}, reader.status()};
  }

  std::string Bytes() const { return test::BytesOf(path_); }
  void SetBytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  JobMonitorOptions options_;
  const test::ScratchDirectory directory_;
  const std::string path_ = directory_ / "job.tidemark-log";
};

TEST_F(EventLog, ReturnsEveryKindOfRecord) {
  WriteEveryKind();
  const Contents contents = ReadFile();
  EXPECT_EQ(contents.records, RecordsOfEveryKind());
  EXPECT_TRUE(contents.status.ok()) << contents.status;
}

TEST_F(EventLog, ReturnsPastRuns) {
  const std::vector<PastRun> runs = {
      {absl::Seconds(10), absl::Milliseconds(1500), absl::Seconds(30), 4'096},
      {.map_time = absl::Seconds(11), .reduce_time = absl::Seconds(29), .interval_score = 1.25},
      {.groups = {{.bin = 5, .count = 50, .size_bytes = 3000, .seconds = 42.5},
                  {.bin = 9, .count = 1, .seconds = 2, .seconds_squared = 4}},
       .timed_groups = {{{}, {{3, 900, 90, 6, 12.5}}, {{1, 7, 70, 2, 4}}}}},
      {.slots = 2,
       .stages = {{.name = "scan", .tasks = 1, .seconds = {{{2.5}}}},
                  {.name = "join", .parents = {0}, .tasks = 1}}}};
  std::string record;
  const auto writer = Create();
  EncodePastRuns(runs, writer->key(), record);
  ASSERT_TRUE(writer->AppendEncoded(record).ok());
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(ReadFile().records, std::vector<LogRecord>{PastRuns{runs}});
}

TEST_F(EventLog, StaysAtItsEnd) {
  WriteEveryKind();
  auto reader = EventLogReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  ReadAll(**reader);
  EXPECT_EQ((*reader)->Next().value(), std::nullopt);
}

TEST_F(EventLog, StoresTheOptionsOfTheEstimates) {
  options_.indicators = {"hadoop", "nearestfit"};
  options_.lambda = 17;
  options_.abandon_after = absl::Milliseconds(1500);
  Create();
  auto reader = EventLogReader::Open(path_).value();
  EXPECT_EQ(reader->job_id(), "job-1");
  EXPECT_EQ(reader->options().indicators, options_.indicators);
  EXPECT_EQ(reader->options().lambda, 17u);
  EXPECT_EQ(reader->options().abandon_after, absl::Milliseconds(1500));
}

TEST_F(EventLog, CanBeReadUpToItsLastTickWhileItIsWritten) {
  const auto writer = Create();
  EXPECT_TRUE(writer->Append(EveryKind()[0]).ok());
  EXPECT_TRUE(writer->AppendTick(At(1)).ok());
  EXPECT_EQ(ReadFile().records.size(), 2u);
}

// Live and replayed monitors give the same snapshots for a whole job, with duplicates and
// rejections.
TEST_F(EventLog, AReplayMakesTheSameSnapshots) {
  const test::Story story = Tell(test::QuadraticJob());
  JobMonitor live("job-1", options_);
  std::vector<Snapshot> snapshots;
  {
    const auto writer = Create();
    std::size_t number = 0;
    for (const Event& event : story.events) {
      EXPECT_TRUE(writer->Append(event).ok());
      live.Apply(event).IgnoreError();
      if (++number % 7 == 0) {
        EXPECT_TRUE(writer->Append(event).ok());
        live.Apply(event).IgnoreError();
        EXPECT_TRUE(writer->AppendRefused("nonsense").ok());
        live.CountRejected();
        Event refused = Source("stranger").At(0, Started(M(77)));
        refused.sequence = number;
        refused.arrived_at = event.arrived_at;
        EXPECT_TRUE(writer->Append(refused).ok());
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
  const Contents contents = ReadAll(**reader);
  std::vector<Snapshot> again;
  for (const LogRecord& record : contents.records) {
    if (const auto snapshot = Replay(record, replayed)) again.push_back(*snapshot);
  }
  EXPECT_TRUE(contents.status.ok()) << contents.status;
  EXPECT_TRUE(snapshots.back().is_final);
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
    const auto [read, status] = ReadAll(**reader);
    // A log that ends between two records is complete.
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
    ASSERT_TRUE(read.size() == left || (read.size() + 1 == left && !status.ok()));
    left = read.size();
    EXPECT_TRUE(std::equal(read.begin(), read.end(), records.begin()));
  }
  EXPECT_FALSE(has_header);
}

TEST_F(EventLog, ReportsThePositionOfATornTail) {
  WriteEveryKind();
  const std::string whole = Bytes();
  SetBytes(whole.substr(0, whole.size() - 1));
  const absl::Status status = ReadFile().status;
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path_), HasSubstr("torn record at byte"),
                    HasSubstr("all earlier records are intact")));
}

// --- logs with damage in the middle

// A log as a master writes it, in which the records that open the job occur twice.
class DamagedLog : public EventLog {
 protected:
  void SetUp() override {
    writer_ = Create();
    Note();
    for (const Event& event : EveryKind()) {
      const bool is_opening = records_.empty();
      for (int copies = is_opening ? 2 : 1; copies > 0; --copies) {
        EXPECT_TRUE(writer_->Append(event).ok());
        Note();
      }
      records_.emplace_back(event);
    }
    EXPECT_TRUE(writer_->AppendTick(At(20)).ok());
    Note();
    records_.emplace_back(Tick{At(20)});
    whole_ = Bytes();
  }
  // Stores the position after a record.
  void Note() {
    EXPECT_TRUE(writer_->Flush().ok());
    ends_.push_back(fs::file_size(path_));
  }
  // The contents of a log with these bytes. `damages` are not among its records.
  struct Damaged : Contents {
    std::vector<Damage> damages;
  };
  Damaged Read(const std::string& bytes) const {
    // The log is in memory, since writing many files would be slow.
    EXPECT_EQ(ftruncate(memory_, 0), 0);
    EXPECT_EQ(pwrite(memory_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    auto reader = EventLogReader::Open("/proc/self/fd/" + std::to_string(memory_));
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) return {};
    EXPECT_EQ((*reader)->job_id(), "job-1");
    Damaged log{ReadAll(**reader), {}};
    EXPECT_LE((*reader)->offset(), bytes.size());
    std::erase_if(log.records, [&](const LogRecord& record) {
      const auto* damage = std::get_if<Damage>(&record);
      if (damage != nullptr) log.damages.push_back(*damage);
      return damage != nullptr;
    });
    return log;
  }

  void TearDown() override { close(memory_); }

  const int memory_ = memfd_create("log", 0);
  std::unique_ptr<WrittenLog> writer_;
  std::vector<LogRecord> records_;   // records that a reader should return
  std::vector<std::uint64_t> ends_;  // end positions of all written records, including copies
  std::string whole_;
};

TEST_F(DamagedLog, AFlippedBitCostsAtMostItsOwnRecordAndIsReported) {
  for (std::size_t bit = 0; bit < 8 * whole_.size(); ++bit) {
    SCOPED_TRACE(bit);
    const std::size_t position = bit / 8;
    std::string bytes = whole_;
    bytes[position] = static_cast<char>(bytes[position] ^ (1 << bit % 8));
    const Damaged log = Read(bytes);
    ASSERT_TRUE(log.status.ok()) << log.status;
    ASSERT_EQ(log.damages.size(), 1u);
    ASSERT_LE(log.damages[0].at, position);
    ASSERT_GT(log.damages[0].at + log.damages[0].bytes, position);
    // Start, header and opening occur twice, and every other record once.
    std::vector<LogRecord> expected = records_;
    if (position >= ends_[2]) {
      const auto hit = std::upper_bound(ends_.begin(), ends_.end(), position) - ends_.begin();
      expected.erase(expected.begin() + hit - 2);
      ASSERT_GE(log.damages[0].records, 1u);
    } else {
      ASSERT_EQ(log.damages[0].records, 0u) << "there is a copy";
    }
    ASSERT_EQ(log.records, expected);
  }
}

// Blocks are zeroed, bits are flipped, and bytes are removed and added. All records without damage
// must be read.
TEST_F(DamagedLog, ReturnsAllOtherRecordsInOrderDespiteDamageInManyPlaces) {
  std::minstd_rand random(1);
  for (int round = 0; round < 2'000; ++round) {
    SCOPED_TRACE(round);
    std::string bytes = whole_;
    // Starts at the end, so that positions remain valid.
    for (std::size_t i = ends_.size(); i-- > 3;) {
      const std::uint64_t begin = ends_[i - 1];
      const std::uint64_t size = ends_[i] - begin;
      if (random() % 3 != 0) continue;
      const std::size_t at = begin + random() % size;
      const std::size_t count = 1 + random() % (ends_[i] - at);
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
        case 1:
          bytes.replace(at, count, count, '\xa5');
          break;
        case 2:
          bytes.erase(at, count);
          break;
        default:
          bytes.insert(at, count, '\0');
      }
    }
    std::vector<LogRecord> expected = {records_[0]};
    for (std::size_t i = 1, from = ends_[2]; i < records_.size(); ++i) {
      const std::string written = whole_.substr(ends_[i + 1], ends_[i + 2] - ends_[i + 1]);
      const std::size_t found = bytes.find(written, from);
      if (found == std::string::npos) continue;
      expected.push_back(records_[i]);
      from = found + written.size();
    }
    const Damaged log = Read(bytes);
    ASSERT_EQ(log.records, expected) << log.status;
    // A missing record leaves only a gap in the sequence numbers.
    const bool is_silent = log.damages.empty() && log.status.ok();
    ASSERT_TRUE(!is_silent || bytes == whole_ || bytes.size() < whole_.size());
  }
}

TEST_F(DamagedLog, DistinguishesATornTailFromDamageAtTheEnd) {
  const Damaged torn = Read(whole_.substr(0, whole_.size() - 1));
  EXPECT_TRUE(absl::IsDataLoss(torn.status)) << "a crash left it unfinished";
  EXPECT_TRUE(torn.damages.empty());
  for (const std::size_t of_frame : {0u, 4u, 8u, 12u}) {
    std::string flipped = whole_;
    flipped[ends_[ends_.size() - 2] + of_frame] ^= 1;
    const Damaged log = Read(flipped);
    EXPECT_TRUE(log.status.ok()) << "it was whole once: " << log.status;
    EXPECT_EQ(log.damages.size(), 1u);
  }
}

TEST_F(DamagedLog, FindsATornTailAfterDamage) {
  std::string bytes = whole_.substr(0, whole_.size() - 1);
  bytes[ends_[4] - 1] ^= 1;
  const Damaged log = Read(bytes);
  EXPECT_EQ(log.records.size(), records_.size() - 2);
  EXPECT_EQ(log.damages.size(), 1u);
  EXPECT_TRUE(absl::IsDataLoss(log.status));
}

// The payload of one record contains complete records. A sender who knows the format but not the
// key of the log could craft them. Damage to the frame around them must not make them valid.
TEST_F(DamagedLog, ARecordInARecordStaysAPayload) {
  std::string inner;
  for (const LogKey key : {LogKey{1}, LogKey{0x1234'5678'9abc'def0}}) {
    EncodeTick(At(1000), key, inner);
    EncodeRestart(At(1000), {}, key, inner);
    EncodeLogStart("job-1", options_, "", key, inner);
  }
  writer_.reset();
  writer_ = Create();
  ASSERT_TRUE(writer_->Flush().ok());
  const std::string before = Bytes();
  std::string outer;
  EncodeFramed(inner, writer_->key(), outer);
  ASSERT_TRUE(writer_->AppendEncoded(outer).ok());
  ASSERT_TRUE(writer_->AppendTick(At(3)).ok());
  const std::string bytes = Bytes();
  for (std::size_t position = before.size(); position < before.size() + 12; ++position) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[position] = static_cast<char>(damaged[position] ^ (1 << bit));
      const Damaged log = Read(damaged);
      EXPECT_EQ(log.records, std::vector<LogRecord>{Tick{At(3)}});
      EXPECT_EQ(log.damages.size(), 1u);
    }
  }
}

TEST_F(DamagedLog, EstimatesTheNumberOfLostRecords) {
  std::string bytes = whole_;
  bytes[ends_[5] - 1] ^= 1;
  bytes[ends_[6] - 1] ^= 1;
  const std::vector<Damage> damages = Read(bytes).damages;
  ASSERT_EQ(damages.size(), 1u) << "one stretch";
  EXPECT_EQ(damages[0].records, 2u);
  EXPECT_EQ(damages[0].at, ends_[4]);
  EXPECT_EQ(damages[0].bytes, ends_[6] - ends_[4]);
  EXPECT_EQ(RecordReader::Describe(kEventLog, "LOG", {.at = 7, .bytes = 9, .records = 2}),
            "event log LOG: damaged at byte 7 (9 bytes): 2 records were probably lost");
}

// A later version may reject an event that an earlier version accepted. The log then loses only
// this event.
TEST_F(EventLog, ReturnsAnInvalidEventAsRefused) {
  const auto writer = Create();
  EXPECT_TRUE(writer->Append(EveryKind()[0]).ok());
  std::string record;
  EncodeReceived({.source_id = "s", .sequence = 4, .body = "nonsense"}, At(1), writer->key(),
                 record);
  ASSERT_TRUE(writer->AppendEncoded(record).ok());
  ASSERT_TRUE(writer->AppendTick(At(2)).ok());
  const Contents contents = ReadFile();
  EXPECT_EQ(contents.records,
            (std::vector<LogRecord>{EveryKind()[0], Refused{{"s", 4}}, Tick{At(2)}}));
  EXPECT_TRUE(contents.status.ok()) << contents.status;
}

// --- logs of earlier versions

TEST_F(EventLog, RejectsALogOfAnEarlierVersionWithItsName) {
  for (const char* magic : {"TIDELOG1", "TIDELOG2"}) {
    SetBytes(std::string(magic) + std::string(100, 'x'));
    const absl::Status status = EventLogReader::Open(path_).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("was written by an earlier version of Tidemark, which this version"));
  }
}

// --- a log that continues as a copy of another

TEST_F(EventLog, ATraceContinuesAsACopyOfItsJournal) {
  const std::string trace = directory_ / "trace";
  const auto journal = Create();
  ASSERT_TRUE(journal->AppendTick(At(1)).ok());
  const std::size_t before = Bytes().size();
  ASSERT_TRUE(journal->AppendTick(At(2)).ok());
  const std::string bytes = Bytes();
  struct Case {
    const char* name;
    std::string trace;
  };
  for (const Case& row :
       {Case{"missing", ""}, Case{"behind", bytes.substr(0, before)},
        Case{"torn", bytes.substr(0, before + 3)}, Case{"ahead", bytes + "more"},
        Case{"another log",
             "TIDELOG4 of another job, with another key, of whatever length it is"}}) {
    SCOPED_TRACE(row.name);
    fs::remove(trace);
    if (!row.trace.empty()) std::ofstream(trace, std::ios::binary) << row.trace;
    auto writer = EventLogWriter::Continue(trace, path_, bytes.size(), journal->key()).value();
    ASSERT_TRUE(WrittenLog(std::move(writer), journal->key()).AppendTick(At(3)).ok());
    std::string expected = bytes;
    EncodeTick(At(3), journal->key(), expected);
    EXPECT_EQ(test::BytesOf(trace), expected);
  }
}

struct NoLog {
  const char* name;
  const char* bytes;
};
class EventLogOfOtherBytes : public EventLog, public ::testing::WithParamInterface<NoLog> {};

TEST_P(EventLogOfOtherBytes, RejectsOtherFiles) {
  SetBytes(GetParam().bytes);
  const auto reader = EventLogReader::Open(path_);
  EXPECT_TRUE(absl::IsInvalidArgument(reader.status())) << reader.status();
  EXPECT_THAT(
      std::string(reader.status().message()),
      HasSubstr(path_ + " is not an event log, or was written by a newer version of Tidemark"));
}

INSTANTIATE_TEST_SUITE_P(All, EventLogOfOtherBytes,
                         ::testing::Values(NoLog{"Empty", ""}, NoLog{"Short", "TIDE"},
                                           NoLog{"Text", "a diary of a journey"},
                                           NoLog{"NewerVersion",
                                                 "TIDELOG5........................"}),
                         [](const auto& row) { return std::string(row.param.name); });

// --- unusable files

TEST_F(EventLog, AMissingFileIsNotFound) {
  const auto reader = EventLogReader::Open(path_);
  EXPECT_TRUE(absl::IsNotFound(reader.status())) << reader.status();
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr(path_));
}

TEST_F(EventLog, ADirectoryIsNotALog) {
  EXPECT_FALSE(EventLogReader::Open(directory_.path()).ok());
}

TEST_F(EventLog, AMissingDirectoryCannotBeWritten) {
  const auto writer = WrittenLog::Create(directory_ / "gone/job.tidemark-log", "job-1", {});
  EXPECT_TRUE(absl::IsNotFound(writer.status())) << writer.status();
  EXPECT_THAT(std::string(writer.status().message()), HasSubstr("gone/job.tidemark-log"));
}

TEST_F(EventLog, ADirectoryWithoutPermissionCannotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(directory_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(absl::IsPermissionDenied(WrittenLog::Create(path_, "job-1", {}).status()));
  fs::permissions(directory_.path(), fs::perms::owner_all);
}

TEST_F(EventLog, ReportsAFullDiskAndFailsEveryLaterCall) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto writer = WrittenLog::Create("/dev/full", "job-1", {}).value();
  const absl::Status status = writer->AppendTick(At(0));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
  EXPECT_EQ(writer->AppendTick(At(1)), status);
  EXPECT_EQ(writer->AppendRefused("late"), status);
  EXPECT_EQ(writer->Append(EveryKind()[0]), status);
}

TEST_F(EventLog, ReportsAFullDiskWithinALongRecord) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto writer = WrittenLog::Create("/dev/full", "job-1", {}).value();
  EXPECT_TRUE(absl::IsResourceExhausted(writer->AppendRefused(std::string(1 << 20, 'x'))));
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
}  // namespace tidemark::store::event_log_test
