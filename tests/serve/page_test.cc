// Tests that the page shows the same words as the console for the same snapshots.
#include "serve/page.h"

#include <unistd.h>

#include "console/deadline_wording.h"
#include "console/job_summary.h"
#include "console/job_wording.h"
#include "proto/wire/explain_codec.h"
#include "proto/wire/message_time.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::serve::page_test {
namespace {

const absl::Time kNoon = absl::FromUnixSeconds(1'700'000'000);

Snapshot Running(absl::Duration median, absl::Duration lower, absl::Duration upper) {
  Snapshot snapshot;
  snapshot.job_id = "job-1";
  snapshot.sequence = 1;
  snapshot.at = kNoon;
  snapshot.state = JobState::kRunning;
  snapshot.info = JobInfo{.name = "my \x1b[2Jjob", .kind = JobKind::kMapReduce};
  snapshot.estimate = {.state = EstimateState::kValid,
                       .fraction_done = 0.416,
                       .fraction_done_lower = 0.4,
                       .fraction_done_upper = 0.5,
                       .remaining = Range{median, lower, upper}};
  snapshot.stage_infos = {{.id = {.stage = 0}, .kind = StageKind::kMap},
                          {.id = {.stage = 1}, .kind = StageKind::kReduce}};
  snapshot.stages = {{.id = {.stage = 0}, .state = StageState::kDone},
                     {.id = {.stage = 1}, .state = StageState::kRunning, .tasks = 4}};
  return snapshot;
}

absl::Time TimeOf(const google::protobuf::Timestamp& message) {
  return absl::FromUnixSeconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

class ServerAtPort7412 final : public web::WebServer {
 public:
  int port() const override { return 7412; }
};

TEST(WebUrl, NamesThisHostIfItListensOnAllAddresses) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
  ServeConfig config;
  for (const char* all : {"0.0.0.0:0", "[::]:0", "[::0]:7412"}) {
    config.web_address = all;
    EXPECT_THAT(WebUrl(config, ServerAtPort7412()),
                testing::AnyOf("http://" + std::string(name) + ":7412/", "http://127.0.0.1:7412/"));
  }
  for (const char* one : {"127.0.0.2", "[::1]", "localhost"}) {
    config.web_address = std::string(one) + ":0";
    EXPECT_EQ(WebUrl(config, ServerAtPort7412()), "http://" + std::string(one) + ":7412/");
  }
}

TEST(WebWords, EqualTheWordsOfTheConsole) {
  const console::TextOptions text = {.unicode = true};
  const Snapshot snapshot = Running(absl::Seconds(41), absl::Seconds(35), absl::Seconds(52));
  const web::v1::JobWords words = WebWordsOf(snapshot);
  EXPECT_EQ(words.title(), console::JobTitle(snapshot, text));
  EXPECT_EQ(words.title().find('\x1b'), std::string::npos);
  EXPECT_EQ(words.percent() + " " + words.percent_bounds(),
            console::PercentText(snapshot, snapshot.estimate, text));
  EXPECT_LT(words.shown_lower(), words.shown_fraction());
  EXPECT_GT(words.shown_upper(), words.shown_fraction());
  EXPECT_EQ(words.state(), "running");
  const console::RemainingWords left =
      console::DescribeRemaining(snapshot, snapshot.estimate, text);
  EXPECT_EQ(words.remaining() + words.remaining_detail(), left.text());
  EXPECT_EQ(words.step(), console::CurrentStep(snapshot));
  ASSERT_EQ(words.stages_size(), 2);
  EXPECT_EQ(words.stages(0).state(), "done");
  EXPECT_EQ(words.stages(1).name(), console::StageName(snapshot, {.stage = 1}, text));
}

TEST(WebWords, DescribeTheHeadlineOfAnUnknownApplication) {
  const web::v1::JobWords words = WebWordsOf(console::SecondQuery());
  EXPECT_EQ(words.headline(), "sql/1 load");
  EXPECT_EQ(words.title(), "q64");
  EXPECT_EQ(words.percent() + " " + words.percent_bounds(), "≈ 25 % (20–33)");
  EXPECT_EQ(words.remaining() + words.remaining_detail(), "≈ 1 min left (40 s – 1 min 20 s)");
  EXPECT_EQ(words.step(), "1 query done, more may come");
}

TEST(WebWords, NameTheBasisForJobsOfAWorkflow) {
  Snapshot workflow = console::Visits();
  workflow.children[1].estimate.basis = Basis::kGuess;
  const web::v1::JobWords words = WebWordsOf(workflow);
  ASSERT_EQ(words.children_size(), 3);
  EXPECT_EQ(words.children(0).state(), "done");
  EXPECT_EQ(words.children(1).state(), "≈ 1 min left (50 s – 1 min 10 s, a guess)");
  EXPECT_EQ(words.children(2).state(), "starts in ≈ 1 min (a guess)");
}

// If 41 s remain with an interval of 17 s, times are rounded to at most a fifth of the interval,
// which results in 1 s.
TEST(WebWords, RoundTheEndLikeTheRemainingTime) {
  web::v1::JobWords words =
      WebWordsOf(Running(absl::Seconds(41), absl::Seconds(35), absl::Seconds(52)));
  EXPECT_EQ(TimeOf(words.ends_at()), kNoon + absl::Seconds(41));
  EXPECT_EQ(TimeOf(words.ends_at_lower()), kNoon + absl::Seconds(35));
  EXPECT_EQ(TimeOf(words.ends_at_upper()), kNoon + absl::Seconds(52));
  // If 7 min remain with an interval of 15 min, times are rounded to minutes. kNoon is 20 s after a
  // full minute.
  words = WebWordsOf(Running(absl::Seconds(431), absl::Minutes(5), absl::Minutes(20)));
  EXPECT_EQ(TimeOf(words.ends_at()), kNoon + absl::Minutes(7) - absl::Seconds(20));
  EXPECT_EQ(TimeOf(words.ends_at_upper()), kNoon + absl::Minutes(20) + absl::Seconds(40));
  // The end of a wide interval is not shown to the second, although the median is.
  words = WebWordsOf(Running(absl::Seconds(95), absl::Seconds(20), absl::Minutes(9)));
  EXPECT_EQ(TimeOf(words.ends_at()), kNoon + absl::Seconds(40));
  EXPECT_EQ(TimeOf(words.ends_at_lower()), kNoon - absl::Seconds(20));
  EXPECT_EQ(TimeOf(words.ends_at_upper()), kNoon + absl::Minutes(9) + absl::Seconds(40));
  // kNoon is 13 min 20 s after a full hour. If an hour remains, known to within 10 min, seconds are
  // not shown.
  words = WebWordsOf(Running(absl::Minutes(60), absl::Minutes(40), absl::Minutes(100)));
  EXPECT_EQ(TimeOf(words.ends_at()), kNoon + absl::Minutes(60) - absl::Seconds(20));
}

TEST(WebWords, HaveNoEndWithoutAnUpperBound) {
  EXPECT_FALSE(
      WebWordsOf(Running(absl::Hours(24), absl::Hours(1), absl::Hours(24'000))).has_ends_at());
}

// The ratio of 590 s and 200 s is 2.95, but that of the rounded ends exceeds 3.
TEST(WebWords, MarkAWideEndLikeTheConsole) {
  const auto with = [](absl::Duration lower, absl::Duration upper) {
    Snapshot snapshot = Running(absl::Seconds(200), lower, upper);
    snapshot.started_at = kNoon - absl::Seconds(60);
    return snapshot;
  };
  EXPECT_FALSE(WebWordsOf(with(absl::Seconds(50), absl::Seconds(590))).is_end_wide());
  EXPECT_TRUE(WebWordsOf(with(absl::Seconds(50), absl::Seconds(610))).is_end_wide());
  EXPECT_TRUE(WebWordsOf(with(absl::ZeroDuration(), absl::Seconds(550))).is_end_wide())
      << "the console calls an estimate between 1 min and 10 min 10 s a guess";
  Snapshot guess = with(absl::Seconds(150), absl::Seconds(250));
  EXPECT_FALSE(WebWordsOf(guess).is_end_wide());
  guess.estimate.basis = Basis::kGuess;
  EXPECT_TRUE(WebWordsOf(guess).is_end_wide());
  guess.estimate.remaining->upper.reset();
  EXPECT_FALSE(WebWordsOf(guess).is_end_wide()) << "there is no upper bound";
}

TEST(WebWords, ContainTheTimesOfTheJobAndItsStages) {
  Snapshot snapshot = Running(absl::Seconds(41), absl::Seconds(35), absl::Seconds(52));
  EXPECT_EQ(WebWordsOf(snapshot).elapsed(), "");
  snapshot.started_at = kNoon - absl::Seconds(125);
  snapshot.stages[0].started_at = snapshot.started_at;
  snapshot.stages[0].ended_at = kNoon - absl::Milliseconds(121'600);
  const web::v1::JobWords words = WebWordsOf(snapshot);
  EXPECT_EQ(words.elapsed(), "2 min 05 s");
  EXPECT_EQ(words.stages(0).took(), "3.4 s");
  EXPECT_EQ(words.stages(1).took(), "");
}

TEST(WebSummary, EqualsTheParagraphOfTheConsole) {
  Snapshot ended = Running(absl::ZeroDuration(), absl::ZeroDuration(), absl::ZeroDuration());
  ended.is_final = true;
  ended.state = JobState::kSucceeded;
  ended.started_at = kNoon - absl::Seconds(60);
  ended.ended_at = kNoon;
  const absl::Status unknown = absl::UnavailableError("this master reports none");
  EXPECT_EQ(WebTexts().summary_of(ended, unknown),
            "The job's waits are unknown: this master reports none.");
  EXPECT_EQ(WebTexts().summary_of(ended, unknown),
            console::TimeSpentText(ended, std::nullopt, unknown, {.unicode = true}));
}

TEST(WebWords, ContainNoEndWithoutAnEstimate) {
  Snapshot snapshot = Running(absl::InfiniteDuration(), absl::ZeroDuration(), absl::Seconds(1));
  EXPECT_FALSE(WebWordsOf(snapshot).has_ends_at());
  snapshot.estimate.remaining.reset();
  EXPECT_FALSE(WebWordsOf(snapshot).has_ends_at());
  snapshot = Running(absl::Seconds(41), absl::Seconds(35), absl::Seconds(52));
  snapshot.estimate.state = EstimateState::kOverdue;
  EXPECT_FALSE(WebWordsOf(snapshot).has_ends_at());
  snapshot.estimate.state = EstimateState::kFinal;
  snapshot.is_final = true;
  EXPECT_FALSE(WebWordsOf(snapshot).has_ends_at());
}

// The page inserts the time of day, which depends on the time zone of the user.
TEST(WebWords, DescribeADeadlineLikeTheConsole) {
  Snapshot snapshot = Running(absl::Minutes(40), absl::Minutes(35), absl::Minutes(52));
  EXPECT_EQ(WebWordsOf(snapshot).due_before() + WebWordsOf(snapshot).due_after(), "");
  snapshot.deadline = kNoon + absl::Minutes(30);
  snapshot.late_probability = 0.834;
  web::v1::JobWords words = WebWordsOf(snapshot);
  EXPECT_EQ(words.due_before() + "22:43:20" + words.due_after(),
            console::DeadlineText(snapshot, {.unicode = true}));
  EXPECT_EQ(words.due_after(), ", 83 % likely late");
  EXPECT_TRUE(words.is_likely_late());
  snapshot.late_probability = 0.2;
  EXPECT_FALSE(WebWordsOf(snapshot).is_likely_late());
  snapshot.late_probability.reset();
  EXPECT_EQ(WebWordsOf(snapshot).due_before(), "due ");
  EXPECT_EQ(WebWordsOf(snapshot).due_after(), "");
}

TEST(WebWords, ShowNoZeroTimeOrShareOfAHeavyKey) {
  web::v1::TasksAnswer answer;
  for (const auto& [seconds, share] :
       {std::pair(20, 0.61), std::pair(0, 0.004), std::pair(3, 0.)}) {
    v1::HeavyGroup& group = *answer.mutable_list()->add_heavy_groups();
    group.mutable_time()->set_seconds(seconds);
    group.set_share(share);
  }
  WebTexts().add_task_words(answer);
  EXPECT_EQ(answer.heavy_groups(0).time(), "≈ 20 s");
  EXPECT_EQ(answer.heavy_groups(0).share(), "61 %");
  EXPECT_EQ(answer.heavy_groups(1).time(), "< 1 s");
  EXPECT_EQ(answer.heavy_groups(1).share(), "< 1 %");
  EXPECT_EQ(answer.heavy_groups(2).share(), "");
}

TEST(WebWords, HaveOneHeadingForEachWaitOfAQuery) {
  const QueryWaits query = {.query = "sql/0", .seconds = 10};
  const Explanation explanation = {
      .job_id = "job-1", .at = kNoon, .since = kNoon, .queries = {query}};
  web::v1::ExplanationAnswer answer;
  wire::EncodeExplanation(explanation, *answer.mutable_explanation());
  v1::ExplainQuestion question;
  question.set_job_id("job-1");
  WebTexts().add_explanation_words(question, answer);
  ASSERT_EQ(answer.queries_size(), 1);
  EXPECT_EQ(answer.wait_headings_size(), answer.queries(0).waits_size());
  EXPECT_EQ(answer.wait_headings(0), "Slots");
}

TEST(WebWords, ContainTheForecastErrorOfAnEndedJob) {
  Snapshot snapshot = Running(absl::Seconds(41), absl::Seconds(35), absl::Seconds(52));
  snapshot.errors = {{.indicator = "hadoop", .job_avg_points = 30, .job_max_points = 60},
                     {.indicator = "tidemark", .job_avg_points = 2.14, .job_max_points = 8.9}};
  EXPECT_EQ(WebWordsOf(snapshot).accuracy(), "");
  snapshot.is_final = true;
  EXPECT_EQ(WebWordsOf(snapshot).accuracy(), "mean progress error 2.1 points, largest 8.9");
}

}  // namespace
}  // namespace tidemark::serve::page_test
