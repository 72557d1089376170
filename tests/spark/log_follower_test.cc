

#include "spark/log_reader.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"

namespace tidemark::spark::log_follower_test {
namespace {

namespace fs = std::filesystem;

constexpr char kStart[] =
    R"({"Event":"SparkListenerApplicationStart","App Name":"sales","App ID":"app-1","Timestamp":1000000})"
    "\n"
    R"({"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1001000,"Stage Infos":[{"Stage ID":0,"Stage Name":"scan","Number of Tasks":1,"Parent IDs":[]}]})"
    "\n";
constexpr char kTask[] =
    R"({"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":0,"Task Info":{"Task ID":7,"Index":0,"Launch Time":1002000}})"
    "\n";
constexpr char kJobEnd[] =
    R"({"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":1008000,"Job Result":{"Result":"JobSucceeded"}})"
    "\n";
constexpr char kEnd[] = R"({"Event":"SparkListenerApplicationEnd","Timestamp":1009000})"
                        "\n";

class LogFollowerTest : public ::testing::Test {
 protected:
  void Append(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::app) << text;
  }

  std::vector<Event> Poll() {
    std::vector<Event> events;
    now_ += absl::Seconds(10);
    follower_.Poll(now_, [&](Event event) { events.push_back(std::move(event)); });
    return events;
  }

  const test::ScratchDirectory directory_;
  const fs::path folder_ = directory_.path();
  std::vector<std::string> notes_;
  LogFollower follower_{folder_.string(),
                        {.source_id = "log-1",
                         .quiet_max = absl::Minutes(5),
                         .note = [this](const std::string& line) { notes_.push_back(line); }}};
  absl::Time now_ = absl::FromUnixSeconds(2000);
};

TEST_F(LogFollowerTest, FollowsARunningApplicationUntilItEnds) {
  Append("finished", kStart);
  EXPECT_THAT(Poll(), IsEmpty());
  Append("app-1.inprogress", kStart);
  std::vector<Event> events = Poll();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].job_id, "app-1");
  EXPECT_EQ(events[0].run_uid, "app-1");
  EXPECT_EQ(events[0].sent_at, now_);
  EXPECT_EQ(events[3].source_id, "log-1");  // The driver is running.
  Append("app-1.inprogress", kTask);
  events = Poll();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(std::get<AttemptChanged>(events[0].body).at, absl::FromUnixMillis(1'002'000));
  EXPECT_EQ(events[1].body, EventBody(TaskHeartbeat{.attempt = {.stage = 0}}));
  EXPECT_EQ(Poll().size(), 1u);
  // Spark renames the log. Its last events still count.
  Append("app-1.inprogress", kEnd);
  fs::rename(folder_ / "app-1.inprogress", folder_ / "app-1");
  EXPECT_THAT(Poll(), IsEmpty());  // The end of the job may follow.
  events = Poll();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<JobClosed>(events[0].body).outcome, JobOutcome::kUnknown);
  EXPECT_EQ(follower_.followed_logs(), 0u);
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(LogFollowerTest, ARollingFolderRunsWhileItsStatusSaysSo) {
  Append("eventlog_v2_app-1/appstatus_app-1.inprogress", "");
  EXPECT_THAT(Poll(), IsEmpty());  // There is no file yet.
  Append("eventlog_v2_app-1/events_1_app-1", kStart);
  EXPECT_EQ(Poll().size(), 4u);
  Append("eventlog_v2_app-1/events_2_app-1", std::string(kJobEnd) + kEnd);
  EXPECT_EQ(Poll().size(), 3u);
  EXPECT_EQ(follower_.followed_logs(), 0u);
  // The log has ended, although the status file has not been renamed.
  EXPECT_THAT(Poll(), IsEmpty());
}

TEST_F(LogFollowerTest, EndsOfJobsAfterTheEndOfTheirApplicationCount) {
  Append("app-1.inprogress", std::string(kStart) + kEnd);
  EXPECT_EQ(Poll().size(), 3u);
  EXPECT_EQ(follower_.followed_logs(), 1u);
  Append("app-1.inprogress", kJobEnd);
  const std::vector<Event> events = Poll();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(std::get<JobClosed>(events.back().body).outcome, JobOutcome::kSucceeded);
  EXPECT_EQ(follower_.followed_logs(), 0u);
}

TEST_F(LogFollowerTest, ALogThatDoesNotGrowBelongsToAKilledDriver) {
  Append("app-1.inprogress", kStart);
  EXPECT_EQ(Poll().size(), 4u);
  now_ += absl::Minutes(6);
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("has not grown for 5 min")));
  EXPECT_EQ(follower_.followed_logs(), 0u);
}

