// Tests the bounds in space_saving.h against an exact map, with streams in random, grouped and
// sorted order.

#include "streaming/space_saving.h"
#include "tests/test.h"

namespace tidemark::streaming::space_saving_property_test {
namespace {

struct Offer {
  KeyHash key;
  std::uint64_t weight;
};
using Truth = std::map<KeyHash, std::uint64_t>;

enum class Order { kRandom, kGrouped, kLightestFirst, kHeaviestFirst };
struct Case {
  const char* name;
  Order order;
  double skew;
  std::size_t capacity;
  std::uint64_t seed;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name << " seed " << c.seed; }

std::vector<Offer> MakeStream(const Case& c) {
  std::mt19937_64 random(c.seed);
  std::vector<Offer> stream;
  for (std::uint64_t rank = 1; rank <= 500; ++rank) {
    const auto offers = static_cast<int>(std::ceil(200 / std::pow(double(rank), c.skew)));
    for (int i = 0; i < offers; ++i) stream.push_back({KeyHash{rank * 7919}, 1 + random() % 100});
  }
  if (c.order == Order::kRandom) std::shuffle(stream.begin(), stream.end(), random);
  if (c.order == Order::kLightestFirst || c.order == Order::kHeaviestFirst) {
    std::stable_sort(stream.begin(), stream.end(),
                     [](const Offer& a, const Offer& b) { return a.weight < b.weight; });
  }
  if (c.order == Order::kHeaviestFirst) std::reverse(stream.begin(), stream.end());
  return stream;
}

// Expects each bound in the comment at the beginning of space_saving.h.
void ExpectBounds(const SpaceSaving<>& summary, const Truth& truth) {
  std::uint64_t total = 0;
  for (const auto& [key, size] : truth) total += size;
  EXPECT_EQ(summary.total_bytes(), total);
  EXPECT_LE(summary.size(), 2 * summary.capacity());
  const std::uint64_t floor = summary.floor_bytes();
  std::uint64_t above_floor = 0;
  summary.ForEach([&](const WatchedKey& watched, const NoNote&) {
    ASSERT_TRUE(truth.contains(watched.key));
    ASSERT_GE(watched.count_bytes, floor);
    above_floor += watched.count_bytes - floor;
  });
  EXPECT_LE((summary.capacity() + 1) * floor + above_floor, total);
  EXPECT_TRUE(floor == 0 || truth.size() > 2 * summary.capacity());
  for (const auto& [key, size] : truth) {
    const auto watched = summary.Find(key);
    if (!watched) {
      EXPECT_LE(size, floor) << "a heavier key is always watched";
      continue;
    }
    EXPECT_LE(size, watched->count_bytes);
    EXPECT_LE(watched->guaranteed_bytes(), size);
    EXPECT_LE(watched->error_bytes, floor);
  }
}

class SpaceSavingBounds : public testing::TestWithParam<Case> {};

TEST_P(SpaceSavingBounds, HoldForEveryKey) {
  SpaceSaving<> summary = *SpaceSaving<>::Create(GetParam().capacity);
  Truth truth;
  for (const Offer& offer : MakeStream(GetParam())) {
    summary.Offer(offer.key, offer.weight);
    truth[offer.key] += offer.weight;
  }
  ExpectBounds(summary, truth);
}

// A simple version of the same rule is a map that is sorted at each drop.
TEST_P(SpaceSavingBounds, CountsAgreeWithASortedMap) {
  const std::size_t capacity = GetParam().capacity;
  SpaceSaving<> summary = *SpaceSaving<>::Create(capacity);
  std::map<KeyHash, WatchedKey> watched;
  std::uint64_t floor = 0;
  for (const Offer& offer : MakeStream(GetParam())) {
    summary.Offer(offer.key, offer.weight);
    if (!watched.contains(offer.key)) {
      if (watched.size() == 2 * capacity) {
        std::vector<WatchedKey> sorted;
        for (const auto& [key, counter] : watched) sorted.push_back(counter);
        std::sort(sorted.begin(), sorted.end(), HeavierFirst);
        floor = sorted[capacity].count_bytes;
        for (std::size_t i = capacity; i < sorted.size(); ++i) watched.erase(sorted[i].key);
      }
      watched[offer.key] = {offer.key, floor, floor};
    }
    watched[offer.key].count_bytes += offer.weight;
  }
  EXPECT_EQ(summary.floor_bytes(), floor);
  EXPECT_EQ(summary.size(), watched.size());
  for (const auto& [key, counter] : watched) EXPECT_EQ(summary.Find(key), counter);
}

INSTANTIATE_TEST_SUITE_P(Streams, SpaceSavingBounds,
                         testing::Values(Case{"RandomSkewed", Order::kRandom, 1.1, 50, 1},
                                         Case{"RandomFlat", Order::kRandom, 0.3, 50, 2},
                                         Case{"GroupedSkewed", Order::kGrouped, 1.1, 50, 3},
                                         Case{"GroupedFlat", Order::kGrouped, 0.3, 50, 4},
                                         Case{"LightestFirst", Order::kLightestFirst, 0.8, 30, 5},
                                         Case{"HeaviestFirst", Order::kHeaviestFirst, 0.8, 30, 6},
                                         Case{"OneCounter", Order::kRandom, 1.1, 1, 7},
                                         Case{"AlmostEnoughCounters", Order::kRandom, 0.8, 249, 8},
                                         Case{"EnoughCounters", Order::kRandom, 0.8, 250, 9}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace tidemark::streaming::space_saving_property_test
