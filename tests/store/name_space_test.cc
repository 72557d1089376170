// Tests which past runs a job may use. Clients on this host attack a real master.
#include "master/store/name_space.h"

#include <grpcpp/grpcpp.h>

#include "proto/wire/plan_codec.h"
#include "tests/facts/events.h"
#include "tests/service/eventually.h"
#include "tests/service/streams.h"
#include "tests/test.h"

namespace tidemark::name_space_test {
namespace {

using store::IsWithin;
using store::Matches;
using store::ShareNames;
using test::NewContext;

TEST(NameSpace, APatternIsAnIdOrTheBeginningOfOne) {
  EXPECT_TRUE(Matches("job", "job"));
  EXPECT_FALSE(Matches("job", "job-1"));
  EXPECT_TRUE(Matches("job-*", "job-1"));
  EXPECT_FALSE(Matches("job-*", "job"));
  EXPECT_TRUE(Matches("*", ""));
}

TEST(NameSpace, ContainsIdsThatOneOfItsPatternsMatches) {
  EXPECT_TRUE(IsWithin("b-1", "a b-* c"));
  EXPECT_FALSE(IsWithin("a-1", "a b-* c"));
  EXPECT_FALSE(IsWithin("a", ""));
}

TEST(NameSpace, ReportersOfEachOthersIdsShareNames) {
  EXPECT_TRUE(ShareNames({"job-1", "job-*"}, {"job-2", "job-*"}));
  EXPECT_TRUE(ShareNames({"job-1", "job-*"}, {"job-2", "*"}));
  EXPECT_TRUE(ShareNames({"job-1", "job-* wf"}, {"wf", "wf job-*"}));
  EXPECT_FALSE(ShareNames({"evil-1", "evil-*"}, {"job-2", "*"}));
  EXPECT_FALSE(ShareNames({"job-2", "*"}, {"evil-1", "evil-*"}));
}

constexpr const char* kTokens =
    "agent evil_* token-of-the-evil-agent\n"
    "agent job_* token-of-agent-for-jobs\n"
    "agent * token-of-agent-for-all\n"
    "reader team-a-* token-of-reader-of-a\n"
    "reader team-b-* token-of-reader-of-b\n"
    "agent team-b-* token-of-agent-of-b\n";

class NameSpaceTest : public test::LiveMaster {
 protected:
  void SetUp() override {
    options_.tokens_file = directory_.Write("tokens", kTokens);
    options_.data_dir = directory_ / "data";
    options_.journal_sync = false;
    std::filesystem::create_directory(options_.data_dir);
    Start();
  }

