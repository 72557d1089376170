// Tests the limits on what one client can cost other clients. Clients on this host attack a real
// master, and another client must not be affected.
#include <grpcpp/grpcpp.h>

#include "master/service/ingest_service.h"
#include "master/store/event_log.h"
#include "proto/wire/plan_codec.h"
#include "tests/facts/events.h"
#include "tests/service/service_on_a_disk.h"
#include "tests/service/streams.h"
#include "tests/store/faulty_disk.h"
#include "tests/test.h"
#include "tidemark/rpc/v1/error_details.pb.h"

namespace tidemark::quota_test {
namespace {

using test::NewContext;

constexpr const char* kEvil = "token-of-the-evil-agent";
constexpr const char* kGood = "token-of-the-good-agent";
constexpr const char* kEvilReader = "token-of-the-evil-reader";
constexpr const char* kGoodReader = "token-of-the-good-reader";
constexpr const char* kTokens =
    "agent evil-* token-of-the-evil-agent\n"
    "agent good-* token-of-the-good-agent\n"
    "reader * token-of-the-evil-reader\n"
    "reader * token-of-the-good-reader\n";

// A stream to the ingest service, which waits for the response to each event.
class Agent : public test::IngestStream {
 public:
  using IngestStream::IngestStream;
  ~Agent() {
    std::vector<v1::Rejection> ignored;
    EXPECT_TRUE(Drain(ignored).ok());
  }

  // Returns the limit or another reason of a rejection. Returns an empty string if the event was
  // accepted.
  std::string Send(const Event& event) {
    EXPECT_TRUE(IngestStream::Send(event));
    const auto rejections = Answered(event.sequence, event.source_id, event.job_id);
    if (rejections.empty()) return "";
    return rejections.back().limit().empty() ? rejections.back().reason()
                                             : rejections.back().limit();
  }
  std::string Open(const std::string& job_id) {
    return Send(Source("app-master", job_id).At(0, Opened(1, 1)));
  }
  void OpenAndClose(const std::string& job_id) {
    Source source("app-master", job_id);
    EXPECT_EQ(Send(source.At(0, Opened(1, 1))), "");
    EXPECT_EQ(Send(source.At(1, Closed())), "");
  }
};

class QuotaTest : public test::LiveMaster {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory_ / "data");
    options_.journal_commit_interval = absl::ZeroDuration();
    options_.journal_sync = false;
    options_.tokens_file = directory_.Write("tokens", kTokens);
    options_.data_dir = directory_ / "data";
  }
  grpc::Status List(const std::string& token) {
    v1::ListJobsResponse response;
    return v1::JobService::NewStub(channel_)->ListJobs(NewContext(token).get(), {}, &response);
  }
};

TEST_F(QuotaTest, AReporterOfManyJobsLeavesPlacesForOthers) {
  options_.jobs_max = 50;
  Start();
  Agent evil(channel_, kEvil);
  int opened = 0;
  std::string refused;
  while (opened <= 50 && (refused = evil.Open("evil-" + std::to_string(opened))).empty()) ++opened;
  EXPECT_EQ(refused, "share_percent");
  EXPECT_EQ(opened, 40);
  Agent good(channel_, kGood);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(good.Open("good-" + std::to_string(i)), "");
  // When one of its jobs ends, another job may open.
  EXPECT_EQ(evil.Send(Source("another", "evil-0").At(9, Closed())), "");
  AwaitFinal("evil-0");
  EXPECT_EQ(evil.Open("evil-next"), "share_percent") << "others have taken some of the rest";
  EXPECT_EQ(good.Open("good-next"), "");
}

TEST_F(QuotaTest, ARestartRaisesNoShare) {
  options_.jobs_max = 10;
  Start();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(Agent(channel_, kEvil).Open("evil-" + std::to_string(i)), "");
  Start();
  EXPECT_EQ(Agent(channel_, kEvil).Open("evil-8"), "share_percent");
  EXPECT_EQ(Agent(channel_, kGood).Open("good-1"), "");
}

TEST_F(QuotaTest, CountsHostsWithoutTokens) {
  options_.tokens_file.clear();
  options_.jobs_max = 10;
  Start();
  Agent host(channel_, "");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(host.Open("job-" + std::to_string(i)), "");
  EXPECT_EQ(host.Open("job-8"), "share_percent");
}

