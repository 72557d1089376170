

#include "streaming/space_saving.h"
#include "tests/test.h"

namespace tidemark::streaming::counter_table_test {
namespace {

struct Nothing {};
using Table = CounterTable<Nothing>;

void Put(KeyHash key, std::uint64_t count, Table& table) {
  if (table.size() == table.reserved()) table.Reserve(2 * table.size());
  const std::uint64_t place = table.PlaceOf(key);
  table.Insert(table.Find(place), {place, count, 0, {}});
}

std::uint64_t CountOf(KeyHash key, const Table& table) {
  const std::size_t slot = table.Find(table.PlaceOf(key));
  return table.Holds(slot, table.PlaceOf(key)) ? table.at(slot).count_bytes : 0;
}

TEST(CounterTable, KeyAtInvertsPlaceOf) {
  const Table table;
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const KeyHash key{random()};
    EXPECT_EQ(table.KeyAt(table.PlaceOf(key)), key);
  }
}

TEST(CounterTable, HoldsTheKeysOfTheFirstAndTheLastPlace) {
  Table table;
  const KeyHash first = table.KeyAt(0);
  const KeyHash last = table.KeyAt(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(CountOf(first, table), 0u);
  EXPECT_EQ(CountOf(last, table), 0u);
  Put(last, 2, table);
  Put(first, 1, table);
  EXPECT_EQ(CountOf(first, table), 1u);
  EXPECT_EQ(CountOf(last, table), 2u);
}

// All keys belong to the last slot of their table.
TEST(CounterTable, FindsKeysThatCollideInTheLastSlot) {
  Table table;
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t i = 0; i < 300; ++i) Put(table.KeyAt(last - 7 * i % 300), 1 + i, table);
  for (std::uint64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(CountOf(table.KeyAt(last - 7 * i % 300), table), 1 + i);
  }
}

TEST(CounterTable, AgreesWithAMapThroughInsertionsAndSweeps) {
  std::mt19937_64 random(2);
  Table table;
  std::map<KeyHash, std::uint64_t> truth;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 200; ++i) {
      const KeyHash key{random() % 2 == 0 ? random() : random() % 5000};
      if (!truth.try_emplace(key, 1 + random() % 100).second) continue;
      Put(key, truth[key], table);
    }
    const std::uint64_t least = random() % 60;
    table.Retain([&](const Table::Counter& counter) { return counter.count_bytes > least; });
    std::erase_if(truth, [&](const auto& entry) { return entry.second <= least; });
    EXPECT_EQ(table.size(), truth.size());
    for (const auto& [key, count] : truth) EXPECT_EQ(CountOf(key, table), count);
  }
}

}  // namespace
}  // namespace tidemark::streaming::counter_table_test
