#include "whatif/phases/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/phases/quantity.h"

namespace tidemark::phases {
namespace {

using testing::HasSubstr;

constexpr SeenExecutors kSeen = {.count = 4, .cores = 8};

Settings Of(const char* version, const Properties& properties = {}, SeenExecutors seen = kSeen) {
  const auto settings = ParseSettings(version, properties, seen);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.value_or(Settings{});
}

TEST(ParseVersion, TakesTheFirstTwoNumbers) {
  EXPECT_EQ(*ParseVersion("3.5.1"), (Version{3, 5}));
  EXPECT_EQ(*ParseVersion("4.0.0-preview2"), (Version{4, 0}));
  EXPECT_EQ(*ParseVersion("2.4"), (Version{2, 4}));
  for (const char* text : {"", "3", "v3.5", "3.x", "99999.1"})
    EXPECT_FALSE(ParseVersion(text).ok());
}

TEST(ParseSettings, HasTheDefaultsOfTheVersion) {
  const Settings now = Of("3.5.1");
  EXPECT_EQ(now.memory_model, MemoryModel::kUnified);
  EXPECT_EQ(now.executor_memory_bytes, 1024.0 * kMib);
  EXPECT_DOUBLE_EQ(now.memory_fraction, 0.6);
  EXPECT_EQ(now.codec, Codec::kLz4);
  EXPECT_EQ(now.executors, 4);
  EXPECT_EQ(now.executor_cores, 8);
  EXPECT_DOUBLE_EQ(Of("1.6.3").memory_fraction, 0.75);
  const Settings old = Of("1.4.0");
  EXPECT_EQ(old.memory_model, MemoryModel::kFractions);
  EXPECT_EQ(old.executor_memory_bytes, 512.0 * kMib);
  EXPECT_EQ(old.codec, Codec::kSnappy);
}

TEST(ParseSettings, TakesWhatIsSet) {
  const Settings settings = Of("3.5.1",
                               {{"spark.executor.instances", "16"},
                                {"spark.executor.cores", "4"},
                                {"spark.task.cpus", "2"},
                                {"spark.executor.memory", "4g"},
                                {"spark.memory.offHeap.enabled", "true"},
                                {"spark.memory.offHeap.size", "1g"},
                                {"spark.shuffle.compress", "false"},
                                {"spark.io.compression.codec", "zstd"},
                                {"spark.serializer", "org.apache.spark.serializer.KryoSerializer"}},
                               {});
  EXPECT_EQ(settings.executors, 16);
  EXPECT_DOUBLE_EQ(settings.tasks_at_once(), 2);
  EXPECT_EQ(settings.executor_memory_bytes, 4096.0 * kMib);
  EXPECT_EQ(settings.off_heap_bytes, 1024.0 * kMib);
  EXPECT_FALSE(settings.compresses_shuffle);
  EXPECT_EQ(settings.codec, Codec::kZstd);
  EXPECT_EQ(settings.serializer, Serializer::kKryo);
}

// An application that asked for six executors and got four had four.
TEST(ParseSettings, WhatWasSeenCountsMoreThanWhatWasAskedFor) {
  EXPECT_EQ(Of("3.5.1", {{"spark.executor.instances", "6"}}).executors, 4);
}

TEST(ParseSettings, OffHeapMemoryCountsWhereItIsEnabled) {
  EXPECT_EQ(Of("3.5.1", {{"spark.memory.offHeap.size", "1g"}}).off_heap_bytes, 0);
}

TEST(ParseSettings, LegacyModeHasTheOldMemoryUntilItIsGone) {
  const Properties legacy = {{"spark.memory.useLegacyMode", "true"},
                             {"spark.shuffle.memoryFraction", "0.4"}};
  EXPECT_EQ(Of("2.4.0", legacy).memory_model, MemoryModel::kFractions);
  EXPECT_DOUBLE_EQ(Of("2.4.0", legacy).shuffle_fraction, 0.4);
  EXPECT_EQ(Of("3.0.0", legacy).memory_model, MemoryModel::kUnified);
}

TEST(ParseSettings, SpillingCannotBeTurnedOffSinceOneSix) {
  EXPECT_FALSE(Of("1.5.0", {{"spark.shuffle.spill", "false"}}).spills);
  EXPECT_TRUE(Of("1.6.0", {{"spark.shuffle.spill", "false"}}).spills);
}

TEST(ParseSettings, KnowsCodecsByTheirClasses) {
  EXPECT_EQ(
      Of("3.5.1", {{"spark.io.compression.codec", "org.apache.spark.io.SnappyCompressionCodec"}})
          .codec,
      Codec::kSnappy);
  EXPECT_EQ(Of("3.5.1", {{"spark.io.compression.codec", "com.example.Codec"}}).codec,
            Codec::kOther);
}

struct WrongSetting {
  const char* name;
  Properties properties;
  const char* says;
};
class WrongSettings : public testing::TestWithParam<WrongSetting> {};

TEST_P(WrongSettings, AreNamedWithWhatIsWanted) {
  const auto settings = ParseSettings("3.5.1", GetParam().properties, kSeen);
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(settings.status().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, WrongSettings,
    testing::Values(
        WrongSetting{
            "Size", {{"spark.executor.memory", "4x"}}, "spark.executor.memory: \"4x\" is not"},
        WrongSetting{"Bool", {{"spark.shuffle.compress", "on"}}, "spark.shuffle.compress: \"on\""},
        WrongSetting{"Share", {{"spark.memory.fraction", "60"}}, "a number of 0 to 1"},
        WrongSetting{"Hash", {{"spark.shuffle.manager", "hash"}}, "gone since Spark 2.0"},
        WrongSetting{"Manager", {{"spark.shuffle.manager", "x.Celeborn"}}, "is not known"},
        WrongSetting{"Codec", {{"spark.io.compression.codec", "gzip"}}, "\"gzip\" is not lz4"},
        WrongSetting{"Cores", {{"spark.executor.cores", "0"}}, "a whole number of 1 to"},
        WrongSetting{"TaskCores", {{"spark.task.cpus", "9"}}, "no task could run"},
        WrongSetting{"TooSmall", {{"spark.executor.memory", "400m"}}, "needs to start"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ParseSettings, TakesZeroWhereSparkAllowsIt) {
  EXPECT_EQ(Of("3.5.1", {{"spark.executor.instances", "0"}}).executors, 4);
  EXPECT_EQ(Of("3.5.1", {{"spark.shuffle.sort.bypassMergeThreshold", "0"}}).bypass_threshold, 0);
  EXPECT_EQ(Of("3.5.1", {{"spark.shuffle.sort.bypassMergeThreshold", "-1"}}).bypass_threshold, 0);
}

TEST(ParseRunSettings, RepliesToWhatItDoesNotKnowWithARemarkAndTheDefault) {
  const Properties properties = {{"spark.shuffle.manager", "x.Celeborn"},
                                 {"spark.sql.shuffle.partitions", "auto"},
                                 {"spark.io.compression.codec", "gzip"},
                                 {"spark.task.cpus", "9"},
                                 {"spark.executor.memory", "4g"}};
  const auto run = ParseRunSettings("3.5.1", properties, kSeen);
  ASSERT_TRUE(run.ok()) << run.status();
  Settings expected = Of("3.5.1", {{"spark.executor.memory", "4g"}});
  EXPECT_EQ(run->settings, expected);
  EXPECT_EQ(run->modelled, (Properties{{"spark.executor.memory", "4g"}}));
  EXPECT_THAT(run->remarks,
              testing::UnorderedElementsAre(HasSubstr("spark.shuffle.manager=x.Celeborn"),
                                            HasSubstr("spark.sql.shuffle.partitions=auto"),
                                            HasSubstr("spark.io.compression.codec=gzip"),
                                            HasSubstr("spark.task.cpus=9")));
  EXPECT_FALSE(ParseRunSettings("unknown", {}, kSeen).ok());
  EXPECT_FALSE(ParseRunSettings("3.5.1", {}, {}).ok());
}

TEST(WhyNotModelled, IsSaidOfValuesThatSparkAllowsAlone) {
  EXPECT_NE(WhyNotModelled("spark.executor.instances", "0"), "");
  EXPECT_NE(WhyNotModelled("spark.sql.shuffle.partitions", "auto"), "");
  EXPECT_NE(WhyNotModelled("spark.shuffle.manager", "org.apache.x.RssShuffleManager"), "");
  EXPECT_EQ(WhyNotModelled("spark.executor.instances", "4"), "");
  EXPECT_EQ(WhyNotModelled("spark.sql.shuffle.partitions", "many"), "");
  EXPECT_EQ(WhyNotModelled("spark.shuffle.manager", "sorted"), "");
  EXPECT_EQ(
      WhyNotModelled("spark.shuffle.manager", "org.apache.spark.shuffle.sort.SortShuffleManager"),
      "");
}

TEST(ParseSettings, ExecutorsThatNobodySaidOrSawAreAskedFor) {
  const auto settings = ParseSettings("3.5.1", {{"spark.executor.cores", "2"}}, {});
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(settings.status().message(), HasSubstr("spark.executor.instances"));
}

}  // namespace
}  // namespace tidemark::phases