TEST_F(QuotaTest, ShortJobsEvictNoJobsOfOthers) {
  options_.jobs_max = 10;
  Start();
  const auto open_and_close = [&](const char* token, const std::string& id) {
    Agent(channel_, token).OpenAndClose(id);
    AwaitFinal(id);
  };
  const std::vector<std::string> good = {"good-1", "good-2", "good-3"};
  for (const std::string& id : good) open_and_close(kGood, id);
  for (int i = 0; i < 30; ++i) open_and_close(kEvil, "evil-" + std::to_string(i));
  for (const std::string& id : good) {
    EXPECT_TRUE(master_->GetJob(id).ok()) << id;
    EXPECT_TRUE(std::filesystem::exists(store::EventLogPath(options_.data_dir, id)));
  }
  EXPECT_FALSE(master_->GetJob("evil-0").ok());
  Start();  // The reporters of ended jobs are also restored.
  for (int i = 30; i < 40; ++i) open_and_close(kEvil, "evil-" + std::to_string(i));
  for (const std::string& id : good) EXPECT_TRUE(master_->GetJob(id).ok()) << id;
}

TEST_F(QuotaTest, RejectsABusyCallerWithAWaitAndAnswersOthers) {
  options_.calls_per_second = 10;
  Start();
  grpc::Status status;
  int answered = 0;
  while (answered < 10'000 && (status = List(kEvilReader)).ok()) ++answered;
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("try again in"));
  rpc::v1::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  ASSERT_EQ(details.details_size(), 2);
  EXPECT_EQ(details.details(1).type_url(), "type.googleapis.com/google.rpc.RetryInfo");
  rpc::v1::RetryInfo retry;
  ASSERT_TRUE(retry.ParseFromString(details.details(1).value()));
  EXPECT_GT(retry.retry_delay().seconds() + retry.retry_delay().nanos(), 0);
  EXPECT_TRUE(List(kGoodReader).ok()) << "a token of its own, though it may do the same";
  // A watch counts as a call, but a stream of an agent does not.
  v1::WatchJobRequest request;
  request.set_job_id("good-1");
  const auto watch = [&] {
    test::WatchStream stream(channel_, request, kEvilReader);
    EXPECT_THAT(stream.ReadAll(), IsEmpty());
    return stream.Finish().error_code();
  };
  // The first call may arrive late enough to be answered with NOT_FOUND, since the job is unknown.
  grpc::StatusCode code = grpc::StatusCode::NOT_FOUND;
  for (int i = 0; i < 10'000 && code == grpc::StatusCode::NOT_FOUND; ++i) code = watch();
  EXPECT_EQ(code, grpc::StatusCode::RESOURCE_EXHAUSTED);
  Agent good(channel_, kGood);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(good.Open("good-" + std::to_string(i)), "");
}

TEST_F(QuotaTest, CutsACallerFarOverItsLimit) {
  options_.calls_per_second = 10;
  Start();
  int refused = 0;
  grpc::Status status;
  for (int i = 0; i < 10'000 && status.error_code() != grpc::StatusCode::UNAVAILABLE; ++i) {
    status = List(kEvilReader);
    refused += status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED ? 1 : 0;
  }
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_GE(refused, 49) << "five seconds' worth";
  // The channel may detect only at another call that its connection is closed.
  grpc::Status again = List(kGoodReader);
  for (int i = 0; i < 10 && again.error_code() == grpc::StatusCode::UNAVAILABLE; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    again = List(kGoodReader);
  }
  EXPECT_TRUE(again.ok()) << again.error_message();
}

// Returns a submission with as many jobs and tasks as allowed.
v1::EstimateJobRequest Huge() {
  Plan plan{.id = "wf", .cluster = {.slots = 1'000'000}};
  for (int i = 0; i < 1000; ++i) {
    plan.jobs.push_back({.name = "job " + std::to_string(i)});
    if (i % 2 != 0) continue;
    plan.jobs.back().map_task_count = plan.jobs.back().reduce_task_count = 10'000'000;
  }
  v1::EstimateJobRequest request;
  wire::EncodePlan(plan, *request.mutable_plan());
  return request;
}

TEST_F(QuotaTest, HugeEstimatesDelayNoOtherCalls) {
  options_.calls_per_second = 0;
  Start();
  const auto stub = v1::JobService::NewStub(channel_);
  constexpr int kCalls = 8;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<v1::EstimateJobResponse> responses(kCalls);
  std::vector<std::promise<grpc::Status>> done(kCalls);
  const v1::EstimateJobRequest request = Huge();
  for (int i = 0; i < kCalls; ++i) {
    contexts.push_back(NewContext(kEvilReader));
    stub->async()->EstimateJob(
        contexts.back().get(), &request, &responses[static_cast<std::size_t>(i)],
        [&done, i](grpc::Status status) { done[static_cast<std::size_t>(i)].set_value(status); });
  }
  EXPECT_TRUE(List(kGoodReader).ok());
  int refused = 0;
  for (std::promise<grpc::Status>& call : done) {
    const grpc::Status status = call.get_future().get();
    refused += status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED ? 1 : 0;
    EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)
        << status.error_message();
  }
  EXPECT_GT(refused, 0) << "four at a time";
  EXPECT_LT(refused, kCalls);
}

