#include "master/service/sent_snapshots.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tidemark::service {
namespace {

std::shared_ptr<const Snapshot> Of(const std::string& job_id, std::size_t stages) {
  auto snapshot = std::make_shared<Snapshot>(Snapshot{.job_id = job_id});
  snapshot->stages.resize(stages);
  snapshot->stage_infos.resize(stages);
  return snapshot;
}

bool IsAlive(const std::weak_ptr<const Snapshot>& snapshot) { return !snapshot.expired(); }

TEST(SentSnapshots, KeepsWhatReadersOfDeltasWereSentLast) {
  SentSnapshots sent;
  sent.AddReader();
  std::vector<std::weak_ptr<const Snapshot>> snapshots;
  for (int i = 0; i < 5; ++i) {
    const auto snapshot = Of("a", 1);
    for (int reader = 0; reader < 30; ++reader) sent.Keep(snapshot);
    snapshots.emplace_back(snapshot);
  }
  EXPECT_FALSE(IsAlive(snapshots[1]));
  EXPECT_TRUE(IsAlive(snapshots[2]));
  EXPECT_TRUE(IsAlive(snapshots[4]));
}

TEST(SentSnapshots, AJobThatIsSentOftenTakesNothingFromAnother) {
  SentSnapshots sent;
  sent.AddReader();
  const std::weak_ptr<const Snapshot> rare = [&] {
    const auto snapshot = Of("rare", 1);
    sent.Keep(snapshot);
    return snapshot;
  }();
  for (int i = 0; i < 100; ++i) sent.Keep(Of("often", 1));
  EXPECT_TRUE(IsAlive(rare));
}

TEST(SentSnapshots, TogetherTheyTakeABoundedNumberOfBytes) {
  const std::size_t bytes = BytesOf(*Of("job", 1000));
  EXPECT_GT(bytes, 100'000u);
  SentSnapshots sent(/*bytes_max=*/3 * bytes);
  sent.AddReader();
  for (int job = 0; job < 100; ++job) sent.Keep(Of("job-" + std::to_string(job), 1000));
  EXPECT_LE(sent.bytes(), 3 * bytes);
  EXPECT_GT(sent.bytes(), bytes);
}

TEST(SentSnapshots, KeepsNothingWhenNobodyReadsDeltas) {
  SentSnapshots sent;
  sent.AddReader();
  sent.Keep(Of("a", 1));
  EXPECT_GT(sent.bytes(), 0u);
  sent.RemoveReader();
  EXPECT_EQ(sent.bytes(), 0u);
  sent.Keep(Of("a", 1));
  EXPECT_EQ(sent.bytes(), 0u);
}

}  // namespace
}  // namespace tidemark::service
