// Tests with shortened responses of Hadoop's web services. YarnIT polls a real cluster.
#include <fmt/format.h>

#include <variant>

#include "absl/strings/str_replace.h"
#include "cli/hadoop/application_poller.h"
#include "cli/hadoop/rest_view.h"
#include "tests/monitor/estimates.h"
#include "tests/test.h"

namespace tidemark::cli::hadoop_poll_test {
namespace {

using test::Left;
using ::testing::AllOf;

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

// Returns an application that ran from 10 to 34 s. `more` contains fields, each followed by a
// comma.
std::string EndedApplication(const std::string& more) {
  return fmt::format(R"({{"app":{{{}"name":"word count","startedTime":{},"finishedTime":{}}}}})",
                     more, Millis(10), Millis(34));
}

std::string Application(const char* state, const char* final_status) {
  return fmt::format(
      R"({{"app":{{"name":"word count","state":"{}","finalStatus":"{}","finishedTime":{},)"
      R"("diagnostics":"the queue is full"}}}})",
      state, final_status, Millis(60));
}

TEST(RestView, ParsesAttempts) {
  const auto attempts = ParseRestAttempts(Attempts({Attempt("r_000007_2", "RUNNING", 80, 5)}));
  ASSERT_TRUE(attempts.ok());
  ASSERT_THAT(*attempts, SizeIs(1));
  EXPECT_EQ(attempts->front().id, (AttemptId{kReduceStage, 7, 2}));
  EXPECT_EQ(attempts->front().state, RestState::kRunning);
  EXPECT_DOUBLE_EQ(attempts->front().fraction_done, 0.8);
  EXPECT_EQ(attempts->front().host, "node-1");
  EXPECT_EQ(attempts->front().sorted_at, At(5));
}

TEST(RestView, AcceptsAListOfOneWithoutBrackets) {
  const auto jobs = ParseRestJobs(R"({"jobs":{"job":{"id":"job_17_0001","mapsTotal":3}}})");
  ASSERT_TRUE(jobs.ok());
  ASSERT_THAT(*jobs, SizeIs(1));
  EXPECT_EQ(jobs->front().map_tasks, 3u);
}

TEST(RestView, OmitsInvalidEntries) {
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

TEST(RestView, AcceptsAnAnswerWithoutJobs) {
  EXPECT_THAT(*ParseRestJobs(R"({"jobs":null})"), IsEmpty());
}

TEST(RestView, RejectsOtherText) {
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

TEST(TaskFacts, ReportsEachStateOnce) {
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

TEST(TaskFacts, ReportsStatesPassedBetweenTwoPolls) {
  TaskFacts facts;
  EXPECT_THAT(
      StatesIn(facts.Observe(Reduce(RestState::kSucceeded, 1, At(4)), At(21))),
      ElementsAre(AttemptState::kStarted, AttemptState::kShuffled, AttemptState::kFinished));
}

TEST(TaskFacts, MarksAMapTaskWithLostOutputAsObsolete) {
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

std::vector<AttemptChanged> ChangesIn(const std::vector<EventBody>& events) {
  std::vector<AttemptChanged> changes;
  for (const EventBody& event : events) {
    if (const auto* changed = std::get_if<AttemptChanged>(&event)) changes.push_back(*changed);
  }
  return changes;
}

TEST(TaskFacts, ReportsTheLastAttemptOfAFailedTask) {
  TaskFacts facts;
  RestAttempt attempt = Reduce(RestState::kFailed, 0.2);
  facts.Observe(attempt, At(21));
  attempt.id.attempt = 1;
  attempt.state = RestState::kRunning;
  facts.Observe(attempt, At(22));
  const RestTask task{
      .stage = kReduceStage, .index = 0, .state = RestState::kFailed, .finished_at = At(30)};
  EXPECT_FALSE(facts.HasEnded(task));
  const std::vector<AttemptChanged> changes = ChangesIn(facts.ObserveEnd(task));
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].attempt, attempt.id);
  EXPECT_EQ(changes[0].state, AttemptState::kFailed);
  EXPECT_EQ(changes[0].at, At(30));
  EXPECT_EQ(changes[1].attempt, attempt.id);
  EXPECT_EQ(changes[1].state, AttemptState::kFailed);
  EXPECT_TRUE(changes[1].task_failed);
  EXPECT_TRUE(facts.HasEnded(task));
  EXPECT_THAT(facts.ObserveEnd(task), IsEmpty());
}

TEST(TaskFacts, ReportsATaskThatFailedBeforeItsFirstAttemptWasObserved) {
  TaskFacts facts;
  const auto changes =
      ChangesIn(facts.ObserveEnd({.stage = kMapStage, .index = 4, .state = RestState::kKilled}));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].attempt, (AttemptId{kMapStage, 4, 0}));
  EXPECT_EQ(changes[0].state, AttemptState::kKilled);
  EXPECT_TRUE(changes[0].task_failed);
}

TEST(TaskFacts, EndsTheOtherAttemptsOfATaskThatSucceeded) {
  TaskFacts facts;
  RestAttempt attempt = Reduce(RestState::kRunning, 0.2);
  facts.Observe(attempt, At(21));
  attempt.id.attempt = 1;
  attempt.state = RestState::kSucceeded;
  facts.Observe(attempt, At(22));
  const auto changes = ChangesIn(facts.ObserveEnd({.stage = kReduceStage,
                                                   .index = 0,
                                                   .state = RestState::kSucceeded,
                                                   .finished_at = At(20),
                                                   .successful_attempt = 1}));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].attempt, (AttemptId{kReduceStage, 0, 0}));
  EXPECT_EQ(changes[0].state, AttemptState::kKilled);
}

