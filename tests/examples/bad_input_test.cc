// Tests that invalid jobs are rejected with a description of the fault, and leave no files.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runs.h"

namespace tidemark::examples::bad_input_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BadInputTest : public RunTest {
 protected:
  void Note(const std::string& notice) {
    const std::lock_guard lock(mutex_);
    notices_.push_back(notice);
  }

  std::mutex mutex_;
  std::vector<std::string> notices_;  // guarded by mutex_ while a job runs
  std::string Wiki() const { return Data("graphs/wiki-vote.txt.zst"); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  void ExpectRefused(const RunOptions& options, absl::StatusCode code, const std::string& words) {
    const absl::Status status = RunJob(options).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    EXPECT_TRUE(!std::filesystem::exists(options.output_dir) ||
                std::filesystem::is_empty(options.output_dir));
  }
};

TEST_F(BadInputTest, AnUnknownJobIsNamed) {
  ExpectRefused(Options("word-cont", {Wiki()}), absl::StatusCode::kNotFound, "word-cont");
}

TEST_F(BadInputTest, AMissingFileIsNamed) {
  ExpectRefused(Options("two-path", {Path("nowhere.txt")}), absl::StatusCode::kNotFound,
                "nowhere.txt");
}

TEST_F(BadInputTest, ZeroReduceTasksAreRejected) {
  RunOptions options = Options("two-path", {Wiki()});
  options.reduce_task_count = 0;
  ExpectRefused(options, absl::StatusCode::kInvalidArgument, "reduce");
}

TEST_F(BadInputTest, ZeroSlotsAreRejected) {
  RunOptions options = Options("two-path", {Wiki()});
  options.slots = 0;
  ExpectRefused(options, absl::StatusCode::kInvalidArgument, "slot");
}

TEST_F(BadInputTest, AnUnknownParameterIsNamed) {
  RunOptions options = Options("two-path", {Wiki()});
  options.parameters["direction"] = "2";
  ExpectRefused(options, absl::StatusCode::kInvalidArgument, "direction");
}

TEST_F(BadInputTest, AParameterOutOfRangeIsNamed) {
  RunOptions options = Options("two-path", {Wiki()});
  options.parameters["directions"] = "3";
  ExpectRefused(options, absl::StatusCode::kInvalidArgument, "directions");
}

TEST_F(BadInputTest, AnExistingOutputDirectoryIsKept) {
  std::filesystem::create_directory(Path("used"));
  const std::string precious = Write("used/precious", "text");
  RunOptions options = Options("two-path", {Wiki()});
  options.output_dir = Path("used");
  const absl::Status status = RunJob(options).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("used"));
  EXPECT_TRUE(std::filesystem::exists(precious));
}

// Each job whose input consists of other things than words, with a valid and an invalid line.
struct LineCase {
  const char* job;
  const char* good;
  const char* bad;
  std::size_t inputs = 1;
};

class BadLineTest : public BadInputTest, public ::testing::WithParamInterface<LineCase> {};

TEST_P(BadLineTest, IsNamedByFileAndNumber) {
  const LineCase& given = GetParam();
  std::string good;
  for (int i = 0; i < 200; ++i) good += std::string(given.good) + "\n";
  std::vector<std::string> inputs(given.inputs, Write("good.txt", good));
  // The invalid line is in the last of four splits. Lines may end as on Windows.
  inputs.back() = Write("bad.txt", good + given.good + "\r\n" + given.bad + "\n" + given.good);
  const absl::Status status = RunJob(Options(given.job, inputs)).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("bad.txt:202: "));
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, BadLineTest,
    ::testing::Values(LineCase{"two-path", "1 2", "2 x"}, LineCase{"triangle-count", "1 2", "7"},
                      LineCase{"matmult-opt", "0 1 0.5", "0 1 half", 2},
                      LineCase{"parse-visits", "10.0.0.1 /a 3 7", "10.0.0.1 /a 3"},
                      LineCase{"count-by-page", "/a 10.0.0.1 3 7", "/a 10.0.0.1 3 seven"},
                      LineCase{"revenue-by-visitor", "/a 10.0.0.1 3 7", "/a 10.0.0.1 3"},
                      LineCase{"visit-histogram", "/a 3", "/a"}),
    [](const auto& tested) {
      std::string name = tested.param.job;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST_F(BadInputTest, ADamagedCompressedFileIsNamed) {
  std::ifstream whole(Wiki(), std::ios::binary);
  std::string bytes(50'000, '\0');
  whole.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::string torn = Write("torn.txt.zst", bytes);
  const absl::Status status = RunJob(Options("two-path", {torn})).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("torn.txt.zst"));
}

TEST_F(BadInputTest, AnEmptyFileIsAJobWithoutRecords) {
  absl::StatusOr<RunSummary> summary = RunJob(Options("two-path", {Write("empty.txt", "")}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->reduce_output_records, 0);
}

TEST_F(BadInputTest, AnAbsentMasterIsReportedAndDoesNotAffectTheJob) {
  RunOptions options = Options("two-path", {Wiki()});
  options.output = OutputKind::kCount;
  options.master_address = "127.0.0.1:9";
  options.on_notice = [this](const std::string& notice) { Note(notice); };
  absl::StatusOr<RunSummary> summary = RunJob(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_GT(summary->reduce_output_records, 0);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("no response from the master at 127.0.0.1:9")));
}

TEST_F(BadInputTest, ARetriedTaskIsReported) {
  RunOptions options = Options("two-path", {Write("edges.txt", "1 2\n2 x\n")});
  options.map_task_count = 1;
  options.on_notice = [this](const std::string& notice) { Note(notice); };
  EXPECT_FALSE(RunJob(options).ok());
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("map task 0 failed and will be retried (2 of 4)"),
                                    HasSubstr("(3 of 4)"), HasSubstr("(4 of 4)")));
}

TEST_F(BadInputTest, AWorkerThatCannotStartIsNamed) {
  RunOptions options = Options("two-path", {Wiki()});
  options.worker_command = {Path("no-such-program")};
  const absl::Status status = RunJob(options).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("no-such-program"));
}

}  // namespace
}  // namespace tidemark::examples::bad_input_test
