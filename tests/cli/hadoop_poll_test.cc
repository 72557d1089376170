// Answers of Hadoop's web services, shortened to what matters. YarnIT polls a real cluster.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "cli/hadoop/application_poller.h"
#include "cli/hadoop/rest_view.h"
#include "cli/hadoop/task_facts.h"
#include "tests/master/estimates.h"

namespace tidemark::cli {
namespace {

using test::Left;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kBeginMillis = 1'700'000'000'000;

absl::Time At(double seconds) {
  return absl::FromUnixMillis(kBeginMillis) + absl::Seconds(seconds);
}

std::int64_t Millis(double seconds) { return absl::ToUnixMillis(At(seconds)); }

std::string Job(const char* state) {
  return fmt::format(
      R"({{"jobs":{{"job":[{{"id":"job_17_0001","name":"word count","state":"{}","startTime":{},)"
      R"("finishTime":{},"mapsTotal":1,"reducesTotal":2,"diagnostics":"disk"}}]}}}})",
      state, Millis(0), std::string(state) == "RUNNING" ? 0 : Millis(60));
}

std::string Task(const char* id, const char* state) {
  return fmt::format(
      R"({{"id":"task_17_0001_{0}","state":"{1}","startTime":{2},"finishTime":{3},)"
      R"("successfulAttempt":"{4}"}})",
      id, state, Millis(1), Millis(10),
      std::string(state) == "SUCCEEDED" ? fmt::format("attempt_17_0001_{}_1", id) : "");
}

std::string Tasks(const std::vector<std::string>& tasks) {
  return fmt::format(R"({{"tasks":{{"task":[{}]}}}})", fmt::join(tasks, ","));
}

std::string Attempt(const char* id, const char* state, double percent, double sorted_at = -1) {
  return fmt::format(
      R"({{"id":"attempt_17_0001_{}","state":"{}","progress":{},"nodeHttpAddress":"node-1:8042",)"
      R"("startTime":{},"mergeFinishTime":{},"finishTime":{},"diagnostics":"out of disk"}})",
      id, state, percent, Millis(1), sorted_at < 0 ? 0 : Millis(sorted_at), Millis(10));
}

std::string Attempts(const std::vector<std::string>& attempts) {
  return fmt::format(R"({{"taskAttempts":{{"taskAttempt":[{}]}}}})", fmt::join(attempts, ","));
}

std::string Application(const char* state, const char* final_status) {
  return fmt::format(
      R"({{"app":{{"name":"word count","state":"{}","finalStatus":"{}","finishedTime":{},)"
      R"("diagnostics":"the queue is full"}}}})",
      state, final_status, Millis(60));
}

TEST(RestView, ReadsAttempts) {
  const auto attempts = ParseRestAttempts(Attempts({Attempt("r_000007_2", "RUNNING", 80, 5)}));
  ASSERT_TRUE(attempts.ok());
  ASSERT_THAT(*attempts, SizeIs(1));
  EXPECT_EQ(attempts->front().id, (AttemptId{kReduceStage, 7, 2}));
  EXPECT_EQ(attempts->front().state, RestState::kRunning);
  EXPECT_DOUBLE_EQ(attempts->front().fraction_done, 0.8);
  EXPECT_EQ(attempts->front().host, "node-1");
  EXPECT_EQ(attempts->front().sorted_at, At(5));
}

TEST(RestView, TakesAListOfOneWithoutBrackets) {
  const auto jobs = ParseRestJobs(R"({"jobs":{"job":{"id":"job_17_0001","mapsTotal":3}}})");
  ASSERT_TRUE(jobs.ok());
  ASSERT_THAT(*jobs, SizeIs(1));
  EXPECT_EQ(jobs->front().map_tasks, 3u);
}

TEST(RestView, LeavesOutWhatItDoesNotUnderstand) {
  for (const char* id : {"", "task", "task_17_0001_x_000001", "task_17_0001_m_", "task_17_0001_m_x",
                         "_", "m_99999999999"}) {
    const auto tasks = ParseRestTasks(fmt::format(R"({{"tasks":{{"task":[{{"id":"{}"}}]}}}})", id));
    ASSERT_TRUE(tasks.ok()) << id;
    EXPECT_THAT(*tasks, IsEmpty()) << id;
  }
  const auto odd = ParseRestJobs(
      R"({"jobs":{"job":[1,{"id":7,"mapsTotal":-5,"reducesTotal":1e300,"startTime":"x"}]}})");
  ASSERT_TRUE(odd.ok());
  ASSERT_THAT(*odd, SizeIs(1));
  EXPECT_EQ(odd->front().map_tasks, 0u);
  EXPECT_EQ(odd->front().started_at, std::nullopt);
}

TEST(RestView, NoJobIsNoError) { EXPECT_THAT(*ParseRestJobs(R"({"jobs":null})"), IsEmpty()); }

TEST(RestView, RefusesWhatIsNoAnswer) {
  for (const char* text : {"", "<html>", "{}", "[]", "{\"jobs\"", "7", "null"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRestJobs(text).status())) << text;
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRestApplication(text).status())) << text;
  }
}