TEST(TaskFacts, CountsAReduceTaskFromItsFirstReduceFunction) {
  TaskFacts facts;
  const auto events = facts.Observe(Reduce(RestState::kRunning, 5.0 / 6, At(4)), At(10));
  const auto& profile = std::get<ReduceProfile>(events.back());
  EXPECT_NEAR(static_cast<double>(profile.bytes_done), kTaskUnits / 2.0, 1);
  EXPECT_EQ(profile.reduce_time, absl::Seconds(6));
}

constexpr const char* kApplicationUrl = "/ws/v1/cluster/apps/application_17_0001";
constexpr const char* kJobsUrl = "/proxy/application_17_0001/ws/v1/mapreduce/jobs";

// A web service whose responses depend on the end of the URL.
class Poll : public ::testing::Test {
 protected:
  Snapshot PollAt(double seconds) {
    const auto snapshot = poller_.Poll(At(seconds));
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.value_or(Snapshot());
  }
  // Adds a running job with these tasks.
  void Runs(const std::vector<std::string>& tasks) {
    answers_[kJobsUrl] = Job("RUNNING");
    answers_["/tasks"] = Tasks(tasks);
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

TEST_F(Poll, AcceptsTheIdOfTheJob) {
  answers_[kApplicationUrl] = Application("ACCEPTED", "UNDEFINED");
  EXPECT_FALSE(PollAt(0).is_final);
  EXPECT_THAT(asked_, Contains(std::string("http://rm:8088") + kApplicationUrl));
}

TEST_F(Poll, AcceptsTheUrlOfTheResourceManagersPage) {
  for (const char* url : {"http://rm:8088/", "http://rm:8088/cluster", "http://rm:8088/cluster/"}) {
    std::string asked;
    ApplicationPoller poller(url, "application_17_0001", [&](const std::string& asked_url) {
      asked = asked_url;
      return absl::StatusOr<std::string>(absl::NotFoundError(asked_url));
    });
    EXPECT_TRUE(absl::IsNotFound(poller.Poll(At(0)).status()));
    EXPECT_EQ(asked, std::string("http://rm:8088") + kApplicationUrl);
  }
}

TEST_F(Poll, ReportsAMissingApplication) {
  EXPECT_TRUE(absl::IsNotFound(poller_.Poll(At(0)).status()));
}

TEST_F(Poll, EstimatesFromTheProgressOfReduceTasks) {
  Runs({Task("m_000000", "SUCCEEDED"), Task("r_000000", "RUNNING"), Task("r_000001", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_1", "SUCCEEDED", 100)});
  // Both tasks have finished half of their reduce functions. One task took ten seconds, and the
  // other five.
  answers_["r_000000/attempts"] = Attempts({Attempt("r_000000_0", "RUNNING", 250.0 / 3, 10)});
  answers_["r_000001/attempts"] = Attempts({Attempt("r_000001_0", "RUNNING", 250.0 / 3, 15)});
  const Snapshot snapshot = PollAt(20);
  EXPECT_EQ(snapshot.info->name, "word count");
  const Estimate& forecast = snapshot.estimate;
  EXPECT_EQ(forecast.indicator, "tidemark");
  ASSERT_TRUE(Left(forecast).has_value());
  // At this pace, the tasks take 10 s and 5 s more.
  EXPECT_GE(*Left(forecast), absl::Seconds(10));
  EXPECT_LE(*Left(forecast), absl::Seconds(15));
  EXPECT_THAT(snapshot.notes,
              Contains(HasSubstr("no key groups: the forecast uses only the progress of tasks")));
  EXPECT_EQ(snapshot.coverage->anomalies, 0u);
  EXPECT_EQ(snapshot.coverage->rejected_events, 0u);
}

TEST_F(Poll, ShowsProgressInTheMapPhase) {
  Runs({Task("m_000000", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_0", "RUNNING", 10)});
  PollAt(5);
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_0", "RUNNING", 80)});
  const Snapshot snapshot = PollAt(40);
  EXPECT_EQ(snapshot.estimate.indicator, "tidemark");
  EXPECT_GT(snapshot.estimate.fraction_done, 0.1);
  EXPECT_LT(snapshot.estimate.fraction_done, 0.8);
}

TEST_F(Poll, EndsWithTheJob) {
  answers_[kJobsUrl] = Job("FAILED");
  answers_["/tasks"] = Tasks({Task("m_000000", "FAILED")});
  const Snapshot snapshot = PollAt(61);
  EXPECT_EQ(snapshot.state, JobState::kFailed);
  EXPECT_EQ(snapshot.message, "disk");
}

TEST_F(Poll, ReportsYarnsDiagnosticsOfAKilledJob) {
  answers_[kJobsUrl] = absl::StrReplaceAll(Job("KILLED"), {{"disk", ""}});
  answers_["/tasks"] = Tasks({Task("m_000000", "KILLED")});
  answers_[kApplicationUrl] = Application("KILLED", "KILLED");
  const Snapshot snapshot = PollAt(61);
  EXPECT_EQ(snapshot.state, JobState::kKilled);
  EXPECT_EQ(snapshot.message, "the queue is full");
}

TEST_F(Poll, EndsWithTheApplicationIfItsMasterIsGone) {
  Runs({});
  EXPECT_FALSE(PollAt(0).is_final);
  answers_.erase(kJobsUrl);
  answers_[kApplicationUrl] = Application("FINISHED", "SUCCEEDED");
  EXPECT_EQ(PollAt(61).state, JobState::kSucceeded);
}

TEST_F(Poll, CountsAFailedTaskAsEnded) {
  Runs({Task("m_000000", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_0", "RUNNING", 20)});
  EXPECT_EQ(PollAt(5).stages[0].running_tasks, 1u);
  answers_["/tasks"] = Tasks({Task("m_000000", "FAILED")});
  for (const bool are_attempts_known : {true, false}) {
    answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_0", "FAILED", 20)});
    if (!are_attempts_known) answers_.erase("m_000000/attempts");
    const Snapshot snapshot = PollAt(are_attempts_known ? 12 : 30);
    const StageProgress& maps = snapshot.stages[0];
    EXPECT_EQ(maps.running_tasks, 0u);
    EXPECT_EQ(maps.finished_tasks, 0u);
    EXPECT_EQ(maps.failed_attempts, 1u);
    EXPECT_EQ(maps.state, StageState::kDone);
    EXPECT_EQ(maps.fraction_done, 1);
    EXPECT_THAT(snapshot.notes, Contains(HasSubstr("1 task ended without success")));
    EXPECT_EQ(snapshot.coverage->silent_tasks, 0u);
    EXPECT_EQ(snapshot.coverage->anomalies, 0u);
  }
  answers_[kJobsUrl] = Job("SUCCEEDED");
  const Snapshot end = PollAt(61);
  EXPECT_EQ(end.state, JobState::kSucceeded);
  EXPECT_EQ(end.stages[0].finished_tasks, 0u);
}

TEST_F(Poll, DoesNotCallAKilledTaskFailed) {
  Runs({Task("m_000000", "KILLED")});
  const Snapshot snapshot = PollAt(12);
  EXPECT_EQ(snapshot.stages[0].running_tasks, 0u);
  EXPECT_THAT(snapshot.notes, Contains(HasSubstr("1 task ended without success")));
  for (const std::string& note : snapshot.notes) {
    EXPECT_EQ(note.find("failed"), std::string::npos) << note;
  }
}

TEST_F(Poll, PollsOtherTasksIfThePageOfOneIsMissing) {
  Runs({Task("r_000000", "RUNNING"), Task("r_000001", "RUNNING")});
  answers_["r_000001/attempts"] = Attempts({Attempt("r_000001_0", "RUNNING", 10)});
  EXPECT_EQ(PollAt(2).stages[1].shuffle->running_tasks, 1u);
}

TEST_F(Poll, ReadsTheTimesOfAnEndedJobFromYarn) {
  answers_[kApplicationUrl] = EndedApplication(R"("state":"FINISHED","finalStatus":"SUCCEEDED",)");
  const Snapshot snapshot = PollAt(100);
  EXPECT_EQ(snapshot.state, JobState::kSucceeded);
  EXPECT_EQ(snapshot.elapsed(), absl::Seconds(24));
  EXPECT_EQ(snapshot.info->name, "word count");
}

TEST_F(Poll, ReadsTheDurationFromAClockThatIsAhead) {
  answers_[kApplicationUrl] = EndedApplication(R"("state":"FINISHED","finalStatus":"SUCCEEDED",)");
  EXPECT_EQ(PollAt(12).elapsed(), absl::Seconds(24));
}

TEST_F(Poll, ReportsNoDurationWithoutTimes) {
  answers_[kApplicationUrl] = R"({"app":{"state":"KILLED","finishedTime":0}})";
  const Snapshot snapshot = PollAt(100);
  EXPECT_EQ(snapshot.state, JobState::kKilled);
  EXPECT_EQ(snapshot.started_at, std::nullopt);
  EXPECT_EQ(snapshot.info->name, "job_17_0001");
}

TEST_F(Poll, ReportsTheOutcomeThatYarnReports) {
  const struct {
    const char* state;
    const char* final_status;
    JobState expected;
  } cases[] = {{"FINISHED", "SUCCEEDED", JobState::kSucceeded},
               {"FINISHED", "FAILED", JobState::kFailed},
               {"FINISHED", "KILLED", JobState::kKilled},
               {"FAILED", "FAILED", JobState::kFailed},
               {"FAILED", "UNDEFINED", JobState::kFailed},
               {"KILLED", "KILLED", JobState::kKilled},
               {"KILLED", "", JobState::kKilled}};
  for (const auto& [state, final_status, expected] : cases) {
    ApplicationPoller poller(
        "http://rm:8088", "job_17_0001",
        [&, in_state = state, in_final = final_status](const std::string& url) {
          if (!url.ends_with(kApplicationUrl)) {
            return absl::StatusOr<std::string>(absl::NotFoundError(url));
          }
          return absl::StatusOr<std::string>(EndedApplication(
              fmt::format(R"("state":"{}","finalStatus":"{}",)", in_state, in_final)));
        });
    const auto snapshot = poller.Poll(At(100));
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_TRUE(snapshot->is_final);
    EXPECT_EQ(snapshot->state, expected) << state << " " << final_status;
  }
}

TEST_F(Poll, ReportsAnUnknownOutcomeAsUnknown) {
  for (const char* final_status : {R"("finalStatus":"UNDEFINED",)", ""}) {
    answers_[kApplicationUrl] =
        EndedApplication(std::string(R"("state":"FINISHED",)") + final_status);
    const Snapshot snapshot = PollAt(100);
    EXPECT_TRUE(snapshot.is_final);
    EXPECT_NE(snapshot.state, JobState::kSucceeded);
    EXPECT_THAT(snapshot.message, HasSubstr("YARN reports no outcome: state FINISHED"));
  }
}

TEST_F(Poll, ReportsWhyThereIsNoJobYet) {
  for (const char* state : {"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"}) {
    answers_[kApplicationUrl] = fmt::format(
        R"({{"app":{{"state":"{}","queue":"etl","diagnostics":"limit exceeded\nmore"}}}})", state);
    EXPECT_FALSE(PollAt(0).is_final);
    EXPECT_EQ(poller_.why_no_job(), fmt::format("application_17_0001 is waiting to start: YARN "
                                                "reports {} in queue etl (limit exceeded)",
                                                state));
  }
  answers_[kApplicationUrl] = Application("RUNNING", "UNDEFINED");
  EXPECT_FALSE(PollAt(1).is_final);
  EXPECT_EQ(poller_.why_no_job(),
            "application_17_0001 is running; its application master reports no job yet");
  Runs({});
  PollAt(2);
  EXPECT_EQ(poller_.why_no_job(), "");
}

TEST_F(Poll, WaitsUntilAJobHasTasks) {
  answers_["/tasks"] = Tasks({});
  for (const char* state : {"NEW", "INITED"}) {
    answers_[kJobsUrl] = fmt::format(
        R"({{"jobs":{{"job":[{{"id":"job_17_0001","state":"{}","mapsTotal":0}}]}}}})", state);
    EXPECT_FALSE(PollAt(0).is_final);
    EXPECT_EQ(
        poller_.why_no_job(),
        fmt::format("job_17_0001 has no tasks yet: its application master reports {}", state));
  }
  Runs({Task("m_000000", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_0", "RUNNING", 10)});
  const Snapshot snapshot = PollAt(2);
  EXPECT_EQ(snapshot.stages[0].running_tasks, 1u);
  EXPECT_EQ(snapshot.coverage->rejected_events, 0u);
}

TEST_F(Poll, CountsTheListedTasksOfAJobWithoutCounts) {
  answers_[kJobsUrl] = R"({"jobs":{"job":[{"id":"job_17_0001","state":"RUNNING"}]}})";
  answers_["/tasks"] = Tasks({Task("m_000001", "RUNNING"), Task("r_000000", "SCHEDULED")});
  answers_["m_000001/attempts"] = Attempts({Attempt("m_000001_0", "RUNNING", 10)});
  const Snapshot snapshot = PollAt(2);
  EXPECT_EQ(snapshot.stages[0].tasks, 2u);
  EXPECT_EQ(snapshot.stages[1].tasks, 1u);
  EXPECT_EQ(snapshot.coverage->rejected_events, 0u);
}

TEST_F(Poll, EndsWithAJobWhoseTasksAreNotListed) {
  answers_[kJobsUrl] = Job("KILLED");
  EXPECT_EQ(PollAt(61).state, JobState::kKilled);
}

TEST_F(Poll, NamesTheTypeOfAnApplicationThatIsNotMapReduce) {
  for (const char* state : {"ACCEPTED", "RUNNING", "FINISHED"}) {
    answers_[kApplicationUrl] =
        fmt::format(R"({{"app":{{"state":"{}","name":"etl","applicationType":"SPARK"}}}})", state);
    const absl::Status status = poller_.Poll(At(0)).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("application_17_0001 (etl) is of type SPARK"),
                      HasSubstr("`tidemark run spark`")));
  }
  answers_[kApplicationUrl] = R"({"app":{"state":"RUNNING","applicationType":"TEZ"}})";
  EXPECT_THAT(std::string(poller_.Poll(At(1)).status().message()),
              AllOf(HasSubstr("application_17_0001 is of type TEZ"),
                    HasSubstr("`yarn application -status application_17_0001`")));
  answers_[kApplicationUrl] = R"({"app":{"state":"RUNNING","applicationType":"MapReduce"}})";
  EXPECT_TRUE(poller_.Poll(At(2)).ok());
}

// A history server lists the jobs of all applications.
TEST_F(Poll, FindsItsJobAmongOtherJobs) {
  answers_[kJobsUrl] =
      fmt::format(R"({{"jobs":{{"job":[{{"id":"job_17_0009","name":"other","state":"FAILED"}},)"
                  R"({{"id":"job_17_0001","name":"word count","state":"SUCCEEDED","startTime":{},)"
                  R"("finishTime":{},"mapsTotal":1,"reducesTotal":2}}]}}}})",
                  Millis(0), Millis(60));
  answers_["job_17_0001/tasks"] = Tasks({});
  const Snapshot snapshot = PollAt(100);
  EXPECT_EQ(snapshot.state, JobState::kSucceeded);
  EXPECT_EQ(snapshot.info->name, "word count");
  EXPECT_EQ(snapshot.elapsed(), absl::Seconds(60));
}

TEST_F(Poll, ContinuesAfterARestartOfTheMaster) {
  Runs({});
  PollAt(0);
  answers_.erase(kJobsUrl);
  answers_[kApplicationUrl] = Application("RUNNING", "UNDEFINED");
  EXPECT_FALSE(PollAt(1).is_final);
  answers_[kJobsUrl] = Job("SUCCEEDED");
  EXPECT_EQ(PollAt(2).state, JobState::kSucceeded);
}

// The job has one map task. Two events contradict this, since a third task starts and reads.
TEST_F(Poll, CountsAContradictionOnce) {
  Runs({Task("m_000002", "RUNNING")});
  answers_["m_000002/attempts"] = Attempts({Attempt("m_000002_0", "RUNNING", 10)});
  EXPECT_EQ(PollAt(1).coverage->rejected_events, 2u);
}

TEST_F(Poll, PollsOnlyRunningTasksAndNewEnds) {
  Runs({Task("m_000000", "SUCCEEDED"), Task("r_000000", "RUNNING")});
  answers_["m_000000/attempts"] = Attempts({Attempt("m_000000_1", "SUCCEEDED", 100)});
  answers_["r_000000/attempts"] = Attempts({Attempt("r_000000_0", "RUNNING", 10)});
  PollAt(2);
  EXPECT_THAT(asked_, SizeIs(4));
  asked_.clear();
  PollAt(3);
  EXPECT_THAT(asked_, SizeIs(3));
}

}  // namespace
}  // namespace tidemark::cli::hadoop_poll_test
