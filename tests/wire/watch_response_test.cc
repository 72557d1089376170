#include "proto/wire/watch_response.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/wire/job_codec.h"
#include "tests/wire/random_snapshots.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire {
namespace {

TEST(WatchResponse, ItsHeadIsThatOfTheMessage) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    test::RandomSnapshots random(seed);
    v1::WatchJobResponse response;
    EncodeSnapshot(random.First(), *response.mutable_snapshot());
    response.mutable_snapshot()->set_base_sequence(random.Upto(300));
    response.set_skipped_snapshots(random.Upto(300));
    response.set_restarted(random.Chance(2));
    response.set_resume_token(random.Text());
    const auto head = ReadWatchResponseHead(response.SerializeAsString());
    ASSERT_TRUE(head);
    EXPECT_EQ(head->base_sequence, response.snapshot().base_sequence());
    EXPECT_EQ(head->skipped_snapshots, response.skipped_snapshots());
    EXPECT_EQ(head->restarted, response.restarted());
    EXPECT_EQ(head->resume_token, response.resume_token());
  }
}

TEST(WatchResponse, WhatIsLeftOutIsZero) {
  const auto head = ReadWatchResponseHead("");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->base_sequence, 0u);
  EXPECT_EQ(head->resume_token, "");
}

TEST(WatchResponse, BytesThatAreCutOffAreNoResponse) {
  v1::WatchJobResponse response;
  response.mutable_snapshot()->set_job_id("job-1");
  response.set_resume_token("1-2");
  const std::string bytes = response.SerializeAsString();
  int whole = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    v1::WatchJobResponse parsed;
    const bool is_response = parsed.ParseFromString(bytes.substr(0, size));
    EXPECT_EQ(ReadWatchResponseHead(bytes.substr(0, size)).has_value(), is_response) << size;
    whole += is_response ? 1 : 0;
  }
  EXPECT_EQ(whole, 2) << "nothing, and the snapshot alone";
}

}  // namespace
}  // namespace tidemark::wire
