#include "text/counted.h"

#include "tests/test.h"

namespace tidemark::text::counted_test {
namespace {

TEST(Counted, UsesThePluralExceptForOne) {
  EXPECT_EQ(Counted(1, "slot"), "1 slot");
  EXPECT_EQ(Counted(0, "slot"), "0 slots");
  EXPECT_EQ(Counted(4, "executor"), "4 executors");
}

TEST(AnyOf, ListsAllNames) {
  EXPECT_EQ(AnyOf({}), "");
  EXPECT_EQ(AnyOf({"table"}), "table");
  EXPECT_EQ(AnyOf({"true", "false"}), "true or false");
  EXPECT_EQ(AnyOf({"json", "jsonl", "table"}), "json, jsonl or table");
}

}  // namespace
}  // namespace tidemark::text::counted_test
