#include "master/service/encoded_snapshots.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "proto/wire/job_codec.h"
#include "proto/wire/job_view.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::service {
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

// The next snapshot may lie where the last one did.
TEST(EncodedSnapshots, BytesThatOutliveTheirSnapshotAreNotThoseOfTheNext) {
  EncodedSnapshots encoded;
  std::vector<grpc::Slice> held;
  for (std::uint64_t sequence = 1; sequence <= 300; ++sequence) {
    held.push_back(encoded.Of(Numbered(sequence), View::kFull));
    EXPECT_EQ(Read(held.back()).sequence, sequence);
  }
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(Read(held[i]).sequence, i + 1);
}

TEST(EncodedSnapshots, BytesOutliveTheTable) {
  auto encoded = std::make_unique<EncodedSnapshots>();
  const grpc::Slice slice = encoded->Of(Numbered(7), View::kFull);
  encoded.reset();
  EXPECT_EQ(Read(slice).sequence, 7u);
}

}  // namespace
}  // namespace tidemark::service