TEST_F(QuotaTest, OnlyTheOwnerMayReadReportedEvents) {
  Start();
  Agent(channel_, kGood).OpenAndClose("good-1");
  AwaitFinal("good-1");
  using std::filesystem::perms;
  for (const auto& file : std::filesystem::directory_iterator(options_.data_dir)) {
    EXPECT_EQ(file.status().permissions() & (perms::group_all | perms::others_all), perms::none)
        << file.path();
  }
}

TEST_F(QuotaTest, RejectsTokensThatOtherUsersMayRead) {
  std::filesystem::permissions(options_.tokens_file, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  const absl::Status refused = Master::Start(options_).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("every user of this host can read it; run chmod o= "));
}

// --- the disk

std::unique_ptr<service::Tokens> TokensOf(const std::string& text) {
  const test::ScratchDirectory directory;
  auto tokens = service::Tokens::Load(directory.Write("tokens", text));
  EXPECT_TRUE(tokens.ok()) << tokens.status();
  return *std::move(tokens);
}

// Returns an event of about a hundred kilobytes.
Event Much(Source& source, int nth) {
  std::vector<GroupPoint> points;
  for (std::uint64_t i = 1; i <= 10'000; ++i) points.push_back(test::Point(i * 1'000'003, 1000));
  return source.At(nth, test::Reduced(test::R(0), test::At(nth), std::move(points)));
}

// The service with a small disk.
class QuotaOnADisk : public test::ServiceOnADisk {
 protected:
  QuotaOnADisk() : ServiceOnADisk(TokensOf(kTokens)) {}
  void SetUp() override {
    disk_->SetCapacity(10 << 20);
    service::JobTableOptions options{
        .journal = {.commit_interval = absl::ZeroDuration(),
                    .retry_interval = absl::Milliseconds(1)},
        .pace = {.interval = absl::ZeroDuration(), .interval_min = absl::ZeroDuration()}};
    options.shares.bytes_min = 1 << 20;
    Start(std::move(options));
    channel_ = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  }

  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(QuotaOnADisk, AReporterOfManyBytesLeavesSpaceForOthers) {
  const auto look = [&] { jobs_->TickDue(clock_.Now()); };
  Agent evil(channel_, kEvil);
  Source bad("app-master", "evil-1");
  EXPECT_EQ(evil.Send(bad.At(0, Opened(1, 1))), "");
  std::string refused;
  for (int i = 1; i < 1000 && refused != "share_percent"; ++i) {
    look();
    refused = evil.Send(Much(bad, i));
  }
  EXPECT_EQ(refused, "share_percent");
  EXPECT_GT(*disk_->FreeBytes("data"), std::uint64_t{1} << 20);

  Agent good(channel_, kGood);
  Source fine("app-master", "good-1");
  EXPECT_EQ(good.Send(fine.At(0, Opened(1, 1))), "");
  EXPECT_EQ(good.Send(fine.At(1, test::Started(test::R(0)))), "");
  for (int i = 2; i < 8; ++i) {
    look();
    EXPECT_NE(good.Send(Much(fine, i)), "share_percent") << i;
  }
  EXPECT_EQ(evil.Send(Much(bad, 1001)), "share_percent");

  // The job can still end, which frees space for other jobs of its reporter.
  EXPECT_EQ(evil.Send(bad.At(1002, Closed())), "");
  look();
  EXPECT_EQ(evil.Open("evil-2"), "");
  EXPECT_EQ(jobs_->Newest("evil-1"), nullptr);
  EXPECT_NE(jobs_->Newest("good-1"), nullptr);
}

}  // namespace
}  // namespace tidemark::quota_test
