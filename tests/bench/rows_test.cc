#include "bench/accuracy/rows.h"

#include "tests/test.h"

namespace tidemark::bench::rows_test {
namespace {

class EverySuite : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySuite, HasRowsWithDistinctNames) {
  const auto rows = RowsOf(GetParam());
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::set<std::string> names;
  for (const Row& row : *rows) {
    EXPECT_TRUE(names.insert(row.name()).second) << row.name();
    EXPECT_EQ(row.suite, GetParam());
    EXPECT_GE(row.slots(), 1u);
  }
  EXPECT_GE(names.size(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Rows, EverySuite, ::testing::ValuesIn(SuiteNames()));

TEST(Rows, OnlyRowsOfTheLiveSuiteRunAMaster) {
  for (const std::string& suite : SuiteNames()) {
    const auto rows = RowsOf(suite);
    ASSERT_TRUE(rows.ok());
    EXPECT_TRUE(std::all_of(rows->begin(), rows->end(), [&](const Row& row) {
      return row.is_live == (suite == "live");
    })) << suite;
  }
}

TEST(Rows, NoSourceOfDataIsInBothHalves) {
  std::map<std::string, Split> halves;
  for (const std::string& suite : SuiteNames()) {
    const auto rows = RowsOf(suite);
    ASSERT_TRUE(rows.ok()) << rows.status();
    for (const Row& row : *rows) {
      // The source of generated keys is the power of their costs, and that of map tasks is their
      // job.
      const std::string source = row.job == "synthetic" ? row.data.substr(0, row.data.find('-'))
                                 : row.only_maps        ? row.data
                                                        : row.data_set;
      EXPECT_EQ(halves.try_emplace(source, row.split).first->second, row.split) << row.name();
    }
  }
  EXPECT_GE(halves.size(), 10u);
}

TEST(Rows, AnUnknownSuiteIsRejectedWithTheKnownOnes) {
  const auto rows = RowsOf("none");
  EXPECT_TRUE(absl::IsInvalidArgument(rows.status()));
  EXPECT_NE(rows.status().message().find("paper"), std::string::npos) << rows.status();
}

}  // namespace
}  // namespace tidemark::bench::rows_test
