#include "master/service/encoded_snapshots.h"

#include "proto/wire/job_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tests/test.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::service::encoded_snapshots_test {
namespace {

std::shared_ptr<const Snapshot> Numbered(std::uint64_t sequence) {
  Snapshot snapshot = {.job_id = "job-1", .sequence = sequence, .state = JobState::kRunning};
  snapshot.stages = {{.id = {0, 0}}};
  snapshot.stage_infos = {{.id = {0, 0}}};
  return std::make_shared<const Snapshot>(snapshot);
}

Snapshot Read(const grpc::Slice& slice) {
  v1::Snapshot message;
  EXPECT_TRUE(message.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return wire::ParseSnapshot(message).value_or(Snapshot());
}

TEST(EncodedSnapshots, ReadersOfOneViewShareTheBytes) {
  EncodedSnapshots encoded;
  const auto snapshot = Numbered(1);
  const grpc::Slice first = encoded.Of(snapshot, View::kFull);
  const grpc::Slice second = encoded.Of(snapshot, View::kFull);
  EXPECT_EQ(first.begin(), second.begin());
  EXPECT_EQ(Read(first), *snapshot);
}

TEST(EncodedSnapshots, ViewsAndSnapshotsDiffer) {
  EncodedSnapshots encoded;
  const auto snapshot = Numbered(1);
  const auto next = Numbered(2);
  const grpc::Slice full = encoded.Of(snapshot, View::kFull);
  EXPECT_EQ(Read(encoded.Of(snapshot, View::kBasic)), wire::WithView(*snapshot, View::kBasic));
  EXPECT_EQ(Read(encoded.Of(next, View::kFull)), *next);
  EXPECT_EQ(Read(full), *snapshot);
}

// The next snapshot may have the same address as the destroyed one.
TEST(EncodedSnapshots, NeverReusesBytesOfADestroyedSnapshot) {
  EncodedSnapshots encoded;
  std::vector<grpc::Slice> held;
  for (std::uint64_t sequence = 1; sequence <= 300; ++sequence) {
    held.push_back(encoded.Of(Numbered(sequence), View::kFull));
    EXPECT_EQ(Read(held.back()).sequence, sequence);
  }
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(Read(held[i]).sequence, i + 1);
}

TEST(EncodedSnapshots, ThirtyReadersOfOneSnapshotCostOneSerialization) {
  EncodedSnapshots encoded;
  const auto base = Numbered(1);
  const auto newer = Numbered(2);
  std::vector<grpc::Slice> held;
  for (int reader = 0; reader < 30; ++reader) held.push_back(encoded.Of(newer, View::kFull));
  EXPECT_EQ(encoded.made(), 1u);
  for (int reader = 0; reader < 30; ++reader) {
    auto delta = encoded.DeltaOf(base, newer, View::kFull);
    ASSERT_TRUE(delta);
    held.push_back(*std::move(delta));
  }
  EXPECT_EQ(encoded.made(), 2u);
  EXPECT_EQ(held[30].begin(), held[59].begin());
}

TEST(EncodedSnapshots, ReadersThatComeOneAfterTheOtherShareOneSerialization) {
  EncodedSnapshots encoded(/*bytes_max=*/1);
  const auto snapshot = Numbered(1);
  for (int reader = 0; reader < 30; ++reader) encoded.Of(snapshot, View::kFull);
  EXPECT_EQ(encoded.made(), 1u);
  encoded.Of(Numbered(2), View::kFull);
  encoded.Of(snapshot, View::kFull);
  EXPECT_EQ(encoded.made(), 3u) << "the oldest was dropped";
}

TEST(EncodedSnapshots, ADeltaMakesTheNewerSnapshotOfItsBase) {
  EncodedSnapshots encoded;
  const auto base = Numbered(1);
  const auto newer = Numbered(2);
  const auto other = Numbered(3);
  const auto delta = encoded.DeltaOf(base, newer, View::kFull);
  ASSERT_TRUE(delta);
  EXPECT_EQ(Read(*delta).base_sequence, 1u);
  EXPECT_EQ(wire::Apply(*base, Read(*delta)).value_or(Snapshot()), *newer);
  const auto from_other = encoded.DeltaOf(other, newer, View::kFull);
  EXPECT_NE(from_other->begin(), delta->begin());
}

TEST(EncodedSnapshots, ReturnsNoDeltaIfTheWholeSnapshotMustBeSent) {
  EncodedSnapshots encoded;
  // Snapshots with the sequence number 0 are never a base.
  EXPECT_FALSE(encoded.DeltaOf(Numbered(0), Numbered(2), View::kFull));
}

TEST(EncodedSnapshots, BytesOutliveTheTable) {
  auto encoded = std::make_unique<EncodedSnapshots>();
  const grpc::Slice slice = encoded->Of(Numbered(7), View::kFull);
  encoded.reset();
  EXPECT_EQ(Read(slice).sequence, 7u);
}

std::shared_ptr<const Snapshot> Of(const std::string& job_id, std::size_t stages) {
  auto snapshot = std::make_shared<Snapshot>(Snapshot{.job_id = job_id});
  snapshot->stages.resize(stages);
  snapshot->stage_infos.resize(stages);
  return snapshot;
}

bool IsAlive(const std::weak_ptr<const Snapshot>& snapshot) { return !snapshot.expired(); }

TEST(SentSnapshots, KeepsTheSnapshotsLastSentToReadersOfDeltas) {
  SentSnapshots sent;
  sent.AddReader();
  std::vector<std::weak_ptr<const Snapshot>> snapshots;
  for (int i = 0; i < 5; ++i) {
    const auto snapshot = Of("a", 1);
    for (int reader = 0; reader < 30; ++reader) sent.Add(snapshot);
    snapshots.emplace_back(snapshot);
  }
  EXPECT_FALSE(IsAlive(snapshots[1]));
  EXPECT_TRUE(IsAlive(snapshots[2]));
  EXPECT_TRUE(IsAlive(snapshots[4]));
}

TEST(SentSnapshots, AJobWithFrequentSnapshotsEvictsNoneOfAnother) {
  SentSnapshots sent;
  sent.AddReader();
  const std::weak_ptr<const Snapshot> rare = [&] {
    const auto snapshot = Of("rare", 1);
    sent.Add(snapshot);
    return snapshot;
  }();
  for (int i = 0; i < 100; ++i) sent.Add(Of("often", 1));
  EXPECT_TRUE(IsAlive(rare));
}

TEST(SentSnapshots, BoundsTheBytesOfAllSnapshotsTogether) {
  const std::size_t bytes = BytesOf(*Of("job", 1000));
  EXPECT_GT(bytes, 100'000u);
  SentSnapshots sent(/*bytes_max=*/3 * bytes);
  sent.AddReader();
  for (int job = 0; job < 100; ++job) sent.Add(Of("job-" + std::to_string(job), 1000));
  EXPECT_LE(sent.bytes(), 3 * bytes);
  EXPECT_GT(sent.bytes(), bytes);
}

TEST(SentSnapshots, KeepsNoSnapshotWithoutReadersOfDeltas) {
  SentSnapshots sent;
  sent.AddReader();
  sent.Add(Of("a", 1));
  EXPECT_GT(sent.bytes(), 0u);
  sent.RemoveReader();
  EXPECT_EQ(sent.bytes(), 0u);
  sent.Add(Of("a", 1));
  EXPECT_EQ(sent.bytes(), 0u);
}

}  // namespace
}  // namespace tidemark::service::encoded_snapshots_test
