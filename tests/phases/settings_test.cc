#include "whatif/phases/settings.h"

#include "tests/test.h"

namespace tidemark::phases::settings_test {
namespace {

constexpr ObservedExecutors kSeen = {.count = 4, .cores = 8};

Settings Of(const char* version, const Properties& properties = {},
            ObservedExecutors seen = kSeen) {
  return ParseSettings(version, properties, seen).value();
}

TEST(ParseVersion, ReadsTheFirstTwoNumbers) {
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

TEST(ParseSettings, ReadsSetValues) {
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

// An application that requested six executors and received four ran with four.
TEST(ParseSettings, ObservedExecutorsOverrideRequestedOnes) {
  EXPECT_EQ(Of("3.5.1", {{"spark.executor.instances", "6"}}).executors, 4);
}

TEST(ParseSettings, OffHeapMemoryCountsIfEnabled) {
  EXPECT_EQ(Of("3.5.1", {{"spark.memory.offHeap.size", "1g"}}).off_heap_bytes, 0);
}

TEST(ParseSettings, LegacyModeHasTheOldMemoryUntilItsRemoval) {
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

TEST(ParseSettings, ParsesCodecsByTheirClasses) {
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

TEST_P(WrongSettings, AreNamedWithTheExpectedForm) {
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
        WrongSetting{"Share", {{"spark.memory.fraction", "60"}}, "a number from 0 to 1"},
        WrongSetting{
            "Hash", {{"spark.shuffle.manager", "hash"}}, "removed the hash manager in 2.0"},
        WrongSetting{"Manager", {{"spark.shuffle.manager", "x.Celeborn"}}, "is not modelled"},
        WrongSetting{"Codec", {{"spark.io.compression.codec", "gzip"}}, "\"gzip\" is not lz4"},
        WrongSetting{"Cores", {{"spark.executor.cores", "0"}}, "a whole number from 1 to"},
        WrongSetting{"TaskCores", {{"spark.task.cpus", "9"}}, "no task could run"},
        WrongSetting{"TooSmall", {{"spark.executor.memory", "400m"}}, "needs to start"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ParseSettings, AcceptsZeroIfSparkDoes) {
  EXPECT_EQ(Of("3.5.1", {{"spark.executor.instances", "0"}}).executors, 4);
  EXPECT_EQ(Of("3.5.1", {{"spark.shuffle.sort.bypassMergeThreshold", "0"}}).bypass_threshold, 0);
  EXPECT_EQ(Of("3.5.1", {{"spark.shuffle.sort.bypassMergeThreshold", "-1"}}).bypass_threshold, 0);
}

TEST(ParseRunSettings, ReplacesUnknownValuesByTheDefaultWithARemark) {
  const Properties properties = {{"spark.shuffle.manager", "x.Celeborn"},
                                 {"spark.sql.shuffle.partitions", "auto"},
                                 {"spark.io.compression.codec", "gzip"},
                                 {"spark.task.cpus", "9"},
                                 {"spark.executor.memory", "4g"}};
  const auto run = ParseRunSettings("3.5.1", properties, kSeen).value();
  Settings expected = Of("3.5.1", {{"spark.executor.memory", "4g"}});
  EXPECT_EQ(run.settings, expected);
  EXPECT_EQ(run.modelled, (Properties{{"spark.executor.memory", "4g"}}));
  EXPECT_THAT(run.remarks, UnorderedElementsAre(HasSubstr("spark.shuffle.manager=x.Celeborn"),
                                                HasSubstr("spark.sql.shuffle.partitions=auto"),
                                                HasSubstr("spark.io.compression.codec=gzip"),
                                                HasSubstr("spark.task.cpus=9")));
  EXPECT_FALSE(ParseRunSettings("unknown", {}, kSeen).ok());
  EXPECT_FALSE(ParseRunSettings("3.5.1", {}, {}).ok());
}

TEST(ReasonNotModelled, IsGivenOnlyForValuesThatSparkAllows) {
  EXPECT_NE(ReasonNotModelled("spark.executor.instances", "0"), "");
  EXPECT_NE(ReasonNotModelled("spark.sql.shuffle.partitions", "auto"), "");
  EXPECT_NE(ReasonNotModelled("spark.shuffle.manager", "org.apache.x.RssShuffleManager"), "");
  EXPECT_EQ(ReasonNotModelled("spark.executor.instances", "4"), "");
  EXPECT_EQ(ReasonNotModelled("spark.sql.shuffle.partitions", "many"), "");
  EXPECT_EQ(ReasonNotModelled("spark.shuffle.manager", "sorted"), "");
  EXPECT_EQ(ReasonNotModelled("spark.shuffle.manager",
                              "org.apache.spark.shuffle.sort.SortShuffleManager"),
            "");
}

TEST(ParseSettings, UnknownExecutorsAreAnError) {
  const auto settings = ParseSettings("3.5.1", {{"spark.executor.cores", "2"}}, {});
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(settings.status().message(), HasSubstr("spark.executor.instances"));
}

// Returns settings with (300 MiB + 4096 - 300 MiB) x 0.5 = 2048 bytes of memory for 4 / 2 tasks.
Settings Unified() {
  return {.version = {3, 5},
          .executor_cores = 4,
          .task_cores = 2,
          .executor_memory_bytes = kReservedBytes + 4096,
          .memory_fraction = 0.5};
}

TEST(SpillBufferBytes, IsSharedByTheRunningTasks) {
  EXPECT_DOUBLE_EQ(SpillBufferBytes(Unified()), 1024);
}

TEST(SpillBufferBytes, OffHeapMemoryAddsToIt) {
  Settings settings = Unified();
  settings.off_heap_bytes = 1000;
  EXPECT_DOUBLE_EQ(SpillBufferBytes(settings), 1524);
}

TEST(SpillBufferBytes, CachedDataReduceItUpToTheStorageFraction) {
  EXPECT_DOUBLE_EQ(SpillBufferBytes(Unified(), 500), 774);
  EXPECT_DOUBLE_EQ(SpillBufferBytes(Unified(), 1e9), 512);
}

TEST(SpillBufferBytes, IsNeverNegative) {
  Settings settings = Unified();
  settings.executor_memory_bytes = 1000;
  EXPECT_DOUBLE_EQ(SpillBufferBytes(settings), 0);
}

TEST(ParseBytes, AcceptsTheUnitsOfSpark) {
  EXPECT_EQ(*ParseBytes("48m", 1), 48 * kMib);
  EXPECT_EQ(*ParseBytes(" 4G ", 1), 4096 * kMib);
  EXPECT_EQ(*ParseBytes("64kb", 1), 64 * kKib);
  EXPECT_EQ(*ParseBytes("7b", kMib), 7);
  EXPECT_EQ(*ParseBytes("512", kMib), 512 * kMib);
  EXPECT_EQ(*ParseBytes("0", 1), 0);
}

TEST(ParseBytes, RejectsValuesThatSparkRejects) {
  for (const char* text :
       {"", "m", "0.5g", "-1m", "12q", "12 m b", "nan", "99999999999999999999", "9000000000g"}) {
    EXPECT_EQ(ParseBytes(text, 1).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ParseBytes("0.5g", 1).status().message(),
            "\"0.5g\" is not a size such as 512m or 4g, a whole number");
}

TEST(ParseDuration, AcceptsTheUnitsOfSpark) {
  EXPECT_EQ(*ParseDuration("3s", absl::Milliseconds(1)), absl::Seconds(3));
  EXPECT_EQ(*ParseDuration("500ms", absl::Seconds(1)), absl::Milliseconds(500));
  EXPECT_EQ(*ParseDuration("10", absl::Seconds(1)), absl::Seconds(10));
  EXPECT_EQ(*ParseDuration("2min", absl::Seconds(1)), absl::Minutes(2));
  EXPECT_EQ(*ParseDuration("1d", absl::Seconds(1)), absl::Hours(24));
}

TEST(ParseDuration, RejectsOtherUnits) {
  for (const char* text : {"", "s", "1.5s", "-1s", "1w", "9999999d"}) {
    EXPECT_FALSE(ParseDuration(text, absl::Seconds(1)).ok()) << text;
  }
}

TEST(ParseBool, IsTrueOrFalseInAnyCase) {
  EXPECT_TRUE(*ParseBool("TRUE"));
  EXPECT_FALSE(*ParseBool(" false"));
  EXPECT_FALSE(ParseBool("yes").ok());
  EXPECT_FALSE(ParseBool("").ok());
}

TEST(ParseShare, IsWithinZeroAndOne) {
  EXPECT_DOUBLE_EQ(*ParseShare("0.6"), 0.6);
  for (const char* text : {"1.1", "-0.1", "nan", "inf", "", "60%"}) {
    EXPECT_FALSE(ParseShare(text).ok()) << text;
  }
}

TEST(ParseCount, IsAWholeNumberFromOneOn) {
  EXPECT_EQ(*ParseCount("16", 100), 16);
  for (const char* text : {"0", "-1", "1.5", "101", "", "many"}) {
    EXPECT_FALSE(ParseCount(text, 100).ok()) << text;
  }
}

}  // namespace
}  // namespace tidemark::phases::settings_test
