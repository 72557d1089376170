#include "proto/wire/job_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/wire/job_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tests/wire/random_snapshots.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

v1::WatchJobResponse Response(const Snapshot& snapshot, const std::string& token) {
  v1::WatchJobResponse response;
  EncodeSnapshot(snapshot, *response.mutable_snapshot());
  response.set_resume_token(token);
  return response;
}

TEST(JobReader, MakesWholeSnapshotsOfDeltas) {
  test::RandomSnapshots random(1);
  Snapshot published = random.First();
  JobReader reader;
  EXPECT_EQ(reader.Take(Response(published, "1")).value(), published);
  for (int i = 0; i < 20; ++i) {
    const Snapshot newer = random.Next(published);
    EXPECT_EQ(reader.Take(Response(Delta(published, newer), "2")).value(), newer);
    published = newer;
  }
  EXPECT_EQ(reader.resume_token(), "2");
}

TEST(JobReader, ARefusedResponseChangesNothing) {
  test::RandomSnapshots random(2);
  const Snapshot first = random.First();
  const Snapshot second = random.Next(first);
  const Snapshot third = random.Next(second);
  JobReader reader;
  ASSERT_TRUE(reader.Take(Response(first, "1")).ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(reader.Take(Response(Delta(second, third), "3")).status()));
  v1::WatchJobResponse broken = Response(Delta(first, second), "2");
  broken.mutable_snapshot()->mutable_estimate()->set_fraction_done(7);
  EXPECT_TRUE(absl::IsInvalidArgument(reader.Take(broken).status()));
  EXPECT_EQ(reader.resume_token(), "1");
  EXPECT_EQ(reader.Take(Response(Delta(first, second), "2")).value(), second);
}

v1::WatchJobsResponse ListResponse(const std::vector<Snapshot>& jobs, const std::string& token) {
  v1::WatchJobsResponse response;
  for (const Snapshot& job : jobs) EncodeSnapshot(job, *response.add_snapshots());
  response.set_resume_token(token);
  return response;
}

TEST(JobListReader, KeepsWhatIsThere) {
  JobListReader reader;
  ASSERT_TRUE(reader.Take(ListResponse({{.job_id = "a"}, {.job_id = "b"}}, "1")).ok());
  EXPECT_FALSE(reader.is_synced());
  v1::WatchJobsResponse response = ListResponse({{.job_id = "b", .sequence = 2}}, "2");
  response.add_removed_job_ids("a");
  response.add_removed_job_ids("never seen");
  response.set_synced(true);
  ASSERT_TRUE(reader.Take(response).ok());
  EXPECT_TRUE(reader.is_synced());
  EXPECT_THAT(reader.jobs(), ElementsAre(Key("b")));
  EXPECT_EQ(reader.jobs().at("b").sequence, 2u);
  EXPECT_EQ(reader.resume_token(), "2");
}

TEST(JobListReader, StartsAgainWhenTold) {
  JobListReader reader;
  ASSERT_TRUE(reader.Take(ListResponse({{.job_id = "a"}}, "1")).ok());
  v1::WatchJobsResponse response = ListResponse({{.job_id = "c"}}, "2");
  response.set_restarted(true);
  ASSERT_TRUE(reader.Take(response).ok());
  EXPECT_THAT(reader.jobs(), ElementsAre(Key("c")));
}

TEST(JobListReader, ADeltaInAListIsRefused) {
  JobListReader reader;
  const auto status =
      reader.Take(ListResponse({{.job_id = "a", .sequence = 2, .base_sequence = 1}}, "1"));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(reader.jobs(), IsEmpty());
  EXPECT_EQ(reader.resume_token(), "");
}

}  // namespace
}  // namespace tidemark::wire
