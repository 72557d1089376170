#include "proto/wire/explain_codec.h"

#include "tests/test.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/explain_service.pb.h"

namespace tidemark::wire::explain_codec_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Explanation Full() {
  QueryWaits query = {.query = "sql/3", .seconds = 60, .skew_seconds = 2};
  query.longest_task =
      LongestTask{.attempt = {.stage = kReduceStage, .index = 2, .attempt = 1, .stage_attempt = 3},
                  .kind = StageKind::kReduce,
                  .host = "node-3",
                  .seconds = 50,
                  .mean_seconds = 20,
                  .group_bytes = 1'200'000,
                  .group_seconds = 40};
  query.data_growth = DataGrowth{.task_seconds = 20,
                                 .task_seconds_lower = 18,
                                 .task_seconds_upper = 21,
                                 .read_bytes = 300,
                                 .earlier_read_bytes = 100,
                                 .all_task_seconds = 45};
  query.waits[WaitReason::kSlots] = {8.0, false};
  query.waits[WaitReason::kIo] = {0.0, true};
  query.culprits = {{.job_id = "app-7",
                     .query = "sql/1",
                     .resource = WaitReason::kProcessor,
                     .host = "node-3",
                     .seconds = 7.5,
                     .seconds_lower = 0,
                     .seconds_upper = 9,
                     .sooner_seconds = 40,
                     .sooner_seconds_lower = 25,
                     .sooner_seconds_upper = 60},
                    {.jobs = 4, .seconds = 1}};
  return {.job_id = "app",
          .run_uid = "run",
          .at = absl::FromUnixSeconds(1'700'000'060),
          .since = absl::FromUnixSeconds(1'700'000'000),
          .is_partial = true,
          .queries = {query, {.query = ""}},
          .queries_left_out = 12,
          .has_ended = true,
          .more_to_come = true,
          .hosts = {"node-1", "node-3"}};
}

TEST(ExplainCodec, ParsesItsOwnEncoding) {
  v1::Explanation message;
  EncodeExplanation(Full(), message);
  const auto read = ParseExplanation(message).value();
  EXPECT_EQ(read, Full());
}

TEST(ExplainCodec, SkipsInvalidNumbers) {
  Explanation explanation = Full();
  explanation.queries[0].seconds = std::numeric_limits<double>::quiet_NaN();
  explanation.queries[0].skew_seconds = -1;
  explanation.queries[0].data_growth->task_seconds_upper = kInfinity;
  explanation.queries[0].longest_task->group_seconds = std::numeric_limits<double>::quiet_NaN();
  explanation.queries[0].waits[WaitReason::kSlots].seconds = kInfinity;
  explanation.queries[0].culprits[0].seconds = kInfinity;
  v1::Explanation message;
  EncodeExplanation(explanation, message);
  const auto read = ParseExplanation(message).value();
  EXPECT_FALSE(read.queries[0].seconds);
  EXPECT_FALSE(read.queries[0].skew_seconds);
  EXPECT_FALSE(read.queries[0].data_growth);
  EXPECT_FALSE(read.queries[0].longest_task);
  EXPECT_FALSE(read.queries[0].waits[WaitReason::kSlots].seconds);
  EXPECT_EQ(read.queries[0].culprits.size(), 1U);
}

TEST(ExplainCodec, NamesTheInvalidFieldOfAnAnswer) {
  using Query = v1::QueryWaits;
  const std::pair<const char*, void (*)(Query&)> invalid[] = {
      {"culprits[1].seconds", [](Query& q) { q.mutable_culprits(1)->set_seconds(-1); }},
      {"culprits[0].seconds_upper",
       [](Query& q) { q.mutable_culprits(0)->set_seconds_upper(kInfinity); }},
      {"data_growth.read_bytes", [](Query& q) { q.mutable_data_growth()->set_read_bytes(-1); }},
      {"longest_task.mean_seconds",
       [](Query& q) { q.mutable_longest_task()->set_mean_seconds(-1); }}};
  for (const auto& [field, spoil] : invalid) {
    v1::Explanation message;
    EncodeExplanation(Full(), message);
    spoil(*message.mutable_queries(0));
    EXPECT_EQ(WrongFieldOf(ParseExplanation(message).status()).path,
              std::string("queries[0].") + field);
  }
}

TEST(ExplainCodec, AnUnknownKindOfStageBecomesUnknown) {
  v1::Explanation message;
  EncodeExplanation(Full(), message);
  message.mutable_queries(0)->mutable_longest_task()->set_kind(static_cast<v1::StageKind>(99));
  const auto read = ParseExplanation(message).value();
  EXPECT_EQ(read.queries[0].longest_task->kind, StageKind::kUnknown);
}

TEST(ExplainCodec, SkipsUnknownResources) {
  v1::Explanation message;
  EncodeExplanation(Full(), message);
  message.mutable_queries(0)->mutable_waits(0)->set_resource(static_cast<v1::WaitedResource>(99));
  message.mutable_queries(0)->mutable_culprits(0)->set_resource(
      static_cast<v1::WaitedResource>(99));
  const auto read = ParseExplanation(message).value();
  EXPECT_FALSE(read.queries[0].waits[WaitReason::kSlots].seconds);
  EXPECT_EQ(read.queries[0].culprits.size(), 1U);
}

TEST(ExplainCodec, AQuestionIsReadAgain) {
  const ExplainQuestion question = {.query = "sql/1",
                                    .resource = WaitReason::kNetwork,
                                    .host = "node-3",
                                    .culprits_max = 5,
                                    .last = absl::Minutes(3)};
  v1::ExplainQuestion message;
  EncodeQuestion("app", question, message);
  const auto read = ParseQuestion(message).value();
  EXPECT_EQ(read.first, "app");
  EXPECT_EQ(read.second, question);
}

TEST(ExplainCodec, TheTimeOfAQuestionIsRoundedUpToWholeMinutes) {
  v1::ExplainQuestion message;
  message.set_job_id("app");
  message.mutable_last()->set_seconds(61);
  const auto read = ParseQuestion(message).value();
  EXPECT_EQ(read.second.last, absl::Minutes(2));
}

TEST(ExplainCodec, ACauseMayBeTheLongestJobAndItsLongestQuery) {
  v1::ExplainQuestion message;
  message.set_job_id("app");
  message.set_because_of(std::string(256, 'j') + "/" + std::string(256, 'q'));
  EXPECT_TRUE(ParseQuestion(message).ok());
}

struct WrongCase {
  const char* field;
  void (*spoil)(v1::ExplainQuestion&);
};

class WrongQuestion : public ::testing::TestWithParam<WrongCase> {};

TEST_P(WrongQuestion, NamesTheField) {
  v1::ExplainQuestion message;
  message.set_job_id("app");
  EXPECT_TRUE(ParseQuestion(message).ok());
  GetParam().spoil(message);
  EXPECT_EQ(WrongFieldOf(ParseQuestion(message).status()).path, GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongQuestion,
    ::testing::Values(
        WrongCase{"job_id", [](v1::ExplainQuestion& q) { q.clear_job_id(); }},
        WrongCase{"job_id", [](v1::ExplainQuestion& q) { q.set_job_id(std::string(257, 'x')); }},
        WrongCase{"query", [](v1::ExplainQuestion& q) { q.set_query(std::string(257, 'x')); }},
        WrongCase{"host", [](v1::ExplainQuestion& q) { q.set_host(std::string(257, 'x')); }},
        WrongCase{"because_of",
                  [](v1::ExplainQuestion& q) { q.set_because_of(std::string(514, 'x')); }},
        WrongCase{
            "resource",
            [](v1::ExplainQuestion& q) { q.set_resource(static_cast<v1::WaitedResource>(99)); }},
        WrongCase{"host",
                  [](v1::ExplainQuestion& q) {
                    q.set_host("node-1");
                    q.set_resource(v1::WAITED_RESOURCE_SLOTS);
                  }},
        WrongCase{"culprits_max", [](v1::ExplainQuestion& q) { q.set_culprits_max(101); }},
        WrongCase{"last", [](v1::ExplainQuestion& q) { q.mutable_last(); }},
        WrongCase{"last", [](v1::ExplainQuestion& q) { q.mutable_last()->set_seconds(-5); }},
        WrongCase{"last", [](v1::ExplainQuestion& q) { q.mutable_last()->set_seconds(601); }}));

ClusterContention FullContention() {
  const ContentionRow row = {
      .delayed = ContentionParty{.job_id = "app", .query = "sql/1", .stage = 0},
      .cause = ContentionParty{.jobs = 0},
      .resource = WaitReason::kSlots,
      .host = "node-3",
      .seconds = LimitedAmount{7, 5, 9},
      .share = LimitedAmount{0.5, 0.25, 1},
      .responsibility = 1.5,
      .impact = 2,
      .queries = 3};
  return {.at = absl::FromUnixSeconds(1'700'000'060),
          .since = absl::FromUnixSeconds(1'700'000'000),
          .is_partial = true,
          .jobs = 4,
          .lists = {{.kind = ContentionKind::kDelayedQueries, .rows = {row, {}}},
                    {.kind = ContentionKind::kPlaces, .rows = {row}, .left_out = 7}}};
}

TEST(ContentionCodec, ParsesItsOwnEncoding) {
  v1::Contention message;
  EncodeContention(FullContention(), message);
  const auto read = ParseContention(message).value();
  EXPECT_EQ(read, FullContention());
}

TEST(ContentionCodec, NamesTheInvalidFieldAndSkipsUnknownLists) {
  v1::Contention message;
  EncodeContention(FullContention(), message);
  message.mutable_lists(0)->mutable_rows(1)->mutable_share()->set_upper(kInfinity);
  EXPECT_EQ(WrongFieldOf(ParseContention(message).status()).path, "lists[0].rows[1].share.upper");
  message.mutable_lists(0)->set_kind(static_cast<v1::ContentionListKind>(99));
  const auto read = ParseContention(message).value();
  ASSERT_EQ(read.lists.size(), 1U);
  EXPECT_EQ(read.lists[0].kind, ContentionKind::kPlaces);
}

TEST(ContentionCodec, ParsesItsOwnQuestions) {
  const ContentionQuestion question = {.job_id = "app",
                                       .query = "sql/1",
                                       .resource = WaitReason::kIo,
                                       .host = "node-1",
                                       .last = absl::Minutes(5),
                                       .rows_max = 9};
  v1::ContentionQuestion message;
  EncodeContentionQuestion(question, message);
  const auto read = ParseContentionQuestion(message).value();
  EXPECT_EQ(read, question);
  EXPECT_EQ(*ParseContentionQuestion({}), ContentionQuestion());
}

TEST(ContentionCodec, NamesTheInvalidFieldOfAQuestion) {
  using Question = v1::ContentionQuestion;
  const std::pair<const char*, void (*)(Question&)> invalid[] = {
      {"query", [](Question& q) { q.set_query("sql/1"); }},
      {"job_id", [](Question& q) { q.set_job_id(std::string(300, 'a')); }},
      {"rows_max", [](Question& q) { q.set_rows_max(101); }},
      {"last", [](Question& q) { q.mutable_last()->set_seconds(601); }},
      {"host", [](Question& q) {
         q.set_host("node-1");
         q.set_resource(v1::WAITED_RESOURCE_SLOTS);
       }}};
  for (const auto& [field, spoil] : invalid) {
    Question question;
    spoil(question);
    EXPECT_EQ(WrongFieldOf(ParseContentionQuestion(question).status()).path, field);
  }
}

}  // namespace
}  // namespace tidemark::wire::explain_codec_test
