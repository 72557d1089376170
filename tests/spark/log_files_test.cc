// Tests that the text of a log does not depend on the number of files and the compression.
#include "spark/log_files.h"

#include <zip.h>

#include "spark/executed_plans.h"
#include "spark/log_reader.h"
#include "tests/matchers.h"
#include "tests/scratch_directory.h"
#include "tests/spark/packing.h"
#include "tests/spark/some_log.h"
#include "tests/test.h"

namespace tidemark::spark::log_files_test {
namespace {

using test::Gzip;
using test::SomeLog;

using Entries = std::vector<std::pair<std::string, std::string>>;

// Writes an archive of these files by name. Returns its path.
std::string WriteArchive(const std::string& path, const Entries& entries) {
  int error = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE, &error);
  EXPECT_NE(archive, nullptr) << error;
  for (const auto& [name, text] : entries) {
    zip_source_t* const source = zip_source_buffer(archive, text.data(), text.size(), 0);
    EXPECT_GE(zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8), 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

// A log in three parts that contain the start, a job and the end.
struct Parts {
  Parts() {
    SomeLog log;
    first = log.text();
    const auto stage = SomeLog::StageInfo(0, 2);
    log.StartJob(1000, 0, {stage});
    const std::uint64_t end = log.RunStage(1000, stage);
    log.EndJob(end, 0);
    second = log.text().substr(first.size());
    log.End(end + 1000);
    third = log.text().substr(first.size() + second.size());
  }
  std::string first;
  std::string second;
  std::string third;
};

struct Outcome {
  absl::Status status;
  std::size_t events = 0;
  bool has_ended = false;
};

Outcome Read(const std::string& path) {
  const auto reader = LogReader::Open(path, {});
  if (!reader.ok()) return {reader.status()};
  Outcome outcome;
  for (auto event = (*reader)->Next();; event = (*reader)->Next()) {
    outcome.status = event.status();
    if (!event.ok() || !*event) return outcome;
    ++outcome.events;
    outcome.has_ended |= std::holds_alternative<JobClosed>((*event)->body);
  }
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(Logs, HaveTheSameEventsUnderAnyNameAndPacking) {
  const test::ScratchDirectory directory;
  const Parts parts;
  const std::string whole = parts.first + parts.second + parts.third;
  const std::size_t events = Read(directory.Write("app-1", whole)).events;
  EXPECT_GT(events, 5u);
  for (const std::string& path :
       {directory.Write("log.json", whole), directory.Write("log.yaml", whole),
        directory.Write("log.gz", Gzip(whole)), directory.Write("log.txt", Gzip(whole)),
        WriteArchive(directory / "log.zip", {{"app-1", whole}}),
        WriteArchive(directory / "any",
                     {{"folder/app-1.gz", Gzip(whole)}, {"appstatus_app-1", ""}}),
        WriteArchive(directory / "rolled.zip", {{"eventlog_v2_app-1/events_10_app-1", parts.third},
                                                {"eventlog_v2_app-1/events_2_app-1", parts.second},
                                                {"eventlog_v2_app-1/events_1_app-1", parts.first},
                                                {"eventlog_v2_app-1/appstatus_app-1", ""}})}) {
    const Outcome outcome = Read(path);
    EXPECT_TRUE(outcome.status.ok()) << path << ": " << outcome.status;
    EXPECT_EQ(outcome.events, events) << path;
    EXPECT_TRUE(outcome.has_ended) << path;
    const auto plans = ReadPlans(path);
    EXPECT_TRUE(plans.ok()) << path << ": " << plans.status();
  }
}

TEST(Logs, OfDatabricksAreOrderedByDateWithTheNewestLast) {
  const test::ScratchDirectory directory;
  const Parts parts;
  const std::string folder = directory / "driver";
  std::filesystem::create_directories(folder + "/1234");
  directory.Write("driver/1234/eventlog", parts.third);
  directory.Write("driver/1234/eventlog-2026-01-02--00-00.gz", Gzip(parts.second));
  directory.Write("driver/1234/eventlog-2026-01-01--23-00.gz", Gzip(parts.first));
  for (const std::string& path : {folder, folder + "/1234"}) {
    const Outcome outcome = Read(path);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_TRUE(outcome.has_ended);
    const auto log = Only(LogsAt(path).value());
    EXPECT_THAT(log.files, ElementsAre(folder + "/1234/eventlog-2026-01-01--23-00.gz",
                                       folder + "/1234/eventlog-2026-01-02--00-00.gz",
                                       folder + "/1234/eventlog"));
  }
}

TEST(Logs, OfDatabricksCountOnceBesideTheirCompressedCopies) {
  const test::ScratchDirectory directory;
  const Parts parts;
  const std::string folder = directory / "1234";
  std::filesystem::create_directories(folder);
  directory.Write("1234/eventlog", parts.second + parts.third);
  directory.Write("1234/eventlog.gz", Gzip(parts.second + parts.third));
  directory.Write("1234/eventlog-2026-01-01--23-00", parts.first);
  directory.Write("1234/eventlog-2026-01-01--23-00.gz", Gzip(parts.first));
  const auto files = FilesOfLog(folder).value();
  EXPECT_THAT(files, ElementsAre(folder + "/eventlog-2026-01-01--23-00", folder + "/eventlog"));
  const auto reader = LogReader::Open(folder, {}).value();
  while (true) {
    const auto event = reader->Next();
    if (!event.ok() || !*event) break;
  }
  EXPECT_EQ(reader->counts().contradictions, 0u);
}

TEST(Logs, CountOnceBesideTheirCompressedCopies) {
  const test::ScratchDirectory directory;
  const Parts parts;
  const std::string whole = parts.first + parts.second + parts.third;
  directory.Write("app-1", whole);
  directory.Write("app-1.gz", Gzip(whole));
  EXPECT_THAT(FilesOfLog(directory.path()).value(), ElementsAre(directory / "app-1"));
}

TEST(Logs, OfOneApplicationBelongTogetherInAFolderOfSeveral) {
  const test::ScratchDirectory directory;
  const Parts parts;
  for (const std::string app : {"app-1", "app-2"}) {
    directory.Write("events_1_" + app + ".zstd", "");
    directory.Write("events_2_" + app, parts.second);
  }
  directory.Write("app-3", parts.first + parts.second + parts.third);
  directory.Write(".hidden", "");
  const auto logs = LogsAt(directory.path()).value();
  ASSERT_EQ(logs.size(), 3u);
  EXPECT_THAT(logs.at(0).files, ElementsAre(directory / "app-3"));
  EXPECT_THAT(logs.at(1).files,
              ElementsAre(directory / "events_1_app-1.zstd", directory / "events_2_app-1"));
}

TEST(Logs, AreFoundBesideOtherFiles) {
  const test::ScratchDirectory directory;
  const Parts parts;
  directory.Write("README.md", "# Logs\n");
  directory.Write("app-1", parts.first + parts.second + parts.third);
  EXPECT_TRUE(Read(directory.path()).has_ended);
  directory.Write("app-2", parts.first);
  const absl::Status several = Read(directory.path()).status;
  EXPECT_EQ(several.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(several), HasSubstr("contains 2 event logs"));
  EXPECT_THAT(Message(several), HasSubstr(directory / "app-2"));
}

TEST(Logs, InArchivesOfAFolderAreFoundAndJarsAreLeftWhole) {
  const test::ScratchDirectory directory;
  const Parts parts;
  const std::string whole = parts.first + parts.second + parts.third;
  WriteArchive(directory / "logs.zip", {{"app-1", whole}});
  EXPECT_TRUE(Read(directory.path()).has_ended);
  const auto plans = ReadPlans(directory.path());
  EXPECT_TRUE(plans.ok()) << plans.status();
  WriteArchive(directory / "program.jar", {{"META-INF/MANIFEST.MF", "x"}, {"A.class", "y"}});
  const std::string cut = WriteArchive(directory / "cut.zip", {{"app-2", whole}});
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 30);
  const auto logs = LogsAt(directory.path()).value();
  ASSERT_EQ(logs.size(), 3u);
  EXPECT_EQ(logs.at(0).path, cut);
  EXPECT_EQ(ReadPlans(logs.at(0)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(logs.at(1).path, directory / "logs.zip!/app-1");
  EXPECT_EQ(logs.at(2).path, directory / "program.jar");
}

TEST(Logs, WithoutTheirBeginningAreRejectedByEveryReader) {
  const test::ScratchDirectory directory;
  const Parts parts;
  const std::string path = directory.Write("eventlog", parts.second + parts.third);
  EXPECT_THAT(Message(Read(path).status), HasSubstr("no SparkListenerApplicationStart"));
  const absl::Status plans = ReadPlans(path).status();
  EXPECT_EQ(plans.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(plans), HasSubstr("the log has no SparkListenerApplicationStart"));
}

TEST(Logs, InADamagedArchiveAreRejected) {
  const test::ScratchDirectory directory;
  const Parts parts;
  const std::string path = WriteArchive(directory / "log.zip", {{"app-1", parts.first}});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 30);
  EXPECT_EQ(Read(path).status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadPlans(path).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tidemark::spark::log_files_test
