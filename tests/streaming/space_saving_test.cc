#include "streaming/space_saving.h"

#include "tests/test.h"

namespace tidemark::streaming::space_saving_test {
namespace {

SpaceSaving<> Make(std::size_t capacity) { return *SpaceSaving<>::Create(capacity); }
constexpr KeyHash A{1}, B{2}, C{3}, D{4}, E{5};

TEST(SpaceSaving, RefusesACapacityOfZeroOrBeyondTheLimit) {
  EXPECT_EQ(SpaceSaving<>::Create(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SpaceSaving<>::Create(kSpaceSavingCapacityMax + 1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(SpaceSaving<>::Create(1).ok());
}

TEST(SpaceSaving, CountsExactlyWhileEveryKeyFits) {
  SpaceSaving<> summary = Make(3);
  summary.Offer(A, 5);
  summary.Offer(B, 2);
  summary.Offer(A, 1);
  EXPECT_EQ(summary.Find(A), (WatchedKey{A, 6, 0}));
  EXPECT_EQ(summary.Find(B), (WatchedKey{B, 2, 0}));
  EXPECT_EQ(summary.Find(C), std::nullopt);
  EXPECT_EQ(summary.total_bytes(), 8u);
  EXPECT_EQ(summary.floor_bytes(), 0u);
}

// With capacity 2, four keys fit. When the fifth key arrives, A (7) and B (5) are the heaviest. C
// (3), the heaviest dropped key, becomes the floor.
TEST(SpaceSaving, ANewKeyInheritsTheHeaviestDroppedCountAsItsError) {
  SpaceSaving<> summary = Make(2);
  summary.Offer(A, 7);
  summary.Offer(B, 5);
  summary.Offer(C, 3);
  summary.Offer(D, 2);
  EXPECT_EQ(summary.size(), 4u);
  EXPECT_EQ(summary.floor_bytes(), 0u);
  summary.Offer(E, 4);
  EXPECT_EQ(summary.size(), 3u);
  EXPECT_EQ(summary.floor_bytes(), 3u);
  EXPECT_EQ(summary.Find(A), (WatchedKey{A, 7, 0}));
  EXPECT_EQ(summary.Find(C), std::nullopt);
  EXPECT_EQ(summary.Find(E), (WatchedKey{E, 7, 3}));
  EXPECT_EQ(summary.Find(E)->guaranteed_bytes(), 4u);
}

TEST(SpaceSaving, KeepsTheSmallestHashesOfEquallyHeavyKeys) {
  SpaceSaving<> summary = Make(2);
  for (const KeyHash key : {D, B, A, C}) summary.Offer(key, 1);
  summary.Offer(E, 1);
  EXPECT_TRUE(summary.Find(A).has_value());
  EXPECT_TRUE(summary.Find(B).has_value());
  EXPECT_EQ(summary.Find(C), std::nullopt);
  EXPECT_EQ(summary.Find(D), std::nullopt);
  EXPECT_EQ(summary.Find(E), (WatchedKey{E, 2, 1}));
}

TEST(SpaceSaving, DropsANoteWithItsKey) {
  struct Visits {
    int count = 0;
  };
  auto summary = *SpaceSaving<Visits>::Create(1);
  summary.Offer(A, 1)->count = 3;
  ++summary.Offer(A, 1)->count;
  EXPECT_EQ(summary.FindNote(A)->count, 4);
  EXPECT_EQ(summary.FindNote(B), nullptr);
  summary.Offer(B, 9);
  summary.Offer(C, 1);  // B remains, and A is dropped.
  EXPECT_EQ(summary.FindNote(A), nullptr);
  EXPECT_EQ(summary.Offer(A, 1)->count, 0);
}

TEST(SpaceSaving, WeightOfZeroChangesNothing) {
  SpaceSaving<> summary = Make(1);
  summary.Offer(A, 1);
  EXPECT_EQ(summary.Offer(B, 0), nullptr);
  EXPECT_EQ(summary.Find(B), std::nullopt);
  EXPECT_EQ(summary.Find(A), (WatchedKey{A, 1, 0}));
  EXPECT_EQ(summary.total_bytes(), 1u);
}

TEST(SpaceSaving, CountsSaturate) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  SpaceSaving<> summary = Make(1);
  summary.Offer(A, kMost);
  summary.Offer(A, kMost);
  EXPECT_EQ(summary.Find(A)->count_bytes, kMost);
  EXPECT_EQ(summary.total_bytes(), kMost);
}

TEST(SpaceSaving, TopIsHeaviestFirstWithTiesByHash) {
  SpaceSaving<> summary = Make(4);
  summary.Offer(C, 5);
  summary.Offer(A, 5);
  summary.Offer(B, 9);
  summary.Offer(D, 1);
  const auto top = summary.Top(3);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].key, B);
  EXPECT_EQ(top[1].key, A);
  EXPECT_EQ(top[2].key, C);
  EXPECT_EQ(summary.Top(100).size(), 4u);
}

TEST(NthHeaviest, CountsLargerCountsButNotEqualOnes) {
  const std::vector<std::uint64_t> counts = {5, 9, 5, 7, 5};
  EXPECT_EQ(NthHeaviest(counts, 0, 0), (NthCount{9, 0}));
  EXPECT_EQ(NthHeaviest(counts, 1, 0), (NthCount{7, 1}));
  for (const std::size_t n : {2, 3, 4}) EXPECT_EQ(NthHeaviest(counts, n, 5), (NthCount{5, 2}));
}

TEST(NthHeaviest, HandlesTheWholeRangeOfNumbers) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::uint64_t> counts = {0, kMost, kMost - 1, 1};
  EXPECT_EQ(NthHeaviest(counts, 0, 0), (NthCount{kMost, 0}));
  EXPECT_EQ(NthHeaviest(counts, 1, 0), (NthCount{kMost - 1, 1}));
  EXPECT_EQ(NthHeaviest(counts, 3, 0), (NthCount{0, 3}));
}

TEST(NthHeaviest, AgreesWithSorting) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint64_t> counts(1 + random() % 300);
    for (auto& count : counts) count = 1000 + (random() >> (random() % 64)) / 2;
    std::vector<std::uint64_t> sorted = counts;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const std::size_t n = random() % counts.size();
    const auto first = std::find(sorted.begin(), sorted.end(), sorted[n]) - sorted.begin();
    EXPECT_EQ(NthHeaviest(counts, n, 1000), (NthCount{sorted[n], static_cast<std::size_t>(first)}));
  }
}

}  // namespace
}  // namespace tidemark::streaming::space_saving_test