std::vector<AttemptState> StatesIn(const std::vector<EventBody>& events) {
  std::vector<AttemptState> states;
  for (const EventBody& event : events) {
    if (const auto* changed = std::get_if<AttemptChanged>(&event)) states.push_back(changed->state);
  }
  return states;
}

RestAttempt Reduce(RestState state, double fraction, std::optional<absl::Time> sorted_at = {}) {
  return {.id = {kReduceStage, 0, 0},
          .state = state,
          .fraction_done = fraction,
          .started_at = At(1),
          .sorted_at = sorted_at,
          .finished_at = At(20)};
}

TEST(TaskFacts, TellsEachStateOnce) {
  TaskFacts facts;
  EXPECT_THAT(facts.Observe(Reduce(RestState::kWaiting, 0), At(0)), IsEmpty());
  EXPECT_THAT(StatesIn(facts.Observe(Reduce(RestState::kRunning, 0.1), At(2))),
              ElementsAre(AttemptState::kStarted));
  EXPECT_THAT(StatesIn(facts.Observe(Reduce(RestState::kRunning, 0.2), At(3))), IsEmpty());
  EXPECT_THAT(StatesIn(facts.Observe(Reduce(RestState::kRunning, 0.7, At(4)), At(5))),
              ElementsAre(AttemptState::kShuffled));
  EXPECT_THAT(StatesIn(facts.Observe(Reduce(RestState::kSucceeded, 1, At(4)), At(21))),
              ElementsAre(AttemptState::kFinished));
  EXPECT_THAT(facts.Observe(Reduce(RestState::kSucceeded, 1, At(4)), At(22)), IsEmpty());
}

TEST(TaskFacts, TellsWhatPassedBetweenTwoLooks) {
  TaskFacts facts;
  EXPECT_THAT(
      StatesIn(facts.Observe(Reduce(RestState::kSucceeded, 1, At(4)), At(21))),
      ElementsAre(AttemptState::kStarted, AttemptState::kShuffled, AttemptState::kFinished));
}

TEST(TaskFacts, AMapTaskWhoseOutputIsLostIsObsolete) {
  TaskFacts facts;
  RestAttempt map{.id = {kMapStage, 0, 0},
                  .state = RestState::kSucceeded,
                  .started_at = At(1),
                  .finished_at = At(2)};
  facts.Observe(map, At(3));
  map.state = RestState::kKilled;
  EXPECT_THAT(StatesIn(facts.Observe(map, At(4))), ElementsAre(AttemptState::kObsolete));
  EXPECT_THAT(facts.Observe(map, At(5)), IsEmpty());
}

TEST(TaskFacts, AReduceTaskCountsFromItsFirstReduceFunctionOn) {
  TaskFacts facts;
  const auto events = facts.Observe(Reduce(RestState::kRunning, 5.0 / 6, At(4)), At(10));
  const auto& profile = std::get<ReduceProfile>(events.back());
  EXPECT_NEAR(static_cast<double>(profile.bytes_done), kTaskUnits / 2.0, 1);
  EXPECT_EQ(profile.reduce_time, absl::Seconds(6));
}

// A web service that gives these answers, by the end of the URL.
class Poll : public ::testing::Test {
 protected:
  Snapshot Look(double seconds) {
    const auto snapshot = poller_.Look(At(seconds));
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.value_or(Snapshot());
  }

  std::map<std::string, std::string> answers_;
  std::vector<std::string> asked_;
  ApplicationPoller poller_{"http://rm:8088", "job_17_0001", [this](const std::string& url) {
                              asked_.push_back(url);
                              for (const auto& [end, answer] : answers_) {
                                if (url.ends_with(end)) return absl::StatusOr<std::string>(answer);
                              }
                              return absl::StatusOr<std::string>(absl::NotFoundError(url));
                            }};
};

constexpr const char* kApplicationUrl = "/ws/v1/cluster/apps/application_17_0001";
constexpr const char* kJobsUrl = "/proxy/application_17_0001/ws/v1/mapreduce/jobs";

TEST_F(Poll, KnowsTheApplicationByTheIdOfItsJobToo) {
  answers_[kApplicationUrl] = Application("ACCEPTED", "UNDEFINED");
  EXPECT_FALSE(Look(0).is_final);
  EXPECT_THAT(asked_, Contains(std::string("http://rm:8088") + kApplicationUrl));
}

