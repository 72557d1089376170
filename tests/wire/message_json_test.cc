#include "proto/wire/message_json.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include "tests/test.h"
#include "tidemark/v1/job.pb.h"
#include "tidemark/v1/job_service.pb.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::wire::message_json_test {
namespace {

TEST(MessageJson, TheTypeOfAFieldDecidesWhetherItIsPresent) {
  v1::Range range;
  EXPECT_EQ(MessageJson(range), "{}") << "messages that are not set";
  range.mutable_median();
  EXPECT_EQ(MessageJson(range), R"({"median":"0s"})");
  v1::Coverage coverage;
  EXPECT_THAT(MessageJson(coverage), HasSubstr(R"("lost_events":"0")"));
  EXPECT_THAT(MessageJson(coverage), ::testing::Not(HasSubstr("map_profiles")));
  coverage.set_map_profiles(0);
  EXPECT_THAT(MessageJson(coverage), HasSubstr(R"("map_profiles":0)"));
  EXPECT_EQ(MessageJson(v1::JobFilter()), R"({"states":[],"kinds":[],"user":"","queue":"",)"
                                          R"("name_prefix":"","workflow_id":""})");
}

TEST(MessageJson, AgreesWithTheParserOfProtobuf) {
  web::v1::JobListAnswer message;
  v1::Snapshot& job = *message.mutable_list()->add_snapshots();
  job.set_job_id("a \"b\" \\ <c>\n\x01 \xe2\x89\x88");
  job.set_sequence(std::numeric_limits<std::uint64_t>::max());
  job.mutable_at()->set_seconds(1'700'000'000);
  job.mutable_at()->set_nanos(1'500'000);
  job.set_state(v1::JOB_STATE_RUNNING);
  job.mutable_estimate()->set_fraction_done(0.1);
  job.mutable_estimate()->mutable_remaining()->mutable_median()->set_nanos(250'000'000);
  job.set_late_probability(1e-7);
  job.add_stage_infos()->add_parents(3);
  job.add_notes("note");
  (*message.mutable_words())["a \"b\""].set_has_percent(true);
  (*message.mutable_words())[""].set_shown_fraction(0.25);
  web::v1::JobListAnswer read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(MessageJson(message), &read).ok())
      << MessageJson(message);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(message, read))
      << MessageJson(message) << read.DebugString();
}

TEST(MessageJson, WritesNumbersThatJsonLacks) {
  v1::HostTasks host;
  host.add_busy(std::numeric_limits<float>::infinity());
  host.add_busy(std::nanf(""));
  host.add_busy(0.1F);
  EXPECT_THAT(MessageJson(host), HasSubstr(R"("busy":["Infinity","NaN",0.1])"));
}

TEST(MessageJson, WritesTheNumberOfAnEnumValueThatThisVersionDoesNotHave) {
  v1::TaskProgress task;
  task.set_state(static_cast<v1::AttemptState>(77));
  EXPECT_THAT(MessageJson(task), HasSubstr(R"("state":77)"));
}

TEST(MessageJson, IsAscii) {
  v1::HostTasks host;
  host.set_host("x\xe2\x81\xa6y\x7f\xff");
  EXPECT_THAT(MessageJson(host), HasSubstr("\"host\":\"x\\u2066y\\u007f\\ufffd\""));
}

}  // namespace
}  // namespace tidemark::wire::message_json_test
