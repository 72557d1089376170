#include "web/shared_updates.h"

#include <gtest/gtest.h>

#include "proto/wire/job_codec.h"

namespace tidemark::web {
namespace {

using tidemark::v1::WatchJobResponse;

WatchJobResponse Whole(std::uint64_t sequence, const std::string& name = "job") {
  Snapshot snapshot;
  snapshot.job_id = "job-1";
  snapshot.sequence = sequence;
  snapshot.at = absl::FromUnixSeconds(1'700'000'000);
  snapshot.state = JobState::kRunning;
  snapshot.info = JobInfo{.name = name};
  WatchJobResponse response;
  wire::EncodeSnapshot(snapshot, *response.mutable_snapshot());
  return response;
}

class SharedUpdatesTest : public testing::Test {
 protected:
  v1::JobWords Words(const Snapshot& snapshot) {
    ++made_;
    v1::JobWords words;
    words.set_title(snapshot.info->name);
    words.add_stages()->set_state("as ever");
    return words;
  }
  int made_ = 0;
  SharedUpdates updates_{[this](const Snapshot& snapshot) { return Words(snapshot); }};
};

TEST_F(SharedUpdatesTest, AreMadeOnceForAllWhoAreSentTheSame) {
  const auto one = updates_.Take(Whole(1), tidemark::v1::VIEW_FULL, nullptr);
  const auto other = updates_.Take(Whole(1), tidemark::v1::VIEW_FULL, nullptr);
  EXPECT_EQ(one, other);
  EXPECT_EQ(made_, 1);
  updates_.Take(Whole(1), tidemark::v1::VIEW_BASIC, nullptr);
  EXPECT_EQ(made_, 2) << "who asks for less knows less";
}

TEST_F(SharedUpdatesTest, GoOnFromWhatTheReaderKnows) {
  const auto first = updates_.Take(Whole(1), tidemark::v1::VIEW_FULL, nullptr);
  EXPECT_NE(first->json.find("as ever"), std::string::npos);
  WatchJobResponse delta = Whole(2);
  delta.mutable_snapshot()->set_base_sequence(1);
  delta.mutable_snapshot()->clear_info();
  const auto second = updates_.Take(delta, tidemark::v1::VIEW_FULL, first->known);
  EXPECT_NE(second->json.find("\"title\":\"job\""), std::string::npos) << second->json;
  EXPECT_EQ(second->json.find("as ever"), std::string::npos) << "told before";
  EXPECT_NE(updates_.Take(Whole(3), tidemark::v1::VIEW_FULL, nullptr)->json.find("as ever"),
            std::string::npos);
}

TEST(SharedUpdates, KeepNoMoreThanTheyMay) {
  int made = 0;
  SharedUpdates updates([&](const Snapshot&) { return ++made, v1::JobWords(); },
                        /*bytes_max=*/8000);
  for (int i = 0; i < 100; ++i) {
    updates.Take(Whole(1 + i, std::string(300, 'x')), tidemark::v1::VIEW_FULL, nullptr);
  }
  EXPECT_EQ(made, 100);
  updates.Take(Whole(100, std::string(300, 'x')), tidemark::v1::VIEW_FULL, nullptr);
  EXPECT_EQ(made, 100);
  updates.Take(Whole(1, std::string(300, 'x')), tidemark::v1::VIEW_FULL, nullptr);
  EXPECT_EQ(made, 101) << "the oldest was dropped";
}

}  // namespace
}  // namespace tidemark::web