  void Tell(const std::string& job_id, const std::string& token, std::vector<EventBody> bodies) {
    test::IngestStream stream(channel_, token);
    Source source("master", job_id);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      ASSERT_TRUE(stream.Send(source.At(10 * static_cast<double>(i), std::move(bodies[i]))));
    }
    std::vector<v1::Rejection> rejections;
    EXPECT_TRUE(stream.Drain(rejections).ok());
    EXPECT_THAT(rejections, IsEmpty()) << job_id;
  }
  static JobOpened Nightly() { return {.name = "nightly", .stages = MapReduceStages(1, 1)}; }
  // Reports a successful run of "nightly".
  void Run(const std::string& job_id, const std::string& token) {
    Tell(job_id, token,
         {Nightly(), Started(M(0)), Finished(M(0)), Started(R(0)), Shuffled(R(0)),
          test::Reduced(R(0), test::At(60), {test::Point(100, 5)}), Finished(R(0)), Closed()});
    AwaitFinal(job_id);
  }
  // Returns true if a job with this name has a forecast in its first snapshot, before any reports.
  bool KnowsItsPast(const std::string& job_id, const std::string& token) {
    Tell(job_id, token, {Nightly()});
    absl::StatusOr<Snapshot> snapshot = absl::NotFoundError("not asked yet");
    EXPECT_TRUE(test::Eventually([&] {
      snapshot = master_->GetJob(job_id);
      return snapshot.ok() && snapshot->sequence > 0;
    })) << "no snapshot of "
        << job_id;
    return snapshot.ok() && snapshot->estimate.state == EstimateState::kValid;
  }
  // Returns the basis of the estimate for a workflow with one job, whose history is "nightly".
  v1::Basis BasisFor(const std::string& workflow_id, const std::string& token) {
    v1::EstimateJobRequest request;
    wire::EncodePlan({.id = workflow_id,
                      .jobs = {{.name = "job", .history_name = "nightly"}},
                      .cluster = {.slots = 2}},
                     *request.mutable_plan());
    v1::EstimateJobResponse response;
    const auto stub = v1::JobService::NewStub(channel_);
    const grpc::Status status = stub->EstimateJob(NewContext(token).get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return status.ok() ? response.outcomes(0).snapshot().children(0).estimate().basis()
                       : v1::BASIS_UNSPECIFIED;
  }
};

TEST_F(NameSpaceTest, UsesNoRunOfAReporterWithoutTheRight) {
  Run("evil_1", "token-of-the-evil-agent");
  EXPECT_FALSE(KnowsItsPast("job_n2", "token-of-agent-for-jobs"));
  EXPECT_FALSE(KnowsItsPast("job_n3", "token-of-agent-for-all"));
  EXPECT_TRUE(KnowsItsPast("evil_2", "token-of-the-evil-agent"));
}

TEST_F(NameSpaceTest, UsesPastRunsThatItsReporterMayReport) {
  Run("job_n1", "token-of-agent-for-jobs");
  EXPECT_TRUE(KnowsItsPast("job_n2", "token-of-agent-for-jobs"));
  EXPECT_TRUE(KnowsItsPast("job_n3", "token-of-agent-for-all"));
  EXPECT_FALSE(KnowsItsPast("evil_1", "token-of-the-evil-agent"));
}

TEST_F(NameSpaceTest, KeepsTheReporterOfAJobAcrossARestart) {
  Tell("evil_1", "token-of-the-evil-agent",
       {Nightly(), Started(M(0)), Finished(M(0)), Started(R(0)), Shuffled(R(0)),
        test::Reduced(R(0), test::At(60), {test::Point(100, 5)}), Finished(R(0))});
  Start();
  test::IngestStream stream(channel_, "token-of-the-evil-agent");
  ASSERT_TRUE(stream.Send(Source("other", "evil_1").At(70, Closed())));
  EXPECT_TRUE(master_->WaitUntilFinal("evil_1", absl::FromChrono(test::kCallDeadline)).ok());
  EXPECT_FALSE(KnowsItsPast("job_n2", "token-of-agent-for-jobs"));
}

TEST(NameSpace, AssignsAnIdWithinTheNameSpace) {
  for (const char* name_space : {"*", "team-*", "nightly", "etl-* team-*"}) {
    EXPECT_TRUE(store::IsWithin(store::IdWithin(name_space), name_space)) << name_space;
  }
  EXPECT_EQ(store::IdWithin(""), "");
}

TEST_F(NameSpaceTest, AReaderGetsTimesOfReadableJobsOnly) {
  Run("team-b-1", "token-of-agent-of-b");
  EXPECT_EQ(BasisFor("team-a-wf", "token-of-reader-of-a"), v1::BASIS_GUESS);
  EXPECT_EQ(BasisFor("team-b-wf", "token-of-reader-of-b"), v1::BASIS_EARLIER_RUNS);
  EXPECT_EQ(BasisFor("", "token-of-reader-of-a"), v1::BASIS_GUESS);
  EXPECT_EQ(BasisFor("", "token-of-reader-of-b"), v1::BASIS_EARLIER_RUNS);
}

}  // namespace
}  // namespace tidemark::name_space_test
