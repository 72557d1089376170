#include "web/request_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidemark/v1/job_service.pb.h"

namespace tidemark::web {
namespace {

using ::testing::HasSubstr;

TEST(RequestFields, SetsFieldsByName) {
  tidemark::v1::WatchJobsRequest request;
  ASSERT_TRUE(SetFields({{"view", "VIEW_STAGES"},
                         {"interval_min", "0.5s"},
                         {"filter.user", "ann"},
                         {"filter.states", "JOB_STATE_RUNNING"},
                         {"filter.states", "JOB_STATE_QUEUED"}},
                        request)
                  .ok());
  EXPECT_EQ(request.view(), tidemark::v1::VIEW_STAGES);
  EXPECT_EQ(request.interval_min().nanos(), 500'000'000);
  EXPECT_EQ(request.filter().user(), "ann");
  EXPECT_EQ(request.filter().states_size(), 2);
}

TEST(RequestFields, TakeInstants) {
  tidemark::v1::ListForecastsRequest request;
  ASSERT_TRUE(SetFields({{"after", "2023-11-14T22:13:20.5Z"}}, request).ok());
  EXPECT_EQ(request.after().seconds(), 1'700'000'000);
  EXPECT_EQ(request.after().nanos(), 500'000'000);
  EXPECT_THAT(std::string(SetFields({{"after", "yesterday"}}, request).message()),
              HasSubstr("must be an instant"));
}

TEST(RequestFields, SaysWhatIsWrong) {
  const auto wrong = [](const char* name, const char* value) {
    tidemark::v1::ListJobsRequest request;
    return std::string(SetFields({{name, value}}, request).message());
  };
  EXPECT_THAT(wrong("size", "1"), HasSubstr("size: ListJobsRequest has no such field"));
  EXPECT_THAT(wrong("page_size", "-1"), HasSubstr("must be a whole number"));
  EXPECT_THAT(wrong("page_size", "99999999999"), HasSubstr("must be a whole number"));
  EXPECT_THAT(wrong("page_size", ""), HasSubstr("must be a whole number"));
  EXPECT_THAT(wrong("view", "BIG"), HasSubstr("must be a value of View"));
  EXPECT_THAT(wrong("filter", "x"), HasSubstr("cannot be given"));
  EXPECT_THAT(wrong("page_size.x", "1"), HasSubstr("no such field"));
  EXPECT_THAT(wrong("filter.", "1"), HasSubstr("no such field"));
}

}  // namespace
}  // namespace tidemark::web