TEST_F(Poll, SaysThatThereIsNoSuchApplication) {
  EXPECT_TRUE(absl::IsNotFound(poller_.Look(At(0)).status()));
}

TEST_F(Poll, EstimatesByTheProgressOfReduceTasks) {
  answers_[kJobsUrl] = Job("RUNNING");
  answers_["/tasks"] = Tasks(
      {Task("m_000000", "SUCCEEDED"), Task("r_000000", "RUNNING"), Task("r_000001", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_1", "SUCCEEDED", 100)});
  // Both half through their reduce functions, one of them since ten seconds, the other since five.
  answers_["r_000000/attempts"] = Attempts({Attempt("r_000000_0", "RUNNING", 250.0 / 3, 10)});
  answers_["r_000001/attempts"] = Attempts({Attempt("r_000001_0", "RUNNING", 250.0 / 3, 15)});
  const Snapshot snapshot = Look(20);
  EXPECT_EQ(snapshot.info->name, "word count");
  const Estimate& forecast = snapshot.estimate;
  EXPECT_EQ(forecast.indicator, "tidemark");
  ASSERT_TRUE(Left(forecast).has_value());
  // The first has 10 s left and the other 5, if they go on as they did.
  EXPECT_GE(*Left(forecast), absl::Seconds(10));
  EXPECT_LE(*Left(forecast), absl::Seconds(15));
  EXPECT_THAT(snapshot.notes, Contains(HasSubstr("no key groups known")));
  EXPECT_EQ(snapshot.coverage->anomalies, 0u);
  EXPECT_EQ(snapshot.coverage->rejected_events, 0u);
}

TEST_F(Poll, ShowsProgressInTheMapPhase) {
  answers_[kJobsUrl] = Job("RUNNING");
  answers_["/tasks"] = Tasks({Task("m_000000", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_0", "RUNNING", 10)});
  Look(5);
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_0", "RUNNING", 80)});
  const Snapshot snapshot = Look(40);
  EXPECT_EQ(snapshot.estimate.indicator, "tidemark");
  EXPECT_GT(snapshot.estimate.fraction_done, 0.1);
  EXPECT_LT(snapshot.estimate.fraction_done, 0.8);
}

TEST_F(Poll, EndsWithTheJob) {
  answers_[kJobsUrl] = Job("FAILED");
  answers_["/tasks"] = Tasks({Task("m_000000", "FAILED")});
  const Snapshot snapshot = Look(61);
  EXPECT_EQ(snapshot.state, JobState::kFailed);
  EXPECT_EQ(snapshot.message, "disk");
}

TEST_F(Poll, EndsWithTheApplicationWhenItsMasterHasGone) {
  answers_[kJobsUrl] = Job("RUNNING");
  answers_["/tasks"] = Tasks({});
  EXPECT_FALSE(Look(0).is_final);
  answers_.erase(kJobsUrl);
  answers_[kApplicationUrl] = Application("FINISHED", "SUCCEEDED");
  EXPECT_EQ(Look(61).state, JobState::kSucceeded);
}

TEST_F(Poll, GoesOnWhenTheMasterIsStartedAnew) {
  answers_[kJobsUrl] = Job("RUNNING");
  answers_["/tasks"] = Tasks({});
  Look(0);
  answers_.erase(kJobsUrl);
  answers_[kApplicationUrl] = Application("RUNNING", "UNDEFINED");
  EXPECT_FALSE(Look(1).is_final);
  answers_[kJobsUrl] = Job("SUCCEEDED");
  EXPECT_EQ(Look(2).state, JobState::kSucceeded);
}

// The job has one map task; that a third one starts and reads contradicts that twice.
TEST_F(Poll, CountsWhatContradictsTheJobOnce) {
  answers_[kJobsUrl] = Job("RUNNING");
  answers_["/tasks"] = Tasks({Task("m_000002", "RUNNING")});
  answers_["m_000002/attempts"] = Attempts({Attempt("m_000002_0", "RUNNING", 10)});
  EXPECT_EQ(Look(1).coverage->rejected_events, 2u);
}

TEST_F(Poll, AsksAboutRunningTasksAndNewEndsOnly) {
  answers_[kJobsUrl] = Job("RUNNING");
  answers_["/tasks"] = Tasks({Task("m_000000", "SUCCEEDED"), Task("r_000000", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_1", "SUCCEEDED", 100)});
  answers_["r_000000/attempts"] = Attempts({Attempt("r_000000_0", "RUNNING", 10)});
  Look(2);
  EXPECT_THAT(asked_, SizeIs(4));
  asked_.clear();
  Look(3);
  EXPECT_THAT(asked_, SizeIs(3));
}

}  // namespace
}  // namespace tidemark::cli