TEST_F(LogFollowerTest, StopEndsAPollBeforeTheNextLog) {
  for (const char* name : {"app-1.inprogress", "app-2.inprogress"}) Append(name, kStart);
  std::size_t reported = 0;
  follower_.Poll(now_, [&](const Event&) {
    ++reported;
    follower_.Stop();
  });
  EXPECT_EQ(reported, 1u);
  Append("app-2.inprogress", kTask);
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(LogFollowerTest, ALogThatIsTruncatedOrReplacedIsReadFromItsStart) {
  Append("app-1.inprogress", std::string(kStart) + kTask);
  EXPECT_EQ(Poll().size(), 5u);
  std::ofstream(folder_ / "app-1.inprogress", std::ios::trunc) << kStart;
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("was truncated or replaced while being followed")));
  EXPECT_EQ(Poll().size(), 4u);
  fs::remove(folder_ / "app-1.inprogress");
  Append("app-1.inprogress", std::string(kStart) + kTask);
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_EQ(Poll().size(), 5u);
}

TEST_F(LogFollowerTest, ATruncatedLogThatHasGrownSinceIsReadFromItsStart) {
  Append("app-1.inprogress", std::string(kStart) + kTask);
  EXPECT_EQ(Poll().size(), 5u);
  std::string other = kStart;
  other.replace(other.find("app-1"), 5, "app-9");
  std::ofstream(folder_ / "app-1.inprogress", std::ios::trunc) << other << other << kTask << kTask;
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("was truncated or replaced while being followed")));
  const std::vector<Event> events = Poll();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].job_id, "app-9");
}

TEST_F(LogFollowerTest, RejectsAPartOfALogThatIsNotAFile) {
  Append("eventlog_v2_app-1/appstatus_app-1.inprogress", "");
  Append("eventlog_v2_app-1/events_1_app-1", kStart);
  fs::create_symlink("/dev/zero", folder_ / "eventlog_v2_app-1/events_2_app-1");
  EXPECT_EQ(Poll().size(), 3u);
  EXPECT_EQ(follower_.followed_logs(), 0u);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("must be a regular file")));
}

TEST_F(LogFollowerTest, ReportsAtMost1000RunningTasks) {
  std::string text = kStart;
  for (int task = 0; task < 1500; ++task) {
    std::string started = kTask;
    started.replace(started.find("\"Index\":0"), 9, "\"Index\":" + std::to_string(task));
    started.replace(started.find("\"Task ID\":7"), 11, "\"Task ID\":" + std::to_string(task));
    text += started;
  }
  Append("app-1.inprogress", text);
  Poll();
  EXPECT_EQ(Poll().size(), 1000u);
}

TEST_F(LogFollowerTest, AQuietLogIsFollowedAgainOnceItGrows) {
  Append("app-1.inprogress", kStart);
  EXPECT_EQ(Poll().size(), 4u);
  fs::last_write_time(folder_ / "app-1.inprogress",
                      fs::file_time_type::clock::now() - std::chrono::minutes(10));
  now_ += absl::Minutes(6);
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_EQ(follower_.followed_logs(), 0u);
  Append("app-1.inprogress", kTask);
  EXPECT_EQ(Poll().size(), 5u);
  EXPECT_EQ(follower_.followed_logs(), 1u);
}

TEST_F(LogFollowerTest, AnotherFollowerReportsTheSameEvents) {
  Append("app-1.inprogress", std::string(kStart) + kTask);
  JobMonitor monitor("app-1", {});
  for (const Event& event : Poll()) EXPECT_TRUE(monitor.Apply(event).ok());
  LogFollower again(folder_.string(), {.source_id = "log-2"});
  const std::uint64_t known = monitor.accepted_sequence("driver");
  again.Poll(now_ + absl::Seconds(1), [&](Event event) { EXPECT_TRUE(monitor.Apply(event).ok()); });
  EXPECT_EQ(monitor.accepted_sequence("driver"), known);
}

TEST_F(LogFollowerTest, ReportsUnreadableLogsAndFolders) {
  Append("app-1.inprogress", "BZh91AY");
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("compressed with bzip2")));
  fs::remove_all(folder_);
  Poll();
  Poll();
  ASSERT_EQ(notes_.size(), 2u);
  EXPECT_THAT(notes_[1], HasSubstr("cannot read " + folder_.string()));
}

}  // namespace
}  // namespace tidemark::spark::log_follower_test
