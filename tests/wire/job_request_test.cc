

#include "proto/wire/error_details.h"
#include "proto/wire/job_codec.h"
#include "tests/test.h"
#include "tidemark/field_error.h"
#include "tidemark/rpc/v1/error_details.pb.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire::job_request_test {
namespace {

TEST(JobRequest, AFilterIsReadWhole) {
  v1::JobFilter message;
  message.add_states(v1::JOB_STATE_QUEUED);
  message.add_kinds(v1::JOB_KIND_WORKFLOW);
  message.set_user("ann");
  message.set_queue("etl");
  message.set_name_prefix("daily");
  message.set_workflow_id("w");
  const JobFilter wanted = {.states = {JobState::kQueued},
                            .kinds = {JobKind::kWorkflow},
                            .user = "ann",
                            .queue = "etl",
                            .name_prefix = "daily",
                            .workflow_id = "w"};
  EXPECT_EQ(ParseJobFilter(message).value(), wanted);
}

TEST(JobRequest, RejectsAnUnknownState) {
  v1::JobFilter message;
  message.add_states(v1::JOB_STATE_QUEUED);
  message.add_states(static_cast<v1::JobState>(70));
  EXPECT_EQ(ParseJobFilter(message).status().message(),
            "states[1]: must be a value that this version supports, not 70");
}

TEST(JobRequest, RejectsALongFilter) {
  const std::string longest(kTextBytesMax, 'x');
  v1::JobFilter message;
  for (int i = 0; i < v1::JobState_ARRAYSIZE; ++i) message.add_states(v1::JOB_STATE_RUNNING);
  message.set_name_prefix(longest);
  EXPECT_TRUE(ParseJobFilter(message).ok());
  message.set_name_prefix(longest + "x");
  EXPECT_EQ(WrongFieldOf(ParseJobFilter(message).status()).path, "name_prefix");
  message.clear_name_prefix();
  message.add_states(v1::JOB_STATE_RUNNING);
  EXPECT_EQ(WrongFieldOf(ParseJobFilter(message).status()).path, "states");
}

TEST(JobRequest, AScenarioChangesItsFields) {
  v1::Scenario message;
  EXPECT_EQ(ParseScenario(message).value(), Scenario{});
  message.set_slots(8);
  message.set_data_factor(2.5);
  message.set_policy(v1::SCHEDULING_POLICY_DRF);
  EXPECT_EQ(ParseScenario(message).value(), (Scenario{8, 2.5, SchedulingPolicy::kDrf, {}}));
  message.Clear();
  message.set_executors(4);
  EXPECT_EQ(ParseScenario(message).value(), (Scenario{.executors = 4}));
}

TEST(JobRequest, RejectsAScenarioOutOfRange) {
  v1::Scenario message;
  message.set_slots(0);
  EXPECT_EQ(WrongFieldOf(ParseScenario(message).status()).path, "slots");
  message.set_slots(1);
  message.set_executors(1);  // Only one of the two fields may be set.
  EXPECT_EQ(WrongFieldOf(ParseScenario(message).status()).path, "executors");
  message.clear_slots();
  for (const std::uint32_t executors : {0u, 1'000'001u}) {
    message.set_executors(executors);
    EXPECT_EQ(WrongFieldOf(ParseScenario(message).status()).path, "executors") << executors;
  }
  message.clear_executors();
  for (const double factor : {0.0, -1.0, 2e6, std::nan("")}) {
    message.set_data_factor(factor);
    EXPECT_EQ(WrongFieldOf(ParseScenario(message).status()).path, "data_factor") << factor;
  }
  message.clear_data_factor();
  message.set_policy(static_cast<v1::SchedulingPolicy>(9));
  EXPECT_EQ(WrongFieldOf(ParseScenario(message).status()).path, "policy");
}

TEST(JobRequest, AStateOfAPlanIsSentWhole) {
  const PlanState state = {
      .starts_in = absl::Seconds(54),
      .ends_in = absl::Seconds(81.5),
      .stages = {
          {.id = {2, 1}, .tasks = 2.5, .task_time = absl::Seconds(24), .bottleneck = "network"},
          {.id = {3, 0}}}};
  v1::PlanState message;
  EncodePlanState(state, message);
  EXPECT_EQ(ParsePlanState(message).value(), state);
  message.mutable_stages(0)->set_task_count(-1);
  EXPECT_EQ(WrongFieldOf(ParsePlanState(message).status()).path, "stages[0].task_count");
}

TEST(JobRequest, AViewHasItsDefault) {
  EXPECT_EQ(ParseView(v1::VIEW_UNSPECIFIED, View::kBasic).value(), View::kBasic);
  EXPECT_EQ(ParseView(v1::VIEW_STAGES, View::kBasic).value(), View::kStages);
  EXPECT_EQ(ParseView(v1::VIEW_FULL, View::kBasic).value(), View::kFull);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseView(7, View::kBasic).status()));
}

