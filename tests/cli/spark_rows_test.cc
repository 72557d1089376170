#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cli/spark/rows.h"

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::vector<SparkRow> Rows(const WhatIfArguments& arguments) {
  auto rows = RowsOf(arguments);
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() ? *std::move(rows) : std::vector<SparkRow>();
}

std::string Message(const WhatIfArguments& arguments) {
  const auto rows = RowsOf(arguments);
  EXPECT_TRUE(absl::IsInvalidArgument(rows.status())) << rows.status();
  return std::string(rows.status().message());
}

TEST(SparkRows, OfNothingIsOneAsItIs) {
  const std::vector<SparkRow> rows = Rows({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].parts, IsEmpty());
  EXPECT_THAT(rows[0].settings, IsEmpty());
}

TEST(SparkRows, AreOneForEachCombination) {
  const std::vector<SparkRow> rows = Rows({.executors = {1, 4},
                                           .settings = {{"spark.memory.fraction", "0.5"}},
                                           .cores = {1},
                                           .data = {2}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].parts,
              ElementsAre("1 executor", "1 core", "2x data", "spark.memory.fraction=0.5"));
  EXPECT_THAT(rows[1].parts,
              ElementsAre("4 executors", "1 core", "2x data", "spark.memory.fraction=0.5"));
  EXPECT_THAT(rows[1].settings, UnorderedElementsAre(Pair("spark.executor.instances", "4"),
                                                     Pair("spark.executor.cores", "1"),
                                                     Pair("spark.memory.fraction", "0.5")));
  EXPECT_EQ(rows[1].data_factor, 2);
}

TEST(SparkRows, PartitionsAreThoseOfSqlAndOfOtherShuffles) {
  const std::vector<SparkRow> rows = Rows({.partitions = {8}, .compress = {"false"}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].settings, UnorderedElementsAre(Pair("spark.sql.shuffle.partitions", "8"),
                                                     Pair("spark.default.parallelism", "8"),
                                                     Pair("spark.shuffle.compress", "false")));
}

TEST(SparkRows, ASettingIsSaidOnce) {
  EXPECT_EQ(Message({.settings = {{"spark.executor.cores", "4"}}, .cores = {2}}),
            "--cores and --conf spark.executor.cores=4 both say spark.executor.cores; leave one of "
            "them out");
  const std::map<std::string, std::string> conf = {{"spark.executor.instances", "2"},
                                                   {"spark.executor.memory", "1g"},
                                                   {"spark.shuffle.compress", "true"},
                                                   {"spark.default.parallelism", "8"}};
  EXPECT_THAT(Message({.executors = {2}, .settings = conf}),
              HasSubstr("--executors and --conf spark.executor.instances=2"));
  EXPECT_THAT(Message({.settings = conf, .memory = {"2g"}}),
              HasSubstr("--memory and --conf spark.executor.memory=1g"));
  EXPECT_THAT(Message({.settings = conf, .partitions = {32}}),
              HasSubstr("--partitions and --conf spark.default.parallelism=8"));
  EXPECT_THAT(Message({.settings = conf, .compress = {"false"}}),
              HasSubstr("--compress and --conf spark.shuffle.compress=true"));
}

TEST(SparkRows, SlotsAndDataAreSaidOnceToo) {
  EXPECT_THAT(Message({.slots = {8}, .cores = {2}}),
              HasSubstr("--slots and --cores both say how many tasks run at once"));
  EXPECT_THAT(Message({.slots = {8}, .settings = {{"spark.task.cpus", "2"}}}),
              HasSubstr("--slots and --conf spark.task.cpus=2 both say"));
  EXPECT_THAT(Message({.data = {2}, .data_factor = 3}),
              HasSubstr("--data and --data-factor both say how many times the data"));
  EXPECT_EQ(Rows({.slots = {8}, .settings = {{"spark.executor.memory", "2g"}}}).size(), 1u);
}

TEST(SparkRows, AnErrorOfASettingIsOneOfTheOptionThatStandsForIt) {
  const auto message = [](const char* error, const WhatIfArguments& arguments) {
    const absl::Status said = InOptions(absl::InvalidArgumentError(error), arguments);
    EXPECT_TRUE(absl::IsInvalidArgument(said));
    return std::string(said.message());
  };
  constexpr char kError[] = "spark.executor.memory: \"4x\" is not a size";
  EXPECT_EQ(message(kError, {.memory = {"4x"}}), "--memory: \"4x\" is not a size");
  EXPECT_EQ(message(kError, {.settings = {{"spark.executor.memory", "4x"}}}), kError);
  EXPECT_EQ(message("spark.default.parallelism: too many", {.partitions = {8}}),
            "--partitions: too many");
  EXPECT_EQ(message("spark.executor.memoryOverhead: no", {.memory = {"4g"}}),
            "spark.executor.memoryOverhead: no");
}

TEST(SparkRows, AMemoryStandsOnceInWhateverUnit) {
  EXPECT_EQ(Message({.memory = {"1g", "2g", "2048m"}}),
            "--memory: 2g and 2048m are the same size; leave one out");
  EXPECT_EQ(Message({.memory = {"512", "512M"}}),  // of MiB, as Spark takes it
            "--memory: 512 and 512M are the same size; leave one out");
  EXPECT_EQ(Rows({.memory = {"2g", "2047m"}}).size(), 2u);
  EXPECT_EQ(Rows({.memory = {"2g", "4x"}}).size(), 2u) << "no size: refused with its row";
}

// As many as could never be held in memory, too.
TEST(SparkRows, MoreThanATableForPeopleHasAreRefused) {
  EXPECT_EQ(Rows({.partitions = std::vector<std::uint32_t>(1000, 8)}).size(), 1000u);
  EXPECT_EQ(Message({.partitions = std::vector<std::uint32_t>(1001, 8)}),
            "1001 combinations of settings; ask for at most 1000");
  const std::vector<std::uint32_t> many(10'000, 8);
  EXPECT_THAT(Message({.executors = many,
                       .cores = many,
                       .memory = std::vector<std::string>(10'000, "1g"),
                       .partitions = many}),
              HasSubstr("ask for at most 1000"));
}

}  // namespace
}  // namespace tidemark::cli
