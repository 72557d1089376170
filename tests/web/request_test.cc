#include "tests/test.h"
#include "tidemark/v1/job_service.pb.h"
#include "web/routes.h"

namespace tidemark::web::request_test {
namespace {

TEST(RequestFields, AreSetByName) {
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

TEST(RequestFields, AcceptInstants) {
  tidemark::v1::ListForecastsRequest request;
  ASSERT_TRUE(SetFields({{"after", "2023-11-14T22:13:20.5Z"}}, request).ok());
  EXPECT_EQ(request.after().seconds(), 1'700'000'000);
  EXPECT_EQ(request.after().nanos(), 500'000'000);
  EXPECT_THAT(std::string(SetFields({{"after", "yesterday"}}, request).message()),
              HasSubstr("must be a timestamp"));
}

TEST(RequestFields, NameTheFault) {
  const auto wrong = [](const char* name, const char* value) {
    tidemark::v1::ListJobsRequest request;
    return std::string(SetFields({{name, value}}, request).message());
  };
  EXPECT_THAT(wrong("size", "1"), HasSubstr("size: ListJobsRequest has no such field"));
  EXPECT_THAT(wrong("page_size", "-1"), HasSubstr("must be a whole number"));
  EXPECT_THAT(wrong("page_size", "99999999999"), HasSubstr("must be a whole number"));
  EXPECT_THAT(wrong("page_size", ""), HasSubstr("must be a whole number"));
  EXPECT_THAT(wrong("view", "BIG"), HasSubstr("must be a value of View"));
  EXPECT_THAT(wrong("filter", "x"), HasSubstr("cannot be set"));
  EXPECT_THAT(wrong("page_size.x", "1"), HasSubstr("no such field"));
  EXPECT_THAT(wrong("filter.", "1"), HasSubstr("no such field"));
}

HttpRequest From(const std::string& host, const std::string& origin = "") {
  return {.method = "GET", .host = host, .origin = origin};
}
bool MayPass(const HttpRequest& request, bool has_tokens = false, bool is_local = true) {
  return CheckOrigin(request, has_tokens, is_local).ok();
}

TEST(Origin, AllowsThisPage) {
  EXPECT_TRUE(MayPass(From("127.0.0.1:7412", "http://127.0.0.1:7412")));
  EXPECT_TRUE(MayPass(From("localhost:7412")));
  EXPECT_TRUE(MayPass(From("[::1]:7412")));
  EXPECT_TRUE(MayPass(From("localhost")));
}

TEST(Origin, RejectsOtherSites) {
  EXPECT_FALSE(MayPass(From("127.0.0.1:7412", "http://evil.example")));
  EXPECT_FALSE(MayPass(From("127.0.0.1:7412", "http://127.0.0.1:7413")));
  EXPECT_FALSE(MayPass(From("127.0.0.1:7412", "null")));
  HttpRequest request = From("127.0.0.1:7412");
  for (const char* site : {"cross-site", "same-site"}) {
    request.fetch_site = site;
    EXPECT_FALSE(MayPass(request)) << site;
  }
}

TEST(Origin, RejectsForeignNamesOfThisHost) {
  EXPECT_FALSE(MayPass(From("evil.example:7412", "http://evil.example:7412")));
  EXPECT_FALSE(MayPass(From("127.0.0.1.evil.example:7412")));
  for (const char* host : {"unix", "unix:80", "unix:x"}) EXPECT_FALSE(MayPass(From(host))) << host;
  EXPECT_FALSE(MayPass(From("")));
  // With tokens, requests for another name have no valid cookie.
  EXPECT_TRUE(MayPass(From("progress.example"), /*has_tokens=*/true));
  EXPECT_TRUE(MayPass(From("progress.example"), /*has_tokens=*/false, /*is_local=*/false));
}

TEST(Origin, IsRequiredForChangesWithACookie) {
  HttpRequest request = From("localhost:7412");
  request.method = "POST";
  EXPECT_TRUE(MayPass(request));
  request.session = "0123";
  EXPECT_FALSE(MayPass(request));
  request.origin = "http://localhost:7412";
  EXPECT_TRUE(MayPass(request));
}

TEST(PercentDecoding, DecodesPartsAfterTheSplit) {
  EXPECT_THAT(*PathParts("/api/jobs/a%2Fb"), ElementsAre("api", "jobs", "a/b"));
  EXPECT_THAT(*PathParts("/api/jobs/%E2%89%88"), ElementsAre("api", "jobs", "≈"));
  EXPECT_THAT(*PathParts("/"), IsEmpty());
  EXPECT_THAT(*PathParts("/api/"), ElementsAre("api"));
}

TEST(PercentDecoding, RejectsBytesThatAreNotText) {
  for (const char* bad : {"%", "%1", "%zz", "%+1", "%00", "%0a", "%7f", "%ff", "%c3"}) {
    EXPECT_FALSE(PercentDecoded(bad).has_value()) << bad;
  }
  EXPECT_FALSE(PathParts("").has_value());
  EXPECT_FALSE(PathParts("api").has_value());
  EXPECT_FALSE(PathParts("//etc/passwd").has_value());
}

}  // namespace
}  // namespace tidemark::web::request_test
