#include "serve/serve_log.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/test.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::serve::serve_log_test {
namespace {

using ::testing::AllOf;
using ::testing::Pair;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(RareEntries, PassOneASecondAndCountTheOthers) {
  RareEntries rare;
  EXPECT_TRUE(rare.Next("gRPC", "first", kNow).has_value());
  for (int i = 1; i <= 7; ++i) {
    EXPECT_FALSE(rare.Next("gRPC", "next", kNow + absl::Milliseconds(100 * i)).has_value());
  }
  const auto entry = rare.Next("protobuf", "later", kNow + absl::Seconds(1));
  ASSERT_TRUE(entry.has_value());
  EXPECT_THAT(entry->fields,
              AllOf(Contains(Pair("library", "protobuf")), Contains(Pair("text", "later")),
                    Contains(Pair("left_out", "7"))));
}

TEST(RareEntries, PassAfterTheClockIsSetBack) {
  RareEntries rare;
  EXPECT_TRUE(rare.Next("gRPC", "first", kNow).has_value());
  EXPECT_TRUE(rare.Next("gRPC", "next", kNow - absl::Hours(1)).has_value());
}

// Uses a job id that is not UTF-8, so that protobuf logs a warning.
void MakeProtobufLog() {
  v1::Snapshot snapshot;
  EXPECT_FALSE(snapshot.ParseFromString("\x0a\x01\xff"));
}

TEST(LibraryLog, DropsMessagesOfSilencedLibraries) {
  SilenceLibraries();
  testing::internal::CaptureStderr();
  gpr_log(GPR_ERROR, "a message of a client");
  MakeProtobufLog();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(LibraryLog, WritesMessagesOfLibrariesAsEntries) {
  std::vector<LogEntry> entries;
  LogLibraries([&](const LogEntry& entry) { entries.push_back(entry); });
  testing::internal::CaptureStderr();
  MakeProtobufLog();
  gpr_log(GPR_ERROR, "a message of gRPC");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  LogLibraries({});
  ASSERT_FALSE(entries.empty());
  EXPECT_EQ(entries[0].severity, LogSeverity::kWarning);
  EXPECT_THAT(entries[0].fields, Contains(Pair("text", HasSubstr("UTF-8"))));
}

const absl::Time kAt = absl::FromUnixMillis(1'767'323'045'678);

TEST(LogLine, HasTimeSeverityJobAndFields) {
  EXPECT_EQ(LogLine({LogSeverity::kInfo, "job ended", "etl-7", {{"state", "failed"}}}, kAt),
            "2026-01-02T03:04:05.678Z info job ended job=etl-7 state=failed");
}

TEST(LogLine, AJobIdCannotForgeALine) {
  const LogEntry entry{LogSeverity::kWarning, "job opened", "a\n2026 error \"b\"", {}};
  EXPECT_EQ(LogLine(entry, kAt),
            R"(2026-01-02T03:04:05.678Z warning job opened job="a\n2026 error \"b\"")");
  EXPECT_EQ(LogLineJson(entry, kAt), R"({"time":"2026-01-02T03:04:05.678Z","severity":"warning",)"
                                     R"("message":"job opened","job":"a\n2026 error \"b\""})");
}

TEST(LogLine, AMessageCannotForgeALine) {
  const LogEntry entry{LogSeverity::kWarning, "log of \x1b[31m\n2026 info \"job\""};
  EXPECT_EQ(LogLine(entry, kAt),
            R"(2026-01-02T03:04:05.678Z warning log of \u001b[31m\n2026 info \"job\")");
}

TEST(LogLine, AJobIdCannotReverseALine) {
  const LogEntry entry{LogSeverity::kInfo, "job opened", "\u202Eabc", {}};
  EXPECT_EQ(LogLine(entry, kAt), R"(2026-01-02T03:04:05.678Z info job opened job="\u202eabc")");
  EXPECT_THAT(LogLineJson(entry, kAt), ::testing::HasSubstr(R"("job":"\u202eabc")"));
}

TEST(MakeLogSink, LeavesTheTimeOfALineToTheJournal) {
  for (const bool is_journal : {false, true}) {
    testing::internal::CaptureStderr();
    struct stat file = {};
    ASSERT_EQ(::fstat(STDERR_FILENO, &file), 0);
    const auto node = static_cast<std::uint64_t>(file.st_ino) + (is_journal ? 0 : 1);
    ::setenv("JOURNAL_STREAM", fmt::format("{}:{}", file.st_dev, node).c_str(), 1);
    MakeLogSink(/*as_json=*/false, LogSeverity::kInfo)({.message = "listening"});
    ::unsetenv("JOURNAL_STREAM");
    const std::string line = testing::internal::GetCapturedStderr();
    const char* const expected = is_journal ? "info listening\n" : "20.+Z info listening\n";
    EXPECT_THAT(line, ::testing::MatchesRegex(expected));
  }
}

}  // namespace
}  // namespace tidemark::serve::serve_log_test
