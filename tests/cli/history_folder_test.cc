#include "cli/hadoop/history_folder.h"

#include <sys/stat.h>

#include "tests/hadoop_history/some_history.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::cli::history_folder_test {
namespace {

using test::SomeHistory;

// Shortly after the jobs of SomeHistory.
const absl::Time kNow = absl::FromUnixMillis(SomeHistory::kSubmitted) + absl::Hours(1);

class HistoryFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_ / "done/2023/11/14");
    auto opened =
        store::History::Open(directory_ / "history.sqlite", {.age_max = absl::Hours(24 * 3650)});
    ASSERT_TRUE(opened.ok()) << opened.status();
    history_ = *std::move(opened);
    folder_ = std::make_unique<HistoryFolder>(
        directory_ / "done", *history_,
        HistoryFolderOptions{.note = [this](const std::string& note) { notes_.push_back(note); }});
  }
  std::string Write(const std::string& name, const std::string& text) {
    return directory_.Write("done/2023/11/14/" + name, text);
  }

  const test::ScratchDirectory directory_;
  std::unique_ptr<store::History> history_;
  std::vector<std::string> notes_;
  std::unique_ptr<HistoryFolder> folder_;
};

TEST_F(HistoryFolderTest, AddsEachRunOnce) {
  Write("job_1700000000000_0007-1700-ada-word+count-1700-3-2-SUCCEEDED-etl-1700.jhist",
        SomeHistory::WordCount().text());
  EXPECT_EQ(folder_->Poll(kNow), 1u);
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  Write("job_1700000000000_0008-1700.jhist", SomeHistory::WordCount("0008").text());
  EXPECT_EQ(folder_->Poll(kNow), 1u);
  EXPECT_THAT(notes_, IsEmpty());
  const auto runs = history_->SucceededOfName("word count", 8);
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 2u);
  const auto run = PastRunOf(runs->front().final, runs->front().summary);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->map_time, absl::Seconds(9));
  EXPECT_EQ(run->map_input_bytes, 300u);
  EXPECT_EQ(run->reduce_tasks, 2u);
}

TEST_F(HistoryFolderTest, KeepsRunsThatTheHistoryContains) {
  auto run =
      RunInHistoryFile(Write("job_1700000000000_0007-1700.jhist", SomeHistory::WordCount().text()));
  ASSERT_TRUE(run.ok()) << run.status();
  run->summary.map_input_bytes = 77;  // as observed
  ASSERT_TRUE(history_->Add(*run).ok());
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  EXPECT_EQ(history_->SucceededOfName("word count", 8)->at(0).summary.map_input_bytes, 77u);
}

TEST_F(HistoryFolderTest, NotesEachFileThatCannotBeReadOnce) {
  Write("job_1700000000000_0001-1700.jhist", "nonsense");
  Write("job_1700000000000_0002-1700.jhist", SomeHistory("0002").Submit().Init(0, 1, 0).text());
  Write("job_1700000000000_0003-1700.txt", "another file");
  Write("notes.jhist", "another file");
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  std::ranges::sort(notes_);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("not a history file"),
                                  HasSubstr("the history file does not contain the end of the job"),
                                  HasSubstr("notes.jhist: not read, because its name")));
}

TEST_F(HistoryFolderTest, ReadsAFileAgainOnceItHasGrown) {
  const std::string whole = SomeHistory::WordCount().text();
  const std::string name = "job_1700000000000_0007-1700.jhist";
  const std::string path = Write(name, whole.substr(0, whole.size() / 2));
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  const auto written_at = std::filesystem::last_write_time(path);
  Write(name, whole.substr(0, whole.size() - 20));
  std::filesystem::last_write_time(path, written_at + std::chrono::seconds(1));
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("the file ends within an event"))) << "once";
  Write(name, whole);
  std::filesystem::last_write_time(path, written_at + std::chrono::seconds(2));
  EXPECT_EQ(folder_->Poll(kNow), 1u);
}

TEST_F(HistoryFolderTest, StopsWithinAFile) {
  const std::string path = Write("job_1700000000000_0007-1.jhist", SomeHistory::WordCount().text());
  int checks = 0;
  EXPECT_TRUE(RunInHistoryFile(path, [&] { return ++checks < 0; }).ok());
  for (const int last : {1, checks / 2, checks}) {
    int left = last;
    EXPECT_TRUE(absl::IsCancelled(RunInHistoryFile(path, [&] { return --left <= 0; }).status()));
  }
}

TEST_F(HistoryFolderTest, LeavesOutDamagedAndTooLargeRuns) {
  std::string damaged = SomeHistory::WordCount().text();
  damaged.replace(damaged.find("MAP_ATTEMPT_FINISHED"), 40, "\n");
  Write("job_1700000000000_0001-1700.jhist", damaged);
  Write("job_1700000000000_0002-1700.jhist",
        SomeHistory("0002").Submit().Init(0, 1, 20'001).FinishJob(10).text());
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  std::ranges::sort(notes_);
  EXPECT_THAT(notes_,
              ElementsAre(HasSubstr("2 lines are not events"), HasSubstr("20001 reduce tasks")));
}

TEST_F(HistoryFolderTest, IgnoresWhatIsNoFile) {
  const std::filesystem::path folder = directory_ / "done";
  std::filesystem::create_directory(folder / "job_1700000000000_0001-1700.jhist");
  std::filesystem::create_symlink("/dev/zero", folder / "job_1700000000000_0002-1700.jhist");
  ASSERT_EQ(mkfifo((folder / "job_1700000000000_0003-1700.jhist").c_str(), 0600), 0);
  EXPECT_EQ(folder_->Poll(kNow), 0u);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(HistoryFolderTest, TheLimitHoldsForExistingFiles) {
  HistoryFolder folder(
      directory_ / "done", *history_,
      {.files_max = 1, .note = [this](const std::string& note) { notes_.push_back(note); }});
  const std::string first =
      Write("job_1700000000000_0007-1700.jhist", SomeHistory::WordCount().text());
  EXPECT_EQ(folder.Poll(kNow), 1u);
  Write("job_1700000000000_0008-1700.jhist", SomeHistory::WordCount("0008").text());
  EXPECT_EQ(folder.Poll(kNow), 0u);
  EXPECT_EQ(folder.Poll(kNow), 0u);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("more than 1 history files")));
  std::filesystem::remove(first);
  EXPECT_EQ(folder.Poll(kNow), 1u);
}

TEST_F(HistoryFolderTest, NotesAFolderThatCannotBeRead) {
  HistoryFolder missing(directory_ / "none", *history_,
                        {.note = [this](const std::string& note) { notes_.push_back(note); }});
  missing.Poll(kNow);
  missing.Poll(kNow);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("cannot read")));
}

TEST_F(HistoryFolderTest, StoresJobsOfAWorkflowByItsNode) {
  Write("job_1700000000000_0007-1700.jhist", SomeHistory::WordCount().text());
  Write("job_1700000000000_0007_conf.xml",
        "<property><name>pig.script.id</name><value>9e1d</value></property>"
        "<property><name>mapreduce.workflow.name</name><value>s.pig</value></property>"
        "<property><name>mapreduce.workflow.node.name</name><value>scope-1</value></property>");
  EXPECT_EQ(folder_->Poll(kNow), 1u);
  EXPECT_EQ(history_->SucceededOfName("s.pig / scope-1", 8)->size(), 1u);
}

}  // namespace
}  // namespace tidemark::cli::history_folder_test