template <typename Detail>
Detail DetailOf(const rpc::v1::Status& status, int at, const std::string& type) {
  Detail detail;
  if (at >= status.details_size()) return detail;
  EXPECT_EQ(status.details(at).type_url(), "type.googleapis.com/google.rpc." + type);
  EXPECT_TRUE(detail.ParseFromString(status.details(at).value()));
  return detail;
}

rpc::v1::Status Details(const absl::Status& status, const std::string& limit = "",
                        absl::Duration retry_after = absl::ZeroDuration()) {
  rpc::v1::Status details;
  EXPECT_TRUE(details.ParseFromString(EncodeErrorDetails(status, limit, retry_after)));
  EXPECT_EQ(details.code(), static_cast<int>(status.code()));
  EXPECT_EQ(details.message(), std::string(status.message()));
  return details;
}

TEST(ErrorDetails, EveryFailureHasAReason) {
  const auto details = Details(absl::NotFoundError("no job x"));
  ASSERT_EQ(details.details_size(), 1);
  const auto info = DetailOf<rpc::v1::ErrorInfo>(details, 0, "ErrorInfo");
  EXPECT_EQ(info.reason(), "NOT_FOUND");
  EXPECT_EQ(info.domain(), "tidemark");
}

TEST(ErrorDetails, AWrongFieldIsNamedByItsPath) {
  const auto details = Details(FieldError("jobs[2].name", "is missing"));
  ASSERT_EQ(details.details_size(), 2);
  EXPECT_EQ(DetailOf<rpc::v1::ErrorInfo>(details, 0, "ErrorInfo").reason(), "INVALID_FIELD");
  const auto request = DetailOf<rpc::v1::BadRequest>(details, 1, "BadRequest");
  ASSERT_EQ(request.field_violations_size(), 1);
  EXPECT_EQ(request.field_violations(0).field(), "jobs[2].name");
  EXPECT_EQ(request.field_violations(0).description(), "is missing");
}

TEST(ErrorDetails, NamesALimitAndTheRetryDelay) {
  const auto details =
      Details(absl::ResourceExhaustedError("too many"), "watchers", absl::Milliseconds(1500));
  ASSERT_EQ(details.details_size(), 2);
  const auto info = DetailOf<rpc::v1::ErrorInfo>(details, 0, "ErrorInfo");
  EXPECT_EQ(info.reason(), "LIMIT_EXCEEDED");
  EXPECT_EQ(info.metadata().at("limit"), "watchers");
  EXPECT_EQ(DetailOf<rpc::v1::RetryInfo>(details, 1, "RetryInfo").retry_delay().nanos(),
            500'000'000);
}

TEST(FieldError, MakesPathAndDescriptionValidUtf8) {
  const absl::Status status = FieldError("", "unknown job \xff");
  EXPECT_EQ(status.message(), "unknown job ?");
  EXPECT_EQ(WrongFieldOf(status).description, "unknown job ?");
  EXPECT_EQ(WrongFieldOf(absl::InvalidArgumentError("x")).description, "");
}

}  // namespace
}  // namespace tidemark::wire::job_request_test
