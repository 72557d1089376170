

#include "tests/test.h"
#include "whatif/advise/advice.h"

namespace tidemark::advise::cache_replay_test {
namespace {

// Returns queries, each with one result of 1 byte that saves 10 s and takes 1 s to write.
std::vector<KeepableResults> Asking(const std::vector<std::uint64_t>& keys) {
  std::vector<KeepableResults> queries;
  for (const std::uint64_t key : keys) {
    queries.push_back({{.key = key, .bytes = 1, .benefit_seconds = 10, .write_seconds = 1}});
  }
  return queries;
}

// The cache stores 1 and 2, and 1 is read. Then 3 evicts 2, and 2 evicts 1, so one of five requests
// is a hit.
TEST(CacheReplay, LruEvictsTheLeastRecentlyUsedResult) {
  const Replayed replayed = Replay(CachePolicy::kLru, Asking({1, 2, 1, 3, 2}), 2);
  EXPECT_EQ(replayed.hits, 1);
  EXPECT_EQ(replayed.writes, 4);
  EXPECT_EQ(replayed.evictions, 2);
  EXPECT_DOUBLE_EQ(replayed.saved_seconds, 10 - 4);
}

// The cache keeps 1, which was used twice. 2 and 3 evict each other, and the last 1 is a hit. LRU
// evicts 1, and 2 and 3 are hits.
TEST(CacheReplay, LfuKeepsFrequentlyUsedResults) {
  const std::vector<std::uint64_t> keys = {1, 1, 2, 3, 2, 3, 1};
  EXPECT_EQ(Replay(CachePolicy::kLfu, Asking(keys), 2).hits, 2);
  EXPECT_EQ(Replay(CachePolicy::kLru, Asking(keys), 2).hits, 3);
}

// Results 1 and 2 are used twice, and then 3, 4 and 5 once each. With ARC, 3, 4 and 5 evict each
// other. With LRU, they evict 1 and 2.
TEST(CacheReplay, ArcKeepsFrequentResultsDuringAScan) {
  const std::vector<std::uint64_t> keys = {1, 2, 1, 2, 3, 4, 5, 1, 2};
  EXPECT_EQ(Replay(CachePolicy::kArc, Asking(keys), 3).hits, 4);
  EXPECT_EQ(Replay(CachePolicy::kLru, Asking(keys), 3).hits, 2);
}

// Result 1 was evicted and is requested again. Therefore results that were used once get more
// space, up to all of it.
TEST(CacheReplay, ArcAdaptsToItsMisses) {
  const Replayed replayed = Replay(CachePolicy::kArc, Asking({1, 1, 2, 3, 2, 4, 3, 4}), 2);
  EXPECT_EQ(replayed.hits + replayed.writes, 8);
  EXPECT_GE(replayed.hits, 2);
}

TEST(CacheReplay, ReadsTheBestResultThatItHas) {
  const KeepableResult small = {.key = 1, .bytes = 1, .benefit_seconds = 5};
  const KeepableResult large = {.key = 2, .bytes = 10, .benefit_seconds = 50};
  // The large result does not fit, so the small result is stored and read.
  const Replayed tight = Replay(CachePolicy::kLru, {{large, small}, {large, small}}, 5);
  EXPECT_EQ(tight.hits, 1);
  EXPECT_DOUBLE_EQ(tight.saved_seconds, 5);
  EXPECT_DOUBLE_EQ(Replay(CachePolicy::kLru, {{large, small}, {large, small}}, 20).saved_seconds,
                   50);
}

TEST(CacheReplay, KeepsNothingWithoutSpaceOrBenefit) {
  for (const CachePolicy policy : {CachePolicy::kLru, CachePolicy::kLfu, CachePolicy::kArc}) {
    EXPECT_EQ(Replay(policy, Asking({1, 1, 1}), 0).hits, 0);
    EXPECT_EQ(Replay(policy, {}, 10).hits, 0);
    EXPECT_EQ(Replay(policy, {{}, {}}, 10).writes, 0);
    const KeepableResult useless = {.key = 1, .bytes = 1, .benefit_seconds = 0};
    EXPECT_EQ(Replay(policy, {{useless}, {useless}}, 10).writes, 0);
  }
}

// Requests are random. No policy may have more hits than an unlimited cache, or count them
// incorrectly.
TEST(CacheReplay, NeverReadsMoreThanWithoutALimit) {
  std::uint64_t random = 42;
  std::vector<KeepableResults> queries;
  for (int i = 0; i < 2000; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t key = (random >> 33) % 37;
    queries.push_back(
        {{.key = key, .bytes = 1.0 + static_cast<double>(key % 5), .benefit_seconds = 1}});
  }
  const auto all = Replay(CachePolicy::kLru, queries, std::numeric_limits<double>::infinity());
  EXPECT_EQ(all.hits, 2000 - 37);
  for (const CachePolicy policy : {CachePolicy::kLru, CachePolicy::kLfu, CachePolicy::kArc}) {
    for (const double space : {1.0, 5.0, 20.0, 60.0, 200.0}) {
      const Replayed replayed = Replay(policy, queries, space);
      EXPECT_LE(replayed.hits, all.hits);
      EXPECT_LE(replayed.hits + replayed.writes, queries.size());
      EXPECT_LE(replayed.evictions, replayed.writes);
    }
  }
}

}  // namespace
}  // namespace tidemark::advise::cache_replay_test
